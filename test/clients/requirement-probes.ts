/** Commits of which exactly one requirement does not hold, to see whether a catalog checks it. */

import type { TableRef } from '../../src/core/table-ref.ts'
import { send, type Target, tablePath } from './iceberg-api.ts'

/** By type, a requirement that holds on no new table. */
const violated = {
  'assert-table-uuid': { uuid: '00000000-0000-4000-8000-000000000000' },
  'assert-ref-snapshot-id': { ref: 'main', 'snapshot-id': 7 },
  'assert-ref-snapshot-id of an absent ref': { ref: 'absent', 'snapshot-id': 7 },
  'assert-last-assigned-field-id': { 'last-assigned-field-id': 77 },
  'assert-current-schema-id': { 'current-schema-id': 7 },
  'assert-last-assigned-partition-id': { 'last-assigned-partition-id': 7 },
  'assert-default-spec-id': { 'default-spec-id': 7 },
  'assert-default-sort-order-id': { 'default-sort-order-id': 7 },
} as const

/** Statuses by requirement: 409 where the catalog checks it. */
export async function probeRequirements(
  target: Target,
  newTable: () => Promise<TableRef>,
): Promise<Readonly<Record<string, number>>> {
  const table = await newTable()
  const updates = [{ action: 'set-properties', updates: { probe: '1' } }]
  const statuses: Record<string, number> = {}
  for (const [name, members] of Object.entries(violated)) {
    const type = name.split(' ')[0]
    const body = JSON.stringify({ requirements: [{ type, ...members }], updates })
    statuses[name] = (await send(target, 'POST', tablePath(table), body)).status
  }
  return statuses
}

/** Every requirement is checked. */
export const allChecked: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(violated).map((name) => [name, 409]),
)
