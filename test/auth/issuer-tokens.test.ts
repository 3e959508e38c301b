/**
 * Tokens as issuers send them, on every surface that takes one: HTTP, the PostgreSQL wire, XMLA and the exchange of
 * workloads. A second tenant trusts another issuer, whose tokens are refused in the first.
 */

import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  setSystemTime,
  test,
} from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { TenantId } from '../../src/core/tenant.ts'
import { ask, call, type IdentityService, session, startIdentityService } from '../support/identity.ts'
import { equipTenant, metric, prefix } from '../support/service.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { startTokenProvider, type TokenProvider } from '../support/token-provider.ts'
import * as surfaces from '../support/token-surfaces.ts'

setDefaultTimeout(60_000)

/** An issuer by discovery, whose key is replaced under the same id. */
async function startIssuer() {
  const pair = () => generateKeyPair('Ed25519', { extractable: true })
  const state = { current: await pair(), fetches: 0 }
  const jwk = async () => ({ ...(await exportJWK(state.current.publicKey)), kid: 'k', use: 'sig' })
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    async fetch(request) {
      const { pathname, origin } = new URL(request.url)
      if (pathname !== '/keys') return Response.json({ issuer: origin, jwks_uri: `${origin}/keys` })
      state.fetches++
      return Response.json({ keys: [await jwk()] })
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  const token = (claims: object = {}, header: object = {}) =>
    new SignJWT({
      ...{ iss: url, aud: 'covenant', sub: 'ada', exp: Math.floor(Date.now() / 1000) + 3_600 },
      ...claims,
    })
      .setProtectedHeader({ alg: 'Ed25519', kid: 'k', ...header })
      .sign(state.current.privateKey)
  const replaceKey = async () => {
    state.current = await pair()
  }
  return { url, state, jwk, token, replaceKey, stop: () => server.stop(true) }
}
type Issuer = Awaited<ReturnType<typeof startIssuer>>

let service: IdentityService
let issuer: Issuer
let foreign: Issuer
let ours: TenantId
let owner: string
let theirOwner: string

beforeAll(async () => {
  ;[issuer, foreign] = await Promise.all([startIssuer(), startIssuer()])
  service = await startIdentityService({ env: { SVC_UPSTREAM_ALLOW: '127.0.0.0/8' } })
  ours = (await makeTenant(service.store, { name: 'ours', organizationId: 'org_ours' })).id
  const theirs = (await makeTenant(service.store, { name: 'theirs', organizationId: 'org_theirs' })).id
  for (const tenant of [ours, theirs]) await equipTenant(service.store, tenant, 'spark', service.catalog.url)
  owner = await session(service, ours, ['read', 'admin'], ['owner'], 'olga')
  theirOwner = await session(service, theirs, ['read', 'admin'], ['owner'], 'otto')
  await put('foreign', { issuer: foreign.url }, theirOwner)
}, 300_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  for (const one of [issuer, foreign]) await one.stop()
})
afterEach(() => void setSystemTime())

async function put(name: string, members: object, secret = owner) {
  const body = { audience: 'covenant', ...members }
  const answer = await ask(service, 'PUT', `/api/v1/token-issuers/${name}`, secret, body)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const overHttp = (token: string, secret = owner) => surfaces.overHttp(service, token, secret)
const overXmla = (secret: string, headers: Readonly<Record<string, string>> = {}) =>
  surfaces.overXmla(service, secret, { headers })
/** What each surface answers to a token. */
const everywhere = (token: string) => surfaces.everywhere(service, token, owner)
const refusedEverywhere = [401, '28P01 password authentication failed for user "ada"', 401]
const organization = { org_id: 'org_ours' }

test('a token that is signed by Ed25519 names a person on every surface, and a foreign tenant’s issuer nobody', async () => {
  await put('idp', { issuer: issuer.url })
  expect(await everywhere(await issuer.token(organization))).toEqual([['ada'], 'ada', 200])
  expect(await everywhere(await issuer.token(organization, { alg: 'EdDSA' }))).toEqual([['ada'], 'ada', 200])
  expect(await everywhere(await foreign.token(organization))).toEqual(refusedEverywhere)
  expect(await overHttp(await issuer.token(), theirOwner)).toBe(401)
})

describe('the keys of an issuer', () => {
  test('are given as a key set, or as its list', async () => {
    const document = { keys: [await issuer.jwk()], note: 'other members are ignored' }
    for (const jwks of [document, document.keys]) {
      const stored = await put('idp', { issuer: issuer.url, jwks })
      expect(stored.jwks).toEqual(document.keys)
      const { body } = await ask(service, 'GET', '/api/v1/token-issuers', owner)
      expect(body.items).toMatchObject([{ name: 'idp', jwks: document.keys }])
      expect(await overHttp(await issuer.token())).toEqual(['ada'])
      expect(await overHttp(await foreign.token({ iss: issuer.url }))).toBe(401)
    }
  })

  test.each([
    ['no keys', { keys: [] }],
    ['another object', { key: [] }],
    ['a private key', { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'secret' }] }],
    ['a shared secret', { keys: [{ kty: 'oct', k: 'secret' }] }],
    ['a text', 'keys'],
  ])('are refused with %s', async (_, jwks) => {
    const body = { issuer: 'https://x.example', audience: 'covenant', jwks }
    expect((await ask(service, 'PUT', '/api/v1/token-issuers/x', owner, body)).status).toBe(400)
  })

  test('may be replaced under the same id, which every surface finds, by one fetch', async () => {
    await put('idp', { issuer: issuer.url })
    expect(await everywhere(await issuer.token(organization))).toEqual([['ada'], 'ada', 200])
    const old = await issuer.token(organization)
    await issuer.replaceKey()
    const before = issuer.state.fetches
    setSystemTime(Date.now() + 6_000)
    expect(await everywhere(await issuer.token(organization))).toEqual([['ada'], 'ada', 200])
    expect(await everywhere(old)).toEqual(refusedEverywhere)
    expect(issuer.state.fetches).toBe(before + 1)
  })
})

describe('a path to a claim', () => {
  test('is checked when it is set', async () => {
    for (const [member, path] of [
      ['roles_claim', 'realm_access.'],
      ['roles_claim', 'a\\b'],
      ['organization_claim', '.org'],
    ] as const) {
      const body = { issuer: 'https://x.example', audience: 'covenant', [member]: path }
      const { status, body: problem } = await ask(service, 'PUT', '/api/v1/token-issuers/x', owner, body)
      expect([status, JSON.stringify(problem)]).toEqual([
        400,
        expect.stringContaining(`\`${member}\` must be the name of a claim`),
      ])
    }
  })

  test('leads to a name with a dot', async () => {
    await put('idp', { issuer: issuer.url, roles_claim: 'resource_access.my\\.client.roles' })
    const access = { resource_access: { 'my.client': { roles: ['steward'] } } }
    expect(await overHttp(await issuer.token(access))).toEqual(['ada', 'steward'])
  })
})

test('a claim that is set and yields nothing is counted each time, and warned of once in a while', async () => {
  const claim = 'urn:zitadel:iam:org:project:roles'
  await put('idp', { issuer: issuer.url, roles_claim: claim })
  const series = 'svc_identity_claim_missing_total{issuer="tenant",claim="roles"}'
  const warnings = () =>
    service
      .log()
      .split('\n')
      .filter((line) => line.includes('tokens of an issuer lack') && line.includes(claim))
  const before = await metric(service, series)
  expect(await overHttp(await issuer.token({ [claim]: { steward: { 1: 'acme.example' } } }))).toEqual([
    'ada',
    'steward',
  ])
  expect([(await metric(service, series)) - before, warnings().length]).toEqual([0, 0])
  for (const shape of [{}, { [claim]: { owner: true } }, { [claim]: 7 }])
    expect(await overHttp(await issuer.token({ ...shape, note: 'canary' }))).toEqual(['ada'])
  expect((await metric(service, series)) - before).toBe(3)
  expect(warnings()).toHaveLength(1)
  expect(JSON.parse(warnings()[0] ?? '')).toMatchObject({ issuer: issuer.url, tenant: ours, claim: 'roles' })
  expect(warnings()[0]).not.toContain('canary')
  // A forged token counts for nothing.
  expect(await overHttp(await foreign.token({ iss: issuer.url }))).toBe(401)
  expect((await metric(service, series)) - before).toBe(3)
})

test('a token is taken from the clients that its issuer’s trust lists, on every surface', async () => {
  const stored = await put('idp', { issuer: issuer.url, authorized_parties: ['spark', 'trino'] })
  expect(stored.authorized_parties).toEqual(['spark', 'trino'])
  for (const client of [{ azp: 'spark' }, { client_id: 'trino' }])
    expect(await everywhere(await issuer.token({ ...organization, ...client }))).toEqual([
      ['ada'],
      'ada',
      200,
    ])
  for (const client of [{ azp: 'other' }, {}, { azp: 'spark', client_id: 'other' }])
    expect(await everywhere(await issuer.token({ ...organization, ...client }))).toEqual(refusedEverywhere)
  await put('idp', { issuer: issuer.url })
  expect(await overHttp(await issuer.token({ azp: 'other', aud: ['covenant', 'account'] }))).toEqual(['ada'])
  // An ID token of another client, which has our audience as well.
  const id = { typ: 'ID', aud: ['covenant', 'web'], azp: 'web' }
  expect(await everywhere(await issuer.token({ ...organization, ...id }))).toEqual(refusedEverywhere)
})

describe('a token of 32 KiB', () => {
  const tokenMax = 32 * 1024
  /** The longest token that is taken, and the shortest that is not. */
  async function tokensAtBound() {
    let longest = ''
    for (let pad = (tokenMax * 3) / 4 - 500; ; pad++) {
      const token = await issuer.token({ ...organization, pad: 'x'.repeat(pad) })
      if (token.length > tokenMax) return [longest, token] as const
      longest = token
    }
  }

  test('is taken on every surface', async () => {
    await put('idp', { issuer: issuer.url })
    const [token] = await tokensAtBound()
    expect(token.length).toBeGreaterThan(tokenMax - 2)
    expect(await everywhere(token)).toEqual([['ada'], 'ada', 200])
    expect(await overXmla('', { Authorization: `Bearer ${token}` })).toBe(200)
  })

  test('is the largest but on the PostgreSQL wire: over HTTP and XMLA a longer one is refused with 431', async () => {
    const [, token] = await tokensAtBound()
    expect(await everywhere(token)).toEqual([431, 'ada', 431])
    expect(await overXmla('', { Authorization: `Bearer ${token}` })).toBe(431)
    for (const length of [46_000, 60_000, 200_000]) {
      expect(await overHttp('x'.repeat(length))).toBe(431)
      expect(await overXmla('', { Authorization: `Bearer ${'x'.repeat(length)}` })).toBe(431)
    }
  })

  test('is exchanged for a session of a workload', async () => {
    const administrator = await session(service, ours, ['read', 'admin'], ['owner'], 'adam')
    const trust = { issuer: issuer.url, audience: 'covenant', subject: 'ada', scopes: ['read'] }
    const path = '/api/v1/workload-trusts/spark'
    const { body } = await ask(service, 'PUT', path, administrator, {
      ...trust,
      jwks: { keys: [await issuer.jwk()] },
    })
    expect(body.jwks).toEqual([await issuer.jwk()])
    const exchange = async (token: string) => {
      const form = new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        audience: String(body.id),
      })
      const at = `/v1/iceberg/${prefix}/v1/oauth/tokens`
      const response = await call(service, 'POST', at, { body: form.toString() })
      return [response.status, ((await response.json()) as { error_description?: string }).error_description]
    }
    const [longest, longer] = await tokensAtBound()
    expect(await exchange(longest)).toEqual([200, undefined])
    expect(await exchange(longer)).toEqual([400, '`subject_token` may have 32768 characters at most.'])
    expect(await exchange(await foreign.token({ iss: issuer.url }))).toEqual([
      400,
      'The subject token is not accepted by this trust.',
    ])
  })
})

describe('access tokens of a real provider, with two audiences, a client and a key of each kind', () => {
  let provider: TokenProvider
  let theirs: TokenProvider
  beforeAll(async () => {
    const claims = { ...organization, roles: ['etl'] }
    ;[provider, theirs] = await Promise.all([
      startTokenProvider(['spark', 'other'], claims),
      startTokenProvider(['spark'], claims),
    ])
    await put('provider', { issuer: provider.issuer, authorized_parties: ['spark'] })
    await put('provider', { issuer: theirs.issuer }, theirOwner)
  })
  afterAll(async () => {
    for (const one of [provider, theirs]) await one[Symbol.asyncDispose]()
  })
  const asSpark = (token: string) => surfaces.everywhere(service, token, owner, 'spark')
  const taken = [['spark', 'etl'], 'spark', 200]
  const refused = [401, '28P01 password authentication failed for user "spark"', 401]

  test('are taken on every surface, from the client that is listed and from the own tenant’s provider alone', async () => {
    expect(await asSpark(await provider.token('spark'))).toEqual(taken)
    expect(await asSpark(await provider.token('other'))).toEqual(refused)
    expect(await asSpark(await theirs.token('spark'))).toEqual(refused)
    expect(await overHttp(await provider.token('spark'), theirOwner)).toBe(401)
  })

  test('are taken while the provider changes its keys: by the old one until it is gone, by the new one at once', async () => {
    for (const algorithm of ['Ed25519', 'ES256', 'RS256']) {
      const old = await provider.token('spark')
      await provider.rotate(algorithm, 'with the others')
      setSystemTime(Date.now() + 6_000)
      expect([algorithm, ...(await asSpark(await provider.token('spark')))]).toEqual([algorithm, ...taken])
      expect(await overHttp(old)).toEqual(['spark', 'etl'])
    }
    const old = await provider.token('spark')
    await provider.rotate('EdDSA', 'alone')
    setSystemTime(Date.now() + 6_000)
    expect(await asSpark(await provider.token('spark'))).toEqual(taken)
    expect(await asSpark(old)).toEqual(refused)
  })
})
