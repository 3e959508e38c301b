/** Bindings as the gateway makes them: Maps for objects, bigint for integers. */

import type { JsonValue } from '../../src/base/json.ts'
import type { Policy } from '../../src/core/policy.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import type { PolicyBindings } from '../../src/policy/evaluate.ts'

/** A literal as strict JSON parsing would give it. */
export function json(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(json)
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (typeof value === 'object' && value !== null)
    return new Map(Object.entries(value).map(([key, element]) => [key, json(element)]))
  return value as JsonValue
}

/** Whose commits are judged. */
export const tenant = newTenantId()
export const dayMs = 24 * 60 * 60 * 1000
export const receivedAt = 1_750_000_000_000

export const sampleTable = {
  uuid: '9c12d441-03fe-4693-9a96-a0705ddf69c1',
  schema: {
    fields: [
      { id: 1, name: 'id', type: 'long' },
      { id: 2, name: 'email', type: 'string' },
    ],
  },
  format_version: 2,
  location: 's3://lake/orders',
  partition_spec: { fields: [{ name: 'event_day', transform: 'day' }] },
  properties: { owner: 'orders', comment: null, constructor: 'x' },
  current_snapshot: { snapshot_id: 3, timestamp_ms: receivedAt - dayMs },
  snapshots: [
    { snapshot_id: 1, timestamp_ms: receivedAt - 30 * dayMs },
    { snapshot_id: 3, timestamp_ms: receivedAt - dayMs },
  ],
}

export interface Sample {
  readonly table?: unknown
  readonly updates?: unknown
  readonly result?: unknown
  readonly roles?: readonly string[]
}

export function sampleBindings({
  table = sampleTable,
  updates = [],
  result = table,
  roles = [],
}: Sample = {}): PolicyBindings {
  return {
    table: json(table),
    commit: json({
      ...{ requirements: [], updates, result, received_at: receivedAt },
      ...{ session: { id: '', name: '' }, client: { agent: '', application_id: '' }, branch: '' },
    }),
    principal: json({ sub: 'spark@example.com', roles }),
  }
}

/** A table with `count` snapshots. */
export function wideTable(count: number): unknown {
  const snapshots = Array.from({ length: count }, (_, index) => ({ snapshot_id: index, note: null }))
  return { ...sampleTable, snapshots }
}

/** Spends about 200,000 ticks on `wideTable(400)`: far more than any inline budget. */
export const slowPolicyText = 'table.snapshots.all(a, table.snapshots.all(b, a.snapshot_id >= 0))'

let policyCount = 0

export function policy(definitionCel: string, fields: Partial<Policy> = {}): Policy {
  const id = `policy-${String(++policyCount).padStart(6, '0')}`
  return { id, kind: 'schema', mode: 'enforce', name: id, message: '', definitionCel, ...fields }
}

export interface PageExample {
  readonly name: string
  readonly kind: string
  readonly text: string
}

/** The examples of the authors' page: the page is where they are shipped. */
export async function pageExamples(): Promise<readonly PageExample[]> {
  const page = await Bun.file(new URL('../../docs/policies.md', import.meta.url)).text()
  return [...page.matchAll(/^### (\S+) \((\w+)\)\n\n```cel\n(.*?)\n```/gms)].map(([, name, kind, text]) => ({
    name: name ?? '',
    kind: kind ?? '',
    text: text ?? '',
  }))
}
