/** The partitions of the months to come: made once, and not where a clock that is ahead has put rows already. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { keepMonths } from '../../../src/store/history/months.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { approvedOf, committedOf, intentOf } from '../../support/commits.ts'
import { openTenantStore, type TestStore } from '../../support/store.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(120_000)

let store: TestStore
let tenant: TenantId
beforeAll(async () => {
  ;({ store, tenant } = await openTenantStore())
  await keepMonths(store)
})
afterAll(() => store[Symbol.asyncDispose]())

/** Takes the newest month of each kind away, as if it was not made yet. @returns its start */
async function removeNewest(): Promise<number> {
  return store.ownerTransaction(tenant, async (tx) => {
    const newest = await tx.query<{ name: string; starts: Date }>(
      'delete from svc.month_partition where starts = (select max(starts) from svc.month_partition) returning name, starts',
    )
    for (const { name } of newest) await tx.query(`drop table svc."${name}"`)
    return newest[0]?.starts.getTime() ?? 0
  })
}

/** In which tables the rows since a time are. */
async function placesSince(startedAtMs: number): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ place: string }>(
    tenant,
    `select tableoid::regclass::text as place from svc.query_usage where started_at >= $1::timestamptz
     union all select tableoid::regclass::text from svc.audit_log where received_at >= $1::timestamptz`,
    [new Date(startedAtMs)],
  )
  return rows.map(({ place }) => place)
}

const commitAt = (receivedAtMs: number) =>
  recordVerdict(store, tenant, approvedOf(intentOf({ receivedAtMs }), committedOf()))

test('a month that is missing is made, and those that are there are left', async () => {
  expect(await keepMonths(store)).toBe(0)
  const startedAtMs = await removeNewest()
  expect(await keepMonths(store)).toBe(2)
  expect(await keepMonths(store)).toBe(0)
  await recordUsage(store, tenant, usageRecord({ startedAtMs }))
  await commitAt(startedAtMs)
  expect((await placesSince(startedAtMs)).map((place) => place.replace(/\d{4}_\d{2}$/, 'MONTH'))).toEqual([
    'query_usage_MONTH',
    'audit_log_MONTH',
  ])
})

test('a month of which rows came before its partition is left to the default one, and loses none', async () => {
  const startedAtMs = await removeNewest()
  await recordUsage(store, tenant, usageRecord({ startedAtMs }))
  await commitAt(startedAtMs)
  expect(await keepMonths(store)).toBe(0)
  await recordUsage(store, tenant, usageRecord({ startedAtMs }))
  await commitAt(startedAtMs)
  expect(await placesSince(startedAtMs)).toEqual([
    ...['query_usage_other', 'query_usage_other'],
    ...['audit_log_other', 'audit_log_other'],
  ])
})

test('the last moment of a month and the first of the next are in partitions of their own', async () => {
  const turn = Date.UTC(2031, 0, 1)
  expect(await keepMonths(store, new Date(turn - 1))).toBe(8)
  for (const receivedAtMs of [turn - 1, turn]) await commitAt(receivedAtMs)
  expect(await placesSince(turn - 1)).toEqual(['audit_log_2030_12', 'audit_log_2031_01'])
  // The clock goes on: nothing that is there is made again.
  expect(await keepMonths(store, new Date(turn))).toBe(2)
})
