/** Several issuers of one tenant: each token by its own keys, audience and claims; with a foreign tenant's issuers. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { AccessTokens } from '../../src/auth/access-token.ts'
import { credentialReader } from '../../src/auth/read-credential.ts'
import { TokenIssuers } from '../../src/auth/token-issuers.ts'
import { issuerKeys } from '../../src/auth/workload/issuer-keys.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { allowing } from '../support/address-rules.ts'
import { ask, call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(60_000)

/** An issuer with one key, by discovery. All name their key `k`. */
async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, origin } = new URL(request.url)
      if (pathname === '/keys') return Response.json({ keys: [jwk] })
      return Response.json({ issuer: origin, jwks_uri: `${origin}/keys` })
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  const token = (claims: object = {}, header: object = {}) =>
    new SignJWT({
      ...{ iss: url, aud: 'covenant', sub: 'ada', exp: Math.floor(Date.now() / 1000) + 600 },
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'k', ...header })
      .sign(privateKey)
  return { url, token, stop: () => server.stop(true) }
}
type Issuer = Awaited<ReturnType<typeof startIssuer>>

let service: IdentityService
let a: Issuer
let b: Issuer
let foreign: Issuer
let ours: TenantId
let theirs: TenantId
let owner: string
let theirOwner: string
let untouched: string

beforeAll(async () => {
  ;[a, b, foreign] = await Promise.all([startIssuer(), startIssuer(), startIssuer()])
  service = await startIdentityService({ env: { SVC_UPSTREAM_ALLOW: '127.0.0.1/32' } })
  ours = (await makeTenant(service.store, { name: 'ours', organizationId: 'org_ours' })).id
  theirs = (await makeTenant(service.store, { name: 'theirs', organizationId: 'org_theirs' })).id
  const third = (await makeTenant(service.store, { name: 'third', organizationId: 'org_third' })).id
  owner = await session(service, ours, ['read', 'admin'], ['owner'], 'olga')
  theirOwner = await session(service, theirs, ['read', 'admin'], ['owner'], 'otto')
  untouched = await session(service, third, ['read', 'admin'], ['owner'], 'tess')
  await put('a', { issuer: a.url, roles_claim: 'realm_access.roles' })
  await put('b', {
    ...{ issuer: b.url, audience: 'lake', subject_prefix: 'b:' },
    ...{ organization_claim: 'organization', roles_claim: 'groups' },
  })
  await put('foreign', { issuer: foreign.url }, theirOwner)
}, 300_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  for (const one of [a, b, foreign]) await one.stop()
})

async function put(name: string, members: object, secret = owner) {
  const path = `/api/v1/token-issuers/${name}`
  const { status, body } = await ask(service, 'PUT', path, secret, { audience: 'covenant', ...members })
  expect({ status, body }).toMatchObject({ status: 200 })
}
/** Who a request with the session and the token is; its status where it is refused. */
const whoami = async (token: string, secret = owner) => {
  const headers = { authorization: `Bearer ${token}` }
  const response = await call(service, 'GET', '/api/v1/session', { secret, headers })
  if (response.status !== 200) return response.status
  const { principal } = (await response.json()) as { principal: { sub: string; roles: string[] } }
  return [principal.sub, ...principal.roles]
}

describe('a bearer token', () => {
  test('is read by the claims of its own issuer', async () => {
    const claims = { realm_access: { roles: ['steward'] }, groups: ['/other'] }
    expect(await whoami(await a.token(claims))).toEqual(['ada', 'steward'])
    const ofB = { aud: 'lake', groups: ['/writer'], realm_access: { roles: ['steward'] } }
    expect(await whoami(await b.token(ofB))).toEqual(['b:ada', 'writer'])
  })

  test('is 401 by the keys, the audience or the organization of another issuer', async () => {
    // Signed by A, in the name of B, and the other way round.
    expect(await whoami(await a.token({ iss: b.url, aud: 'lake' }))).toBe(401)
    expect(await whoami(await b.token({ iss: a.url }))).toBe(401)
    // With the audience of the other.
    expect(await whoami(await a.token({ aud: 'lake' }))).toBe(401)
    expect(await whoami(await b.token({ aud: 'covenant' }))).toBe(401)
    // The organization counts by the issuer's own claim.
    expect(await whoami(await a.token({ org_id: 'org_theirs' }))).toBe(401)
    expect(await whoami(await a.token({ organization: ['org_theirs'] }))).toEqual(['ada'])
    expect(await whoami(await b.token({ aud: 'lake', organization: ['org_theirs'] }))).toBe(401)
    expect(await whoami(await b.token({ aud: 'lake', organization: { org_ours: {} } }))).toEqual(['b:ada'])
  })

  test('of an issuer that only a foreign tenant trusts is 401, and so is any that nobody verifies', async () => {
    expect(await whoami(await foreign.token(), theirOwner)).toEqual(['ada'])
    expect(await whoami(await foreign.token())).toBe(401)
    expect(await whoami(await a.token(), theirOwner)).toBe(401)
    const unsigned = new UnsecuredJWT({ sub: 'ada', roles: 'owner' }).encode()
    expect(await whoami(unsigned)).toBe(401)
    for (const text of ['not.a.jwt', 'a b', '']) expect(await whoami(text)).toBe(401)
    expect(await whoami('None')).toEqual(['olga', 'owner'])
    expect(await whoami(new UnsecuredJWT({ sub: 'ada', iss: a.url, aud: 'covenant' }).encode())).toBe(401)
    // In a tenant without issuers, an unverified token is nobody outside of the write gateway.
    expect(await whoami(unsigned, untouched)).toEqual(['tess', 'owner'])
  })

  test('must end, be for access, and name a person', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000)
    expect(await whoami(await a.token({ exp: undefined }))).toBe(401)
    expect(await whoami(await a.token({ exp: nowSeconds - 30 }))).toEqual(['ada'])
    expect(await whoami(await a.token({ exp: nowSeconds - 90 }))).toBe(401)
    expect(await whoami(await a.token({}, { typ: 'logout+jwt' }))).toBe(401)
    expect(await whoami(await a.token({ sub: 'service:etl' }))).toBe(401)
    expect(await whoami(await a.token({ sub: '' }))).toBe(401)
    expect(await whoami(await b.token({ aud: 'lake', _claim_names: { groups: 'src1' } }))).toBe(401)
  })
})

describe('a connection without a session', () => {
  const reader = () => {
    const { store } = service
    const findKeys = issuerKeys({ addressRules: allowing('127.0.0.1'), clock: systemClock })
    return credentialReader({
      ...{ store, tokens: new AccessTokens(store), clock: systemClock },
      issuers: new TokenIssuers({ store, findKeys }),
      claims: { organization: 'org_id', roles: undefined },
    })
  }

  test('takes a token whose organization is that of a tenant that trusts its issuer', async () => {
    const { bySecret } = reader()
    const found = await bySecret(await a.token({ org_id: 'org_ours', realm_access: { roles: ['x'] } }))
    expect(found).toMatchObject({ tenant: ours, principal: { sub: 'ada', roles: ['x'] } })
    expect(await found?.stillValid()).toBe(true)
    const ofB = { aud: 'lake', organization: 'org_ours' }
    expect(await bySecret(await b.token(ofB))).toMatchObject({ tenant: ours, principal: { sub: 'b:ada' } })
    expect(await bySecret(await foreign.token({ org_id: 'org_theirs' }))).toMatchObject({ tenant: theirs })
  })

  test('takes none that names the organization of another tenant, or none', async () => {
    const { bySecret } = reader()
    for (const token of [
      await foreign.token({ org_id: 'org_ours' }),
      await a.token({ org_id: 'org_theirs' }),
      await a.token(),
      await a.token({ org_id: ['org_ours', 'org_theirs'] }),
      await b.token({ aud: 'lake', org_id: 'org_ours' }),
      await a.token({ iss: b.url, aud: 'lake', organization: 'org_ours' }),
    ])
      expect(await bySecret(token)).toBeUndefined()
  })

  test('ends when the tenant trusts the issuer no more', async () => {
    await put('c', { issuer: foreign.url })
    const found = await reader().bySecret(await foreign.token({ org_id: 'org_ours' }))
    expect(await found?.stillValid()).toBe(true)
    expect((await ask(service, 'DELETE', '/api/v1/token-issuers/c', owner)).status).toBe(204)
    expect(await found?.stillValid()).toBe(false)
    expect(await whoami(await foreign.token())).toBe(401)
  })
})

describe('the issuers of a tenant', () => {
  test('are listed to its own people, and changed by an owner', async () => {
    const { body } = await ask(service, 'GET', '/api/v1/token-issuers', owner)
    expect(body.items).toMatchObject([
      { name: 'a', issuer: a.url, organization_claim: 'org_id', roles_claim: 'realm_access.roles' },
      { name: 'b', issuer: b.url, audience: 'lake', subject_prefix: 'b:' },
    ])
    const theirList = await ask(service, 'GET', '/api/v1/token-issuers', theirOwner)
    expect(theirList.body.items).toMatchObject([{ name: 'foreign' }])
    expect((await ask(service, 'DELETE', '/api/v1/token-issuers/a', theirOwner)).status).toBe(404)
    // An issuer can give any role by its tokens.
    const administrator = await session(service, ours, ['read', 'admin'], ['administrator'], 'adam')
    const put = { issuer: 'https://mine.example', audience: 'x' }
    expect((await ask(service, 'PUT', '/api/v1/token-issuers/mine', administrator, put)).status).toBe(403)
  })

  test.each([
    ['an address that is not https', 400, { issuer: 'http://login.example' }],
    ['a private key', 400, { issuer: 'https://x.example', jwks: [{ kty: 'EC', d: 'secret' }] }],
    ['a shared secret', 400, { issuer: 'https://x.example', jwks: [{ kty: 'oct', k: 'secret' }] }],
    [
      'an address and keys',
      400,
      { issuer: 'https://x.example', jwks_url: 'https://x/k', jwks: [{ kty: 'EC' }] },
    ],
  ] as const)('are refused with %s', async (_, status, members) => {
    const body = { audience: 'covenant', ...members }
    expect((await ask(service, 'PUT', '/api/v1/token-issuers/x', owner, body)).status).toBe(status)
  })

  test('have each issuer once', async () => {
    const body = { issuer: a.url, audience: 'another' }
    expect((await ask(service, 'PUT', '/api/v1/token-issuers/twice', owner, body)).status).toBe(409)
  })
})
