/** Queries that are recorded before they end leave one usage record each, however their process ends. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { closeDeadQueries, openUsage } from '../../../src/store/query/queries-under-way.ts'
import { listUsage, recordUsage } from '../../../src/store/query/usage.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(300_000)

let store: TestStore
let home: TenantId
let foreign: TenantId
beforeAll(async () => {
  store = await openTestStore()
  home = (await createTenant(store, { name: 'home' })).id
  foreign = (await createTenant(store, { name: 'foreign' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

const over = -1
const died = () => usageRecord({ outcome: 'failed', sqlState: '57P01', rowsOut: 0, bytesScanned: undefined })
const recorded = async (queryId: string, tenant = home) =>
  (await listUsage(store, tenant, {}, {})).items.filter((item) => item.queryId === queryId)

test('a query whose process is gone has its record from the sweep on, in its tenant, once', async () => {
  const usage = died()
  await openUsage(store, home, usage, over)
  expect(await recorded(usage.queryId)).toEqual([])
  const both = await Promise.all([closeDeadQueries(store), closeDeadQueries(store)])
  expect(both.toSorted()).toEqual([0, 1])
  expect(await closeDeadQueries(store)).toBe(0)
  const { startedAtMs, ...rest } = usage
  expect(await recorded(usage.queryId)).toEqual([{ ...rest, startedAt: new Date(startedAtMs) }])
  expect(await recorded(usage.queryId, foreign)).toEqual([])
})

test('one that goes on is left alone, and its own record ends it', async () => {
  const usage = died()
  await openUsage(store, home, usage)
  expect(await closeDeadQueries(store)).toBe(0)
  await recordUsage(store, home, { ...usage, outcome: 'completed', sqlState: undefined, rowsOut: 7 }, true)
  await store.ownerTransaction(home, (tx) =>
    tx.query("update svc.query_under_way set lease_until = now() - interval '1 s'"),
  )
  expect(await closeDeadQueries(store)).toBe(0)
  expect(await recorded(usage.queryId)).toMatchObject([{ outcome: 'completed', rowsOut: 7 }])
})

test('one that was taken for dead is not recorded twice', async () => {
  const usage = died()
  await openUsage(store, home, usage, over)
  expect(await closeDeadQueries(store)).toBe(1)
  const late = await recordUsage(
    store,
    home,
    { ...usage, outcome: 'completed', sqlState: undefined },
    true,
  ).catch((fault) => fault)
  expect(late).toBeInstanceOf(Error)
  expect(await recorded(usage.queryId)).toMatchObject([{ outcome: 'failed', sqlState: '57P01' }])
})

test('a tenant neither sees nor ends the queries of another', async () => {
  const usage = died()
  await openUsage(store, home, usage)
  const seen = (tenant: TenantId) =>
    store.tenantQuery(tenant, 'select query_id from svc.query_under_way where query_id = $1', [usage.queryId])
  expect([await seen(foreign), await seen(home)]).toEqual([[], [{ query_id: usage.queryId }]])
  await recordUsage(store, foreign, usage, true)
  expect(await seen(home)).toEqual([{ query_id: usage.queryId }])
})
