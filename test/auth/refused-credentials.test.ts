/** Wrong secrets are counted by their kind, on HTTP and on the PostgreSQL wire; right ones are not. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServiceSession, revokeServiceSession } from '../../src/store/session/sessions.ts'
import { call, type IdentityService, startIdentityService } from '../support/identity.ts'
import { makeTenant } from '../support/spare-tenants.ts'

let service: IdentityService
let secret: string
let revoked: string
beforeAll(async () => {
  service = await startIdentityService()
  const { id: tenant } = await makeTenant(service.store, { name: 'acme', organizationId: 'org_acme' })
  const made = { name: 'etl', principal: { sub: 'service:etl', roles: [] }, scopes: ['read'] as const }
  secret = (await createServiceSession(service.store, tenant, made)).secret
  const other = await makeTenant(service.store, { name: 'other', organizationId: 'org_other' })
  const ended = await createServiceSession(service.store, other.id, made)
  await revokeServiceSession(service.store, other.id, ended.id)
  revoked = ended.secret
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

/** How often each kind was refused, without kinds that never were. */
async function refused(): Promise<Record<string, number>> {
  const { values } = await service.metrics.credentialsRefused.get()
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [String(labels.kind), value]),
  )
}
/** What one request adds. */
async function addedBy(headers: Readonly<Record<string, string>>): Promise<Record<string, number>> {
  service.metrics.credentialsRefused.reset()
  await call(service, 'GET', '/api/v1/session', { headers })
  return await refused()
}
const own = (claims: object) =>
  [{ alg: 'ES256', kid: crypto.randomUUID() }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('c2ln')
    .join('.')

test('a right secret and a request without one count for nothing', async () => {
  expect(await addedBy({ 'x-svc-session': secret })).toEqual({})
  expect(await addedBy({})).toEqual({})
})

test('an invented secret and a revoked one, of any tenant, count as a service session', async () => {
  expect(await addedBy({ 'x-svc-session': 'svc_invented' })).toEqual({ service_session: 1 })
  expect(await addedBy({ 'x-svc-session': revoked })).toEqual({ service_session: 1 })
})

test('a cookie counts as a browser session', async () => {
  const invented = `svc_web_${'a'.repeat(43)}`
  expect(await addedBy({ cookie: `__Host-svc_session=${invented}` })).toEqual({ browser_session: 1 })
})

test('a token that names this service counts as an access token, also beside a right secret', async () => {
  const bearer = `Bearer ${own({ iss: 'urn:covenant:access-token', sid: crypto.randomUUID() })}`
  expect(await addedBy({ authorization: bearer })).toEqual({ access_token: 1 })
  expect(await addedBy({ authorization: bearer, 'x-svc-session': secret })).toEqual({ access_token: 1 })
})

test('no part of a wrong secret reaches the log', async () => {
  await addedBy({ 'x-svc-session': 'svc_inventedZk4canaryQ9' })
  expect(service.log()).not.toContain('Zk4canaryQ9')
})
