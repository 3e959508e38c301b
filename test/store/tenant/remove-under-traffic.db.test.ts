/** The removal of a tenant while two replicas work for it and for another: nobody else loses anything. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../../src/base/fault.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { createServiceSession, findServiceSession } from '../../../src/store/session/sessions.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import {
  askTenantRemoval,
  confirmTenantRemoval,
  dueTenantRemovals,
  type TenantRemoval,
} from '../../../src/store/tenant/removals.ts'
import { removeTenant } from '../../../src/store/tenant/remove-tenant.ts'
import { actorOf } from '../../support/actor.ts'
import { intentOf, rejectedOf } from '../../support/commits.ts'
import { dumpOf, foundIn } from '../../support/dump.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore, testStoreOptions } from '../../support/store.ts'

setDefaultTimeout(300_000)

// Skipped where no server is named: the embedded store has one process.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('two replicas on a server', () => {
  let one: TestStore
  let two: Store
  let home: TenantId
  let foreign: TenantId

  beforeAll(async () => {
    one = await openTestStore()
    two = await openStore({ ...testStoreOptions, databaseUrl: one.databaseUrl })
    home = (await makeTenant(one, { name: 'home' })).id
    foreign = (await makeTenant(one, { name: 'foreign' })).id
  })
  afterAll(async () => {
    await two?.close()
    await one?.[Symbol.asyncDispose]()
  })

  test('the removed tenant is refused, the other keeps every commit, and nothing of the first is left', async () => {
    const principal = { sub: 'etl', roles: [] }
    const secretOf = async (tenant: TenantId) =>
      (await createServiceSession(one, tenant, { name: 'etl', principal, scopes: ['commit'] })).secret
    const [gone, stays] = [await secretOf(home), await secretOf(foreign)]
    const recorded: string[] = []
    const failures: unknown[] = []
    let isOver = false
    const work = async (store: Store) => {
      while (!isOver) {
        const intent = intentOf()
        try {
          await recordVerdict(store, foreign, rejectedOf(intent))
          recorded.push(intent.commitId)
          expect((await findServiceSession(store, stays))?.tenant).toBe(foreign)
        } catch (error) {
          failures.push(error)
        }
        // What is under way of the tenant that goes may fail, and leaves nothing.
        await recordVerdict(store, home, rejectedOf(intentOf())).catch(() => {})
      }
    }
    await askTenantRemoval(one, home, { waitDays: 7, exportSha256: undefined }, actorOf('ann'))
    const working = [work(one), work(two), work(two)]
    await confirmTenantRemoval(two, home, actorOf('bob'))
    for (const store of [one, two]) expect(await findServiceSession(store, gone)).toBeUndefined()
    await one.adminQuery(
      `update svc.tenant_removal set due_at = due_at - interval '400 days' where tenant_id = $1`,
      [home],
    )
    const [removal] = await dueTenantRemovals(two)
    await removeTenant(two, removal as TenantRemoval, new AbortController().signal)
    for (const store of [one, two]) {
      expect(await findServiceSession(store, gone)).toBeUndefined()
      const late = recordVerdict(store, home, rejectedOf(intentOf()))
      expect(await late.then(() => 'recorded').catch(({ kind }: Fault) => kind)).not.toBe('recorded')
    }
    isOver = true
    await Promise.all(working)
    // Rows that came late are of the next run.
    for (const again of await dueTenantRemovals(one))
      await removeTenant(one, again, new AbortController().signal)
    expect(failures).toEqual([])
    const rows = await one.tenantQuery<{ readonly commit_id: string }>(
      foreign,
      'select commit_id from svc.audit_log where tenant_id = $1',
      [foreign],
    )
    expect(rows.map(({ commit_id }) => commit_id).sort()).toEqual(recorded.sort())
    expect(recorded.length).toBeGreaterThan(3)
    expect(foundIn(await dumpOf(one, foreign), home)).toEqual(['svc.tenant_removal'])
  })
})
