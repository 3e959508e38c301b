/** Check runs of several tenants: the backlog of one holds up no other. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { claimCheckRun } from '../../src/store/check/check-runs.ts'
import { requestRun } from '../support/check-rows.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(120_000)

let store: TestStore
let busy: TenantId
let quiet: TenantId
beforeAll(async () => {
  store = await openTestStore()
  busy = (await makeTenant(store, { name: 'busy' })).id
  quiet = (await makeTenant(store, { name: 'quiet' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

const request = async (tenant: TenantId, count: number) => {
  for (let index = 0; index < count; index++)
    await requestRun(store, tenant, { table: { namespace: ['sales'], name: `t${index}` } })
}

test('a tenant that comes after the backlog of another has the next turn but one', async () => {
  await request(busy, 20)
  await request(quiet, 2)
  const claimed: (TenantId | undefined)[] = []
  for (let turn = 0; turn < 6; turn++) {
    const run = await claimCheckRun(store, 60_000)
    claimed.push(run?.tenant)
    // Ends, so that none is under way at the next claim.
    await store.tenantQuery(
      run?.tenant ?? busy,
      `update svc.check_run set state = 'passed', lease_id = null, lease_until = null, finished_at = clock_timestamp()
       where tenant_id = $1 and run_id = $2`,
      [run?.tenant ?? '', run?.runId ?? ''],
    )
  }
  expect(claimed).toEqual([busy, quiet, busy, quiet, busy, busy])
})

test('a tenant with runs under way comes after one that has none', async () => {
  const first = await claimCheckRun(store, 60_000)
  await request(quiet, 4)
  const second = await claimCheckRun(store, 60_000)
  expect([first?.tenant, second?.tenant]).toEqual([busy, quiet])
})
