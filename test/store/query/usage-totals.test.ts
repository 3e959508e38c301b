/** Totals of usage: the same whether records are added up already or not, for every filter, and read from few rows. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import type { UsageRecord } from '../../../src/core/usage.ts'
import {
  recordUsage,
  rollUsage,
  totalUsage,
  type UsageFilter,
  type UsageGroup,
  usageGroups,
} from '../../../src/store/query/usage.ts'
import { eventually } from '../../support/eventually.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(120_000)

let store: TestStore
beforeAll(async () => {
  store = await openTestStore()
})
afterAll(() => store[Symbol.asyncDispose]())

const hourMs = 3_600_000
const start = Date.UTC(2026, 0, 30, 22)
const tables = ['orders', 'people', 'events']

/** Records over four hours and past the end of a day and of a month, on the hour and between. */
function someRecords(count: number): UsageRecord[] {
  return Array.from({ length: count }, (_, i) =>
    usageRecord({
      startedAtMs: start + (i % 5) * hourMs + (i % 3 === 0 ? 0 : i * 60_000),
      principal: `p${i % 3}`,
      rowsOut: i,
      bytesOut: i * 2,
      bytesScanned: i % 4 === 0 ? undefined : i * 3,
      runMs: i / 4,
      ...(i % 6 === 0 && { outcome: 'failed' as const, sqlState: '22012' }),
      reads: tables.slice(0, i % 4).map((name) => ({ namespace: ['s', 'eu'], name, columns: [] })),
      contracts: i % 2 === 0 ? [] : [{ id: 'orders', version: i % 4 }],
    }),
  )
}

/** The totals worked out here, from the records. */
function expected(records: readonly UsageRecord[], filter: UsageFilter, by: UsageGroup) {
  const totals = new Map<string, number[]>()
  const keysOf: Record<UsageGroup, (record: UsageRecord) => readonly string[]> = {
    principal: ({ principal }) => [principal],
    outcome: ({ outcome }) => [outcome],
    day: ({ startedAtMs }) => [new Date(startedAtMs).toISOString().slice(0, 10)],
    table: ({ reads }) => reads.map(({ namespace, name }) => [...namespace, name].join('.')),
    contract: ({ contracts }) => contracts.map(({ id, version }) => `${id} ${version}`),
  }
  for (const record of records) {
    const { principal, outcome, startedAtMs, rowsOut, bytesOut, bytesScanned = 0, runMs } = record
    if ((filter.principal ?? principal) !== principal || (filter.outcome ?? outcome) !== outcome) continue
    if (filter.from && startedAtMs < filter.from.getTime()) continue
    if (filter.to && startedAtMs >= filter.to.getTime()) continue
    for (const key of new Set(keysOf[by](record))) {
      const sums = totals.get(key) ?? [0, 0, 0, 0, 0]
      totals.set(
        key,
        [1, rowsOut, bytesOut, bytesScanned, runMs].map((value, i) => value + (sums[i] ?? 0)),
      )
    }
  }
  return [...totals]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, [queries = 0, rowsOut = 0, bytesOut = 0, bytesScanned = 0, runMs = 0]]) => ({
      key,
      queries,
      rowsOut,
      bytesOut,
      bytesScanned,
      runMs,
    }))
}

const at = (hours: number) => new Date(start + hours * hourMs)
const filters: readonly UsageFilter[] = [
  {},
  { principal: 'p1' },
  { outcome: 'failed' },
  { principal: 'p2', outcome: 'completed' },
  { from: at(2) },
  { to: at(2) },
  { from: at(0.5), to: at(3.75) },
  { from: at(1.1), to: at(1.4) },
  { from: at(1.5), to: at(2) },
  { from: at(-30), to: at(60), principal: 'p0' },
  { from: at(3), to: at(1) },
]

async function agree(
  tenant: TenantId,
  records: readonly UsageRecord[],
  on: readonly UsageFilter[] = filters,
): Promise<void> {
  for (const filter of on)
    for (const by of usageGroups) {
      const { items } = await totalUsage(store, tenant, filter, by, { limit: 100 })
      expect({ filter, by, items }).toEqual({ filter, by, items: expected(records, filter, by) })
    }
}

/** What is new when a run begins is added up by a later one, when no transaction can hide a lower number. */
async function roll(tenant: TenantId): Promise<void> {
  await eventually(async () => {
    await rollUsage(store, tenant)
    const [row] = await store.tenantQuery<{ done: boolean }>(
      tenant,
      'select rolled >= (select max(usage_seq) from svc.query_usage) as done from svc.usage_rolled',
    )
    return row?.done ?? false
  })
}

async function newTenant(records: readonly UsageRecord[]): Promise<TenantId> {
  const tenant = (await makeTenant(store, { name: 'used' })).id
  for (const record of records) await recordUsage(store, tenant, record)
  return tenant
}

describe('totals', () => {
  test('are the same before, while and after records are added up, and with records that come late', async () => {
    const records = someRecords(60)
    const late = someRecords(70).slice(60)
    const tenant = await newTenant(records)
    const foreign = await newTenant(someRecords(5))
    await agree(tenant, records)
    await roll(tenant)
    await agree(tenant, records)
    for (const record of late) await recordUsage(store, tenant, record)
    await agree(tenant, [...records, ...late])
    await rollUsage(store, tenant)
    await agree(tenant, [...records, ...late])
    await roll(tenant)
    await agree(tenant, [...records, ...late])
    await agree(foreign, someRecords(5))
  })

  test('come in pages, in the order of their keys', async () => {
    const tenant = await newTenant(someRecords(12))
    await roll(tenant)
    const first = await totalUsage(store, tenant, {}, 'table', { limit: 2 })
    const rest = await totalUsage(store, tenant, {}, 'table', { limit: 2, after: first.next ?? '' })
    expect([...first.items, ...rest.items].map(({ key }) => key)).toEqual([
      's.eu.events',
      's.eu.orders',
      's.eu.people',
    ])
  })

  test('hold each record once, however often it is tried to add it up', async () => {
    const tenant = await newTenant(someRecords(8))
    await Promise.all([rollUsage(store, tenant), rollUsage(store, tenant)])
    for (let run = 0; run < 3; run++) await Promise.all([rollUsage(store, tenant), rollUsage(store, tenant)])
    await roll(tenant)
    await agree(tenant, someRecords(8))
    const [row] = await store.tenantQuery<{ n: string }>(
      tenant,
      `select sum(queries) as n from svc.usage_total where grain = 'day' and facet = 'query'
         and scope = svc.usage_digest('')`,
    )
    expect(row?.n).toBe('8')
  })

  test('of whole days are read from no record that is added up', async () => {
    const tenant = await newTenant(someRecords(40))
    await roll(tenant)
    await store.ownerTransaction(tenant, async (tx) => {
      await tx.query('alter table svc.query_usage disable trigger append_only')
      await tx.query('delete from svc.query_usage where tenant_id = $1', [tenant])
      await tx.query('alter table svc.query_usage enable trigger append_only')
    })
    await agree(tenant, someRecords(40), [
      {},
      { principal: 'p1' },
      { from: at(2) },
      { from: at(-30), to: at(60) },
    ])
  })
})
