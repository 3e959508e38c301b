/** The store call that loads a statement, and its check of the session. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { SessionScope } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import {
  putCatalogCredential,
  rotateCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { loadRead } from '../../../src/store/governance/read-call.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant, resumeTenant, suspendTenant } from '../../../src/store/tenant/tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

let store: TestStore
let ours: TenantId
let theirs: TenantId

beforeAll(async () => {
  store = await openTestStore()
  ours = (await createTenant(store, { name: 'ours' })).id
  theirs = (await createTenant(store, { name: 'theirs' })).id
  const endpoint = 'https://catalog.example'
  for (const tenant of [ours, theirs])
    await putCatalogCredential(store, tenant, {
      nickname: 'main',
      kind: 'alpha',
      endpoint,
      config: { endpoint, warehouse: 'w', credential: 'id:secret' },
    })
})
afterAll(() => store[Symbol.asyncDispose]())

const session = async (tenant: TenantId, scopes: readonly SessionScope[], expiresAt?: Date) =>
  (
    await createServiceSession(store, tenant, {
      name: 'ada',
      principal: { sub: 'ada', roles: [] },
      scopes,
      expiresAt,
    })
  ).id
const counts = async (sessionId?: string) =>
  (await loadRead(store, ours, 'main', [], { sessionId }))?.isSessionValid

describe('a session', () => {
  test('counts where it is the tenant’s, may read, and is not over', async () => {
    expect(await counts(await session(ours, ['commit', 'read']))).toBe(true)
    expect(await counts(await session(ours, ['read'], new Date(Date.now() + 3_600_000)))).toBe(true)
  })

  test('does not where it is another tenant’s, without the scope, expired, revoked, or there is none', async () => {
    const revoked = await session(ours, ['read'])
    await revokeServiceSession(store, ours, revoked)
    expect(await counts(await session(theirs, ['read']))).toBe(false)
    expect(await counts(await session(ours, ['commit']))).toBe(false)
    expect(await counts(await session(ours, ['read'], new Date(0)))).toBe(false)
    expect(await counts(revoked)).toBe(false)
    expect(await counts(crypto.randomUUID())).toBe(false)
  })

  test('does not while its tenant is suspended', async () => {
    const id = await session(ours, ['read'])
    await suspendTenant(store, ours)
    expect(await counts(id)).toBe(false)
    await resumeTenant(store, ours)
    expect(await counts(id)).toBe(true)
  })

  test('is not spoken of where none was asked about', async () => {
    expect(await counts()).toBeUndefined()
  })
})

describe('the credential', () => {
  test('is the very same object while nothing of it has changed, and another one after', async () => {
    const ask = async (tenant: TenantId, before?: Parameters<typeof loadRead>[4]) =>
      (await loadRead(store, tenant, 'main', [], before))?.credential
    const before = await ask(ours)
    expect(await ask(ours, { before })).toBe(before as never)
    const foreign = await ask(theirs, { before })
    expect(foreign).not.toBe(before as never)
    expect(foreign?.id).not.toBe(before?.id as string)
    await rotateCatalogCredential(store, ours, 'main', { credential: 'id:new' })
    const after = await ask(ours, { before })
    expect(after?.config.credential).toBe('id:new')
  })
})
