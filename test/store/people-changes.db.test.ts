/**
 * What a change of a tenant's people locks, on the server that SVC_TEST_DATABASE_URL names, and what a look-up says that
 * finds no tenant, on the embedded store too.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { toFault } from '../../src/base/fault.ts'
import { operator } from '../../src/core/administration.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { createBrowserSession } from '../../src/store/session/browser-sessions.ts'
import { endLogins } from '../../src/store/session/ended-logins.ts'
import { beginChange, standingOf } from '../../src/store/session/provisioning.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(120_000)

const server = process.env.SVC_TEST_DATABASE_URL
let store: TestStore
let tenant: TenantId
beforeAll(async () => {
  store = await openTestStore()
  tenant = (await makeTenant(store, { name: 'people' })).id
}, 300_000)
afterAll(() => store[Symbol.asyncDispose]())

const principal = { sub: 'ada', roles: [] }

/** The kind of the fault; `none`. */
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (thrown) => toFault(thrown).kind,
  )

test('a look-up of a person that finds no tenant lets nobody in, and one without settings believes the token', async () => {
  const nowhere = crypto.randomUUID() as TenantId
  expect(await faultOf(standingOf(store, nowhere, principal))).toBe('unavailable')
  const { id } = await makeTenant(store, { name: 'plain' })
  expect(await standingOf(store, id, principal)).toEqual({ kind: 'as token says' })
})

// Skipped where no server is named: `bun run test:db` names one. The embedded database has one session.
test.skipIf(server === undefined)(
  'while people change, everything else of the tenant is written, and only logins and other changes wait',
  async () => {
    const login = { principal, scopes: ['read'], providerSid: 'sid-1' } as const
    await createBrowserSession(store, tenant, login, undefined)
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const change = store.adminTransaction(async (tx) => {
      await beginChange(tx, tenant, operator())
      begun.resolve()
      await over.promise
    })
    try {
      await begun.promise
      const made = await createServiceSession(store, tenant, { name: 'etl', principal, scopes: ['read'] })
      expect(made.id).toBeString()
      // A logout by the provider ends a session and records it.
      const out = { id: crypto.randomUUID(), sid: 'sid-1', sub: undefined, atMs: Date.now() }
      expect(await endLogins(store, out, 60_000)).toBe(true)
      for (const lock of ['for share', 'for no key update']) {
        const text = `select 1 from svc.tenant where tenant_id = $1 ${lock} nowait`
        expect(await faultOf(store.adminTransaction((tx) => tx.query(text, [tenant])))).not.toBe('none')
      }
    } finally {
      over.resolve()
      await change
    }
  },
)
