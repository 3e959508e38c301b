/**
 * Look-ups that the server cannot run as they were prepared, because a pooler gave the connection another session or a
 * newer version changed what they call. They fail, and never say that there is nothing.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Fault, type FaultKind } from '../../../src/base/fault.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { createServiceSession, findServiceSession } from '../../../src/store/session/sessions.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTenantStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(60_000)

let store: TestStore
let tenant: TenantId
let secret: string

beforeAll(async () => {
  ;({ store, tenant } = await openTenantStore({ poolMax: 1 }))
  const principal = { sub: 'service:reader', roles: [] }
  const foreign = await makeTenant(store, { name: 'foreign' })
  await createServiceSession(store, foreign.id, { name: 'reader', principal, scopes: ['read'] })
  secret = (await createServiceSession(store, tenant, { name: 'reader', principal, scopes: ['read'] })).secret
})
afterAll(() => store[Symbol.asyncDispose]())

const owner = (text: string) => store.ownerTransaction(tenant, (tx) => tx.script(text))
const forget = () => owner('deallocate all')

/** Whose session is found, or the kind of failure. */
async function found(): Promise<string | undefined> {
  return await findServiceSession(store, secret).then(
    (session) => session?.tenant,
    (thrown: unknown): FaultKind => (thrown instanceof Fault ? thrown.kind : 'internal'),
  )
}

test('a look-up that the server has forgotten fails, and is prepared again by the next', async () => {
  expect([await found(), await found()]).toEqual([tenant, tenant])
  await forget()
  expect([await found(), await found()]).toEqual(['unavailable', tenant])
})

test('a forgotten statement of a tenant’s transaction fails as it is, and not at the commit', async () => {
  const name = () =>
    store.tenantQuery<{ name: string }>(tenant, 'select name from svc.tenant where tenant_id = $1', [tenant])
  expect(await name()).toEqual([{ name: 'acme' }])
  await forget()
  const failure = await name().catch((thrown: unknown) => thrown)
  expect(failure).toMatchObject({ kind: 'unavailable', detail: '26000' })
  expect(await name()).toEqual([{ name: 'acme' }])
})

test('a look-up whose result has another form since it was prepared fails, and is prepared again', async () => {
  const read = () =>
    store.ownerTransaction(tenant, (tx) => tx.query('select * from svc.formed where $1::text is null', ['x']))
  await owner('create table svc.formed (a int)')
  try {
    for (const _ of ['first', 'prepared']) expect(await read()).toEqual([])
    await owner('alter table svc.formed add column b int')
    expect(await read().catch((thrown: unknown) => thrown)).toMatchObject({ kind: 'unavailable' })
    expect(await read()).toEqual([])
  } finally {
    await owner('drop table svc.formed')
  }
})

test('a function or relation that the database does not have is no answer about what was looked for', async () => {
  for (const text of [
    'select svc.function_of_another_version($1::text)',
    'select name from svc.relation_of_another_version where name = $1',
    'select column_of_another_version from svc.tenant where name = $1',
    'select $1::text from schema_of_another_version.tenant',
  ]) {
    const failure = await store.tenantQuery(tenant, text, ['x']).catch((thrown: unknown) => thrown)
    expect(failure).toMatchObject({ kind: 'unavailable' })
  }
})

test('a connection that has lost its role may read nothing, and says that it cannot', async () => {
  const [denied, appendOnly] = await Promise.allSettled([
    store.tenantQuery(tenant, 'select * from svc.signing_key where $1::text is null', ['x']),
    store.ownerTransaction(tenant, (tx) => tx.query('update svc.administration_log set action = $1', ['x'])),
  ])
  expect(denied).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', detail: '42501' } })
  expect(appendOnly).toMatchObject({ status: 'rejected', reason: { kind: 'internal', detail: '42501' } })
})
