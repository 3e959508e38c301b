/** The record of issued storage credentials: what is recorded, for whom, what an ended session could write, what goes. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TableRef } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { loadWriteGovernance } from '../../../src/store/policy/policies.ts'
import {
  createBrowserSession,
  listBrowserSessions,
  revokeBrowserSession,
} from '../../../src/store/session/browser-sessions.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import {
  completeVended,
  dropReserved,
  forgetVended,
  listVended,
  reserveVended,
  type WrittenTable,
  writtenTable,
} from '../../../src/store/vended/vended-credentials.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { take } from '../../support/territory.ts'
import { leaveVended, newVended } from '../../support/vended.ts'

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

const principal = { sub: 'ann', roles: [] }
const session = async (tenant = home, expiresAt?: Date) =>
  (await createServiceSession(store, tenant, { name: 'job', principal, scopes: ['commit'], expiresAt })).id
const revoke = (id: string, tenant = home) => revokeServiceSession(store, tenant, id)
const table = (name: string): TableRef => ({ namespace: ['sales'], name })
const dayMs = 86_400_000

test('a credential is listed with what was recorded, to its tenant alone', async () => {
  const id = await session()
  const expiresAtMs = Date.now() + 900_123
  const given = { prefixes: ['s3://lake/ä/', 's3://lake/b"c/'], expiresAtMs, principal: 'a\u0000b' }
  expect(await leaveVended(store, home, id, given)).toBe(true)
  expect((await listVended(store, home, { sessionId: id })).items).toMatchObject([
    {
      sessionId: id,
      sessionKind: 'service',
      principal: 'a\ufffdb',
      table: { namespace: ['sales'], name: 'orders' },
      access: 'read',
      prefixes: given.prefixes,
      keyId: 'ASIA1',
      expiresAt: new Date(expiresAtMs),
      deniedAt: undefined,
    },
  ])
  expect((await listVended(store, foreign, { sessionId: id })).items).toEqual([])
})

test('none is recorded for a session that was revoked, has expired, is of another kind, or of another tenant', async () => {
  const [revoked, expired, theirs] = [
    await session(),
    await session(home, new Date(0)),
    await session(foreign),
  ]
  await revoke(revoked)
  for (const id of [revoked, expired, theirs, crypto.randomUUID()])
    expect(await leaveVended(store, home, id)).toBe(false)
  expect(await leaveVended(store, home, await session(), { sessionKind: 'browser' })).toBe(false)
  const login = { principal, scopes: [], providerSid: undefined }
  await createBrowserSession(store, home, login, undefined)
  const id = (await listBrowserSessions(store, home)).items[0]?.id ?? ''
  expect(await leaveVended(store, home, id, { sessionKind: 'browser' })).toBe(true)
  await revokeBrowserSession(store, home, id)
  expect(await leaveVended(store, home, id, { sessionKind: 'browser' })).toBe(false)
})

test('one that is being issued is on record until it is completed, dropped, or its session has ended', async () => {
  const id = await session()
  const { keyId: _, ...wanted } = newVended(id)
  const keys = async () => (await listVended(store, home, { sessionId: id })).items.map(({ keyId }) => keyId)
  const reserve = async () => (await reserveVended(store, home, wanted)).id ?? ''
  const [one, two, three] = [await reserve(), await reserve(), await reserve()]
  expect(await keys()).toEqual(['', '', ''])
  const expiresAtMs = Date.now() + 600_000
  expect(await completeVended(store, foreign, one, { keyId: 'ASIA7', expiresAtMs })).toBe(false)
  expect(await completeVended(store, home, one, { keyId: 'ASIA7', expiresAtMs })).toBe(true)
  await dropReserved(store, foreign, two)
  await dropReserved(store, home, two)
  // What is completed is out, and stays.
  await dropReserved(store, home, one)
  expect((await keys()).toSorted()).toEqual(['', 'ASIA7'])
  await revoke(id)
  expect(await keys()).toHaveLength(2)
  expect(await completeVended(store, home, three, { keyId: 'ASIA8', expiresAtMs })).toBe(false)
  expect(await keys()).toEqual(['ASIA7'])
})

test('none is recorded for folders of a version of the territory that has passed', async () => {
  const { keyId: _, ...wanted } = newVended(await session())
  const versionOf = async (tenant: TenantId) =>
    (await loadWriteGovernance(store, tenant, table('orders'))).territory.version
  const [before, theirs] = [await versionOf(home), await versionOf(foreign)]
  expect((await reserveVended(store, home, wanted, before)).id).toBeDefined()
  // That of another tenant is not looked at.
  await take(store, foreign, 'orders', 's3://lake/orders/')
  expect(await versionOf(foreign)).not.toBe(theirs)
  expect((await reserveVended(store, home, wanted, before)).id).toBeDefined()
  await take(store, home, 'orders', 's3://lake/orders/')
  expect(await reserveVended(store, home, wanted, before)).toEqual({ problem: 'territory-changed' })
  expect((await reserveVended(store, home, wanted, await versionOf(home))).id).toBeDefined()
})

test('records of credentials that expired 30 days ago are forgotten, one tenant at a time', async () => {
  const kept: (readonly [TenantId, string])[] = []
  for (const tenant of [home, foreign]) {
    const id = await session(tenant)
    for (const days of [31, 29])
      await leaveVended(store, tenant, id, { expiresAtMs: Date.now() - days * dayMs })
    kept.push([tenant, id])
  }
  const count = async (tenant: TenantId, id: string) =>
    (await store.tenantQuery(tenant, 'select 1 from svc.vended_credential where session_id = $1', [id]))
      .length
  const counts = () => Promise.all(kept.map(([tenant, id]) => count(tenant, id)))
  expect(await forgetVended(store, home)).toBe(1)
  expect(await counts()).toEqual([1, 2])
  expect(await forgetVended(store, home)).toBe(0)
})

test('the tables that an ended session could write to come one by one, each with all its folders', async () => {
  const [id, other, reader, early] = [await session(), await session(), await session(), await session()]
  const theirs = await session(foreign)
  const [one, two] = [crypto.randomUUID(), crypto.randomUUID()].toSorted()
  const nowMs = Date.now()
  const issue = (of: string, name: string, credentialId: string | undefined, prefix: string, tenant = home) =>
    leaveVended(store, tenant, of, {
      table: table(name),
      access: of === reader ? 'read' : 'write',
      prefixes: [prefix],
      ...(credentialId && { credentialId }),
      expiresAtMs: of === early ? nowMs - dayMs : nowMs + 3_600_000,
    })
  await issue(id, 'b', two, 's3://lake/b/')
  await issue(id, 'a', one, 's3://lake/a/')
  await issue(id, 'a', one, 's3://lake/a2/')
  for (const of of [other, reader, early]) await issue(of, 'a', one, 's3://lake/a/')
  await issue(theirs, 'a', one, 's3://lake/a/', foreign)
  const first = { tableId: '', credentialId: '00000000-0000-0000-0000-000000000000' }
  const ask = (at: Pick<WrittenTable, 'tableId' | 'credentialId'>, isAfter = true, only?: TableRef) =>
    writtenTable(store, home, id, only, at, isAfter)
  expect(await ask(first).catch(({ kind }) => kind)).toBe('conflict')
  await revoke(id)
  const a = await ask(first)
  if (a === undefined) throw new Error('there is no table')
  expect(a).toMatchObject({ table: table('a'), credentialId: one, otherWriters: 1 })
  expect(a.prefixes.toSorted()).toEqual(['s3://lake/a/', 's3://lake/a2/'])
  expect(a.lastExpiresAt).toEqual(new Date(nowMs + 3_600_000))
  expect(await ask(a, false)).toEqual(a)
  const b = await ask(a)
  expect(b).toMatchObject({ table: table('b'), prefixes: ['s3://lake/b/'], otherWriters: 0 })
  expect(b && (await ask(b))).toBeUndefined()
  expect(await ask(first, true, table('b'))).toEqual(b)
  expect(await ask(first, true, table('c'))).toBeUndefined()
})

test('another tenant’s session, and one that there never was, is not found', async () => {
  const theirs = await session(foreign)
  await revoke(theirs, foreign)
  const first = { tableId: '', credentialId: '00000000-0000-0000-0000-000000000000' }
  for (const id of [theirs, crypto.randomUUID(), 'no uuid'])
    expect(await writtenTable(store, home, id, undefined, first, true).catch(({ kind }) => kind)).toBe(
      'not_found',
    )
})
