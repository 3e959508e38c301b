/** The operations on keys over HTTP: who sees which keys, and that none of them is ever answered. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { lastEvent } from '../../src/store/event/events.ts'
import { loadDerivationRoots } from '../../src/store/keys/derivation-roots.ts'
import { findScramVerifier } from '../../src/store/session/sessions.ts'
import { addSubscription } from '../../src/store/webhook/subscriptions.ts'
import { newSecret } from '../../src/webhook/receiver.ts'
import { makeScramVerifier } from '../../src/wire/postgres/scram.ts'
import { actorOf } from '../support/actor.ts'
import {
  call,
  type IdentityService,
  openSession,
  session,
  startIdentityService,
} from '../support/identity.ts'
import { addTenant, type TestTenant } from '../support/service.ts'

setDefaultTimeout(120_000)

interface Listed {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly record?: readonly Readonly<Record<string, unknown>>[]
}

let service: IdentityService
let foreign: TestTenant
let secret: string
let administrator: string
beforeAll(async () => {
  service = await startIdentityService()
  // As a start does.
  await loadDerivationRoots(service.store, service.store.secretsKey)
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  const { store, owner } = service
  secret = newSecret()
  const receiver = { name: 'own', url: new URL('https://receiver.example/hidden-path'), types: ['*'] }
  await addSubscription(
    store,
    owner.tenant,
    receiver,
    secret,
    await lastEvent(store, owner.tenant),
    actorOf('a'),
  )
  administrator = await session(service, owner.tenant, ['read'], ['administrator'])
})
afterAll(() => service?.[Symbol.asyncDispose]())

async function listed(path: string, as: string): Promise<Listed> {
  const response = await call(service, 'GET', path, { secret: as })
  expect(response.status).toBe(200)
  return (await response.json()) as Listed
}

test('an administrator sees the keys of the own tenant, and no other tenant’s', async () => {
  const own = await listed('/api/v1/keys', administrator)
  expect(own.items).toContainEqual(
    expect.objectContaining({
      kind: 'webhook',
      name: 'own',
      state: 'current',
      age_seconds: expect.any(Number),
    }),
  )
  const other = await session(service, foreign.tenant, ['read'], ['administrator'])
  const kinds = (await listed('/api/v1/keys', other)).items.map(({ kind }) => kind)
  expect(kinds).toEqual(['session'])
})

test('who is neither administrator nor owner sees none', async () => {
  for (const role of ['steward', 'auditor', 'reader']) {
    const as = await session(service, service.owner.tenant, ['read', 'admin'], [role])
    expect((await call(service, 'GET', '/api/v1/keys', { secret: as })).status).toBe(403)
  }
})

test('the keys of the service are for the internal organization alone, to see and to turn', async () => {
  const owner = await session(service, service.owner.tenant, ['read', 'admin'], ['owner', 'administrator'])
  expect((await call(service, 'GET', '/admin/keys', { secret: owner })).status).toBe(403)
  const turn = '/admin/keys/token-signing/turns'
  expect((await call(service, 'POST', turn, { secret: owner })).status).toBe(403)
  const turned = await call(service, 'POST', turn, { secret: service.operator })
  expect(turned.status).toBe(200)
  const { id } = (await turned.json()) as { readonly id: string }
  const { items, record } = await listed('/admin/keys', service.operator)
  expect(items.find((key) => key.id === id)).toMatchObject({ kind: 'token-signing' })
  expect(record?.[0]).toMatchObject({ kind: 'token-signing', action: 'turned', by: expect.any(String) })
})

test('the key of plans turns once at a time, by the internal organization alone', async () => {
  const owner = await session(service, service.owner.tenant, ['read', 'admin'], ['owner', 'administrator'])
  const turn = '/admin/keys/plan-signing/turns'
  expect((await call(service, 'POST', turn, { secret: owner })).status).toBe(403)
  expect((await call(service, 'POST', turn, { secret: service.operator })).status).toBe(200)
  expect((await call(service, 'POST', turn, { secret: service.operator })).status).toBe(409)
  const { items, record } = await listed('/admin/keys', service.operator)
  const states = items.filter(({ kind }) => kind === 'plan-signing').map(({ id, state }) => [id, state])
  expect(Object.fromEntries(states)).toEqual({ plans: 'current', 'plans-next': 'announced' })
  expect(record?.[0]).toMatchObject({ kind: 'plan-signing', action: 'turned' })
})

describe('the secret of a service session', () => {
  const path = (id: string) => `/api/v1/sessions/${id}/secret`
  const works = async (secret: string) => (await call(service, 'GET', '/api/v1/session', { secret })).status

  test('turns with effect on the next request, and keeps id, subject, roles and scopes', async () => {
    const tenant = service.owner.tenant
    const admin = await session(service, tenant, ['admin'], ['administrator', 'etl'])
    const { id, secret } = await openSession(service, tenant, ['read'], ['etl'], 'service:spark')
    const before = await (await call(service, 'GET', '/api/v1/session', { secret })).json()
    const turned = await call(service, 'POST', path(id), { secret: admin })
    expect(turned.status).toBe(200)
    const next = ((await turned.json()) as { readonly secret: string }).secret
    expect([await works(secret), await works(next)]).toEqual([401, 200])
    expect(await (await call(service, 'GET', '/api/v1/session', { secret: next })).json()).toEqual(before)
    // A SQL client logs in by the new one alone.
    const found = await findScramVerifier(service.store, id)
    expect(found?.verifier).toEqual(makeScramVerifier(next, found?.verifier.salt ?? new Uint8Array()))
  })

  test('is not given to who does not hold its roles, in the name of a person, of another tenant, or of an ended one', async () => {
    const tenant = service.owner.tenant
    const admin = await session(service, tenant, ['admin'], ['administrator'])
    const owner = await session(service, tenant, ['admin'], ['owner'])
    const higher = await openSession(service, tenant, ['read'], ['steward'], 'service:high')
    const person = await openSession(service, tenant, ['read'], [], 'ada')
    const ended = await openSession(service, tenant, ['read'], [], 'service:ended')
    await call(service, 'DELETE', `/api/v1/sessions/${ended.id}`, { secret: admin })
    const other = await openSession(service, foreign.tenant, ['read'], [], 'service:other')
    const ask = async (id: string, secret: string) =>
      (await call(service, 'POST', path(id), { secret })).status
    expect(await ask(higher.id, admin)).toBe(403)
    expect(await ask(higher.id, owner)).toBe(200)
    expect(await ask(person.id, owner)).toBe(403)
    expect(await ask(ended.id, owner)).toBe(404)
    expect(await ask(other.id, owner)).toBe(404)
    expect(await ask('none', owner)).toBe(404)
    for (const { secret } of [person, other]) expect(await works(secret)).toBe(200)
  })
})

test('no answer holds a key, the path of a webhook, or what is derived from one', async () => {
  const texts = JSON.stringify([
    await listed('/api/v1/keys', administrator),
    await listed('/admin/keys', service.operator),
    await listed(`/admin/tenants/${service.owner.tenant}/keys`, service.operator),
  ])
  for (const hidden of [secret, secret.slice(6), 'hidden-path', 'sealed', 'wrapped'])
    expect(texts).not.toContain(hidden)
})

test('each replica measures the ages by itself', async () => {
  await service.app.jobs.run('measure-keys')
  const { values } = await service.metrics.keyAgeSeconds.get()
  const kinds = values.map(({ labels }) => String(labels.kind))
  expect(kinds).toContain('token-signing')
  expect(kinds).toContain('webhook')
  expect(kinds).toContain('session')
  expect(kinds).toContain('plan-signing')
})
