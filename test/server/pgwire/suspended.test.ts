/** What clients of a suspended tenant are told, to whom it is not told, and that they are let in once it is back. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import pg from 'pg'
import { AccessTokens } from '../../../src/auth/access-token.ts'
import { tokenVerifier } from '../../../src/auth/bearer.ts'
import { credentialReader } from '../../../src/auth/read-credential.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { SessionScope } from '../../../src/core/session.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { LoginThrottle } from '../../../src/server/pgwire/login-throttle.ts'
import {
  createServiceSession,
  findServiceSession,
  revokeServiceSession,
} from '../../../src/store/session/sessions.ts'
import { resumeTenant, suspendTenant } from '../../../src/store/tenant/tenants.ts'
import { numbers, startWire, type WireService } from '../../support/pgwire.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { frames, reportFields, WireClient } from '../../support/wire-client.ts'

setDefaultTimeout(60_000)
const issuer = 'https://idp.example'

let store: TestStore
let wire: WireService
let ours: TenantId
let theirs: TenantId
let tokens: AccessTokens
let providerToken: string
let keyServer: Bun.Server<undefined>
/** Its clock stands still, so that a failure would hold back the next attempt for good. */
const throttle = new LoginThrottle({ now: () => 0 })

beforeAll(async () => {
  store = await openTestStore()
  ours = (await makeTenant(store, { name: 'ours', organizationId: 'org_ours' })).id
  theirs = (await makeTenant(store, { name: 'theirs', organizationId: 'org_theirs' })).id
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }
  keyServer = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ keys: [jwk] }) })
  providerToken = await new SignJWT({ sub: 'ada', org_id: 'org_ours' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setIssuer(issuer)
    .setAudience('covenant')
    .setExpirationTime('1h')
    .sign(privateKey)
  tokens = new AccessTokens(store)
  const credentials = credentialReader({
    ...{ store, tokens, clock: systemClock },
    verifyToken: tokenVerifier({ url: keyServer.url.href, issuer, audience: 'covenant' }),
    claims: { organization: 'org_id', roles: undefined },
  })
  wire = await startWire({
    queries: { 'select numbers': numbers(1) },
    parts: { credentials, throttle, hasCatalog: async () => true },
  })
})
afterAll(async () => {
  await wire[Symbol.asyncDispose]()
  await keyServer.stop(true)
  await store[Symbol.asyncDispose]()
})

const session = (tenant: TenantId, scopes: readonly SessionScope[] = ['read'], expiresAt?: Date) =>
  createServiceSession(store, tenant, {
    name: 'ada',
    principal: { sub: 'ada', roles: [] },
    scopes,
    expiresAt,
  })

/** `in`, or the error of the login. */
async function logIn(password: string, user = 'ada'): Promise<string> {
  const client = await WireClient.connect(wire.options)
  client.send(frames.startup({ user, database: 'main' }))
  await client.until('R')
  client.send(frames.password(password))
  const last = (await client.until('Z')).at(-1)
  client.close()
  if (last === undefined) return 'closed'
  const { C, M } = last.type === 'Z' ? { C: 'in', M: '' } : reportFields(last)
  return `${C} ${M}`.trim()
}

/** The same by SCRAM. */
async function prove(password: string, id: string, user = 'ada'): Promise<string> {
  const options = `-c svc.session=${id}`
  const client = new pg.Client({
    host: '127.0.0.1',
    port: wire.port,
    user,
    database: 'main',
    password,
    options,
  })
  return await client.connect().then(
    async () => {
      await client.end()
      return 'in'
    },
    ({ code, message }: { code: string; message: string }) => `${code} ${message}`,
  )
}

const refused = (user = 'ada') => `28P01 password authentication failed for user "${user}"`
const suspended = '57P03 the organization of user "ada" is suspended'

test('its users are told that it is suspended, by whatever they log in, and are let in once it is back', async () => {
  const { id, secret } = await session(ours)
  const theirSession = await session(theirs)
  const found = await findServiceSession(store, secret)
  if (found === undefined) throw new Error('no session')
  const { token } = await tokens.issue(found, ['read'])
  await suspendTenant(store, ours)
  // More often than failures are free.
  for (let time = 0; time < 8; time++) expect(await logIn(secret)).toBe(suspended)
  for (const credential of [token, providerToken]) expect(await logIn(credential)).toBe(suspended)
  expect(await prove(secret, id)).toBe(suspended)
  expect(await logIn(theirSession.secret)).toBe('in')
  await resumeTenant(store, ours)
  expect(throttle.turn('127.0.0.1', 0)).toBe(0)
  for (const credential of [secret, token, providerToken]) expect(await logIn(credential)).toBe('in')
  expect(await prove(secret, id)).toBe('in')
})

test('a client that does not prove to be one of its users is not told', async () => {
  const { id, secret } = await session(ours)
  const revoked = await session(ours)
  await revokeServiceSession(store, ours, revoked.id)
  const expired = await session(ours, ['read'], new Date(0))
  const writer = await session(ours, ['commit'])
  const other = await session(theirs)
  await suspendTenant(store, ours)
  const told = []
  for (const attempt of [
    () => logIn(secret, 'bob'),
    () => logIn(`${secret}x`),
    () => logIn(revoked.secret),
    () => logIn(expired.secret),
    () => logIn(writer.secret),
    () => prove('svc_wrong', id),
    () => prove(other.secret, id),
    () => prove(secret, id, 'bob'),
    () => prove(revoked.secret, revoked.id),
    () => prove(secret, crypto.randomUUID()),
  ]) {
    // Failures count here, so that each attempt begins with none.
    throttle.succeeded('127.0.0.1', '')
    told.push(await attempt())
  }
  await resumeTenant(store, ours)
  expect(told).toEqual(told.map((text) => refused(text.endsWith('"bob"') ? 'bob' : 'ada')))
  throttle.succeeded('127.0.0.1', '')
  expect(await logIn(other.secret)).toBe('in')
})
