/** The partitions of the months to come: made once, and not where a clock that is ahead has put rows already. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { keepMonths } from '../../../src/store/history/months.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
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

/** Takes the newest month away, as if it was not made yet. @returns its start */
async function removeNewest(): Promise<number> {
  return store.ownerTransaction(tenant, async (tx) => {
    const [newest] = await tx.query<{ name: string; starts: Date }>(
      'delete from svc.month_partition where starts = (select max(starts) from svc.month_partition) returning name, starts',
    )
    await tx.query(`drop table svc."${newest?.name}"`)
    return newest?.starts.getTime() ?? 0
  })
}

test('a month that is missing is made, and those that are there are left', async () => {
  expect(await keepMonths(store)).toBe(0)
  const startedAtMs = await removeNewest()
  expect(await keepMonths(store)).toBe(1)
  expect(await keepMonths(store)).toBe(0)
  await recordUsage(store, tenant, usageRecord({ startedAtMs: startedAtMs + 1 }))
  const [row] = await store.tenantQuery<{ place: string }>(
    tenant,
    `select tableoid::regclass::text as place from svc.query_usage where started_at > $1::timestamptz`,
    [new Date(startedAtMs)],
  )
  expect(row?.place).toMatch(/^query_usage_\d{4}_\d{2}$/)
})

test('a month of which rows came before its partition is left to the default one', async () => {
  const startedAtMs = await removeNewest()
  await recordUsage(store, tenant, usageRecord({ startedAtMs }))
  expect(await keepMonths(store)).toBe(0)
  await recordUsage(store, tenant, usageRecord({ startedAtMs }))
})
