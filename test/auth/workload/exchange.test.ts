/** The exchange of a workload's token for a session: what a trust gives, and every token that it must refuse. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { tokenIssuer } from '../../../src/auth/access-token.ts'
import { issuerKeys } from '../../../src/auth/workload/issuer-keys.ts'
import { subjectFits } from '../../../src/core/workload-trust.ts'
import { suspendTenant } from '../../../src/store/tenant/tenants.ts'
import { allowing } from '../../support/address-rules.ts'
import { ask, call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { addTenant, metric, prefix, type TestTenant } from '../../support/service.ts'

setDefaultTimeout(60_000)

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const jwtType = 'urn:ietf:params:oauth:token-type:jwt'
const subject = 'system:serviceaccount:analytics:spark-nightly'

/** An issuer of workload tokens, as a cluster is one. */
async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const state = { fetches: 0, isDown: false, claimed: '' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      state.fetches++
      if (state.isDown) return new Response(null, { status: 503 })
      const { pathname, origin } = new URL(request.url)
      if (pathname === '/keys') return Response.json({ keys: [jwk] })
      if (pathname !== '/.well-known/openid-configuration') return new Response(null, { status: 404 })
      return Response.json({ issuer: state.claimed || origin, jwks_uri: `${origin}/keys` })
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  const token = (claims: object = {}, header: object = {}, key: typeof privateKey = privateKey) =>
    new SignJWT({
      ...{ iss: url, aud: ['covenant'], sub: subject, exp: Math.floor(Date.now() / 1000) + 600 },
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'one', ...header })
      .sign(key)
  return { url, jwk, state, token, stop: () => server.stop(true) }
}

type Issuer = Awaited<ReturnType<typeof startIssuer>>

let service: IdentityService
let foreign: TestTenant
let issuer: Issuer
let stranger: Issuer
let owner: string
let administrator: string
let trust: { readonly id: string; readonly sub: string }

beforeAll(async () => {
  issuer = await startIssuer()
  stranger = await startIssuer()
  service = await startIdentityService()
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  const { tenant } = service.owner
  owner = await session(service, tenant, ['read', 'admin'], ['owner'], 'olga')
  administrator = await session(service, tenant, ['read', 'admin'], ['administrator', 'etl'], 'adam')
  trust = await put('spark')
}, 300_000)
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  for (const one of [issuer, stranger]) await one.stop()
})

const wanted = (changes: object = {}) => ({
  ...{ issuer: issuer.url, audience: 'covenant', subject: 'system:serviceaccount:analytics:spark-*' },
  ...{ scopes: ['commit', 'read'], roles: ['etl'] },
  ...changes,
})
async function put(name: string, changes: object = {}, secret = administrator) {
  const { status, body } = await ask(
    service,
    'PUT',
    `/api/v1/workload-trusts/${name}`,
    secret,
    wanted(changes),
  )
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as { readonly id: string; readonly sub: string }
}
async function exchange(token: string, audience: string, more: object = {}, at = prefix) {
  const body = new URLSearchParams({
    ...{ grant_type: exchangeGrant, subject_token: token, subject_token_type: jwtType, audience },
    ...more,
  })
  const response = await call(service, 'POST', `/v1/iceberg/${at}/v1/oauth/tokens`, { body: body.toString() })
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}
const whoami = async (token: unknown) => {
  const response = await call(service, 'GET', '/api/v1/session', {
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const refused = {
  error: 'invalid_request',
  error_description: 'The subject token is not accepted by this trust.',
}

describe('an exchange', () => {
  test('gives a token of a session with the name, roles and scopes of the trust, whatever the token claims', async () => {
    const token = await issuer.token({
      roles: ['owner'],
      groups: ['administrator'],
      email: 'root@example.com',
    })
    const { status, body } = await exchange(token, trust.id)
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.any(String),
        token_type: 'bearer',
        expires_in: 3_600,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        scope: 'commit read',
      } as never,
    })
    expect((await whoami(body.access_token)).body).toMatchObject({
      tenant: service.owner.tenant,
      session_kind: 'service',
      session_created_by: subject,
      scopes: ['commit', 'read'],
      principal: { sub: 'service:spark', roles: ['etl'] },
    })
  })

  test('gives no more scopes than are asked for, and none beyond the trust', async () => {
    expect((await exchange(await issuer.token(), trust.id, { scope: 'read' })).body.scope).toBe(
      'read' as never,
    )
    const beyond = await exchange(await issuer.token(), trust.id, { scope: 'admin' })
    expect([beyond.status, beyond.body.error]).toEqual([400, 'invalid_scope' as never])
  })

  test('is on record with the workload, the trust and the request', async () => {
    await exchange(await issuer.token({ sub: `${subject}-7` }), trust.id)
    const { body } = await ask(
      service,
      'GET',
      '/api/v1/administration?action=exchange-session&limit=1',
      administrator,
    )
    expect(body.items).toMatchObject([
      {
        actor: { sub: `${subject}-7`, source: 'exchange' },
        subject: { trust: trust.id, name: 'spark' },
        value: { sub: 'service:spark', roles: ['etl'], issuer: issuer.url },
      },
    ])
  })

  test('makes a session whose secret nobody has, and which ends within the hour', async () => {
    await exchange(await issuer.token(), trust.id)
    const [row] = await service.store.adminQuery<{ readonly minutes: number; readonly scram: string | null }>(
      `select extract(epoch from expires_at - created_at)::float8 / 60 as minutes, scram_verifier as scram
       from svc.service_session where trust_id = $1 limit 1`,
      [trust.id],
    )
    expect(row).toEqual({ minutes: 60, scram: null })
  })

  test('finds the keys at an address, and takes keys that are given', async () => {
    const at = await put('at-address', { jwks_url: `${issuer.url}/keys`, issuer: 'urn:cluster' })
    expect((await exchange(await issuer.token({ iss: 'urn:cluster' }), at.id)).status).toBe(200)
    const given = await put('given', { jwks: [stranger.jwk], issuer: 'urn:offline' })
    expect((await exchange(await stranger.token({ iss: 'urn:offline' }), given.id)).status).toBe(200)
    expect((await exchange(await issuer.token({ iss: 'urn:offline' }), given.id)).body).toEqual(
      refused as never,
    )
  })

  test('of a token that is of no account fetches no key', async () => {
    const fresh = await startIssuer()
    try {
      const other = await put('fresh', { issuer: fresh.url })
      await exchange(await issuer.token(), other.id)
      await exchange(await fresh.token(), crypto.randomUUID())
      expect(fresh.state.fetches).toBe(0)
      // While the keys cannot be had, nobody was refused.
      fresh.state.isDown = true
      expect((await exchange(await fresh.token(), other.id)).status).toBe(503)
    } finally {
      await fresh.stop()
    }
  })

  test('under the prefix of no catalog of the tenant is refused', async () => {
    expect((await exchange(await issuer.token(), trust.id, {}, 'other')).body).toEqual(refused as never)
  })

  test('for scopes that the trust does not give is 400 and makes no session', async () => {
    const sessions = async () =>
      (
        await service.store.tenantQuery<{ readonly n: number }>(
          service.owner.tenant,
          'select count(*)::int as n from svc.service_session where trust_id is not null',
        )
      )[0]?.n
    const before = await sessions()
    const { status, body } = await exchange(await issuer.token(), trust.id, { scope: 'admin' })
    expect([status, body.error]).toEqual([400, 'invalid_scope' as never])
    expect(await sessions()).toBe(before)
    // Only who has a valid token is told.
    const stranger = await exchange('x.y.z', trust.id, { scope: 'admin' })
    expect(stranger.body).toEqual(refused as never)
  })

  test.each([
    ['no audience', { audience: '' }],
    ['another type of token', { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' }],
    ['no token', { subject_token: '' }],
    ['a token that is too long', { subject_token: 'x'.repeat(32_769) }],
    ['another type of answer', { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }],
    ['an actor', { actor_token: 'x' }],
  ])('with %s is 400 and says why', async (_, more) => {
    const { status, body } = await exchange(await issuer.token(), trust.id, more)
    expect([status, body.error]).toEqual([400, 'invalid_request' as never])
    expect(body.error_description).not.toBe(refused.error_description as never)
  })
})

const seconds = () => Math.floor(Date.now() / 1000)
const wrong: Readonly<Record<string, () => Promise<string> | string>> = {
  'for another audience': () => issuer.token({ aud: 'another' }),
  'without an audience': () => issuer.token({ aud: undefined }),
  'of another subject': () => issuer.token({ sub: 'system:serviceaccount:sales:spark-nightly' }),
  'whose subject begins like the pattern alone': () => issuer.token({ sub: `x${subject}` }),
  'without a subject': () => issuer.token({ sub: undefined }),
  'without an end': () => issuer.token({ exp: undefined }),
  'that has ended': () => issuer.token({ exp: seconds() - 61 }),
  'of later': () => issuer.token({ nbf: seconds() + 120 }),
  'of another issuer': () => stranger.token(),
  'that names the issuer and is signed by another': () => stranger.token({ iss: issuer.url }),
  'without a signature': () =>
    new UnsecuredJWT({ iss: issuer.url, aud: 'covenant', sub: subject, exp: seconds() + 600 }).encode(),
  'signed by the public key as a shared secret': async () =>
    await new SignJWT({ iss: issuer.url, aud: 'covenant', sub: subject, exp: seconds() + 600 })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(new TextEncoder().encode(JSON.stringify(issuer.jwk))),
  'that carries its own key': async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    return await issuer.token({}, { jwk: await exportJWK(publicKey) }, privateKey)
  },
  'that names the address of its key': async () => {
    const { privateKey } = await generateKeyPair('RS256')
    return await issuer.token({}, { jku: `${stranger.url}/keys` }, privateKey)
  },
  'for a logout': () => issuer.token({ events: {} }),
  'of the type of a logout': () => issuer.token({}, { typ: 'logout+jwt' }),
  'for a refresh': () => issuer.token({ typ: 'Refresh' }),
  'that is none': () => 'x.y.z',
}

describe('a token', () => {
  test.each(Object.keys(wrong))('%s is refused, counted and not quoted', async (name) => {
    const counted = () => metric(service, 'svc_credentials_refused_total{kind="exchanged_token"}')
    const [before, token] = [await counted(), (await wrong[name]?.()) ?? '']
    expect(await exchange(token, trust.id)).toEqual({ status: 400, body: refused as never })
    expect(await counted()).toBe(before + 1)
    expect(service.log()).not.toContain(token)
  })

  test('of this service is not exchanged', async () => {
    const { body } = await exchange(await issuer.token(), trust.id)
    const again = await exchange(String(body.access_token), trust.id)
    expect(again.body.error).toBe('unsupported_grant_type' as never)
    const posing = await issuer.token({ iss: tokenIssuer })
    expect((await exchange(posing, trust.id)).status).toBe(400)
  })
})

describe('a tenant', () => {
  test('is entered by its own trusts alone, also where another trusts the same issuer and audience', async () => {
    const theirs = await session(service, foreign.tenant, ['read', 'admin'], ['owner'], 'theo')
    const other = await put('spark', { subject: '*spark*' }, theirs)
    const own = await exchange(await issuer.token(), trust.id)
    expect((await whoami(own.body.access_token)).body.tenant).toBe(service.owner.tenant)
    const elsewhere = await exchange(await issuer.token(), other.id)
    expect((await whoami(elsewhere.body.access_token)).body.tenant).toBe(foreign.tenant)
    const listed = await ask(service, 'GET', '/api/v1/workload-trusts', theirs)
    expect(JSON.stringify(listed.body)).not.toContain(trust.id)
    expect((await ask(service, 'DELETE', '/api/v1/workload-trusts/given', theirs)).status).toBe(404)
    // Its tokens open nothing of this one.
    const at = `/v1/iceberg/${prefix}/v1/namespaces/sales/tables/orders`
    expect(JSON.stringify(own.body)).not.toContain(foreign.tenant)
    expect(
      (await call(service, 'GET', at, { headers: { authorization: `Bearer ${own.body.access_token}` } }))
        .status,
    ).toBe(200)
  })

  test('that is suspended takes no exchange', async () => {
    const gone = await addTenant(service.store, 'gone', service.catalog.url)
    const secret = await session(service, gone.tenant, ['read', 'admin'], ['owner'], 'gus')
    const its = await put('spark', {}, secret)
    await suspendTenant(service.store, gone.tenant)
    expect((await exchange(await issuer.token(), its.id)).body).toEqual(refused as never)
  })
})

describe('a trust', () => {
  test('ends its sessions, and no others, when it is changed and when it is removed', async () => {
    const short = await put('short')
    const first = (await exchange(await issuer.token(), short.id)).body.access_token
    const kept = (await exchange(await issuer.token(), trust.id)).body.access_token
    expect((await put('short', { scopes: ['read'] })).id).toBe(short.id)
    expect((await whoami(first)).status).toBe(401)
    const second = (await exchange(await issuer.token(), short.id)).body.access_token
    expect((await whoami(second)).body.scopes).toEqual(['read'])
    expect((await ask(service, 'DELETE', '/api/v1/workload-trusts/short', administrator)).status).toBe(204)
    expect((await whoami(second)).status).toBe(401)
    expect((await exchange(await issuer.token(), short.id)).body).toEqual(refused as never)
    expect((await whoami(kept)).status).toBe(200)
  })

  test('gives no role that its administrator does not hold, unless an owner gives it', async () => {
    const path = '/api/v1/workload-trusts/strong'
    for (const roles of [['owner'], ['steward'], ['etl', 'other']])
      expect((await ask(service, 'PUT', path, administrator, wanted({ roles }))).status).toBe(403)
    expect((await ask(service, 'PUT', path, owner, wanted({ roles: ['steward'] }))).status).toBe(200)
    // Nor may an administrator open one that an owner made to other workloads.
    expect((await ask(service, 'PUT', path, administrator, wanted({ roles: ['steward'] }))).status).toBe(403)
  })

  test('never gives the name of a person', async () => {
    expect((await put('poser', { sub: 'ada@example.com' })).sub).toBe('service:ada@example.com')
  })

  test.each([
    ['a pattern that fits everything', { subject: '**' }],
    ['an issuer by http that the operator does not allow', { issuer: 'http://oidc.example' }],
    ['an address with a password', { jwks_url: 'https://u:p@oidc.example/keys' }],
    ['an address of another scheme', { jwks_url: 'file:///etc/passwd' }],
    ['keys and an address', { jwks_url: 'https://oidc.example/keys', jwks: [{ kty: 'RSA' }] }],
    ['a shared secret as its key', { jwks: [{ kty: 'oct', k: 'c2VjcmV0' }] }],
    ['a private key', { jwks: [{ kty: 'EC', d: 'x' }] }],
    ['no scope', { scopes: [] }],
  ])('with %s is 400', async (_, changes) => {
    const { status } = await ask(
      service,
      'PUT',
      '/api/v1/workload-trusts/bad',
      administrator,
      wanted(changes),
    )
    expect(status).toBe(400)
  })
})

describe('the keys of an issuer', () => {
  const clock = { now: () => Date.now() }

  test('are not those of a document that names another issuer', async () => {
    stranger.state.claimed = issuer.url
    try {
      const find = issuerKeys({ addressRules: allowing('127.0.0.0/8'), clock })
      await expect(find({ kind: 'discovery', issuer: stranger.url })).rejects.toThrow('could not be loaded')
    } finally {
      stranger.state.claimed = ''
    }
  })

  test('are not fetched from an address that the operator does not allow', async () => {
    const find = issuerKeys({ addressRules: allowing(), clock })
    const before = issuer.state.fetches
    await expect(find({ kind: 'discovery', issuer: issuer.url })).rejects.toThrow('could not be loaded')
    expect(issuer.state.fetches).toBe(before)
  })

  test('are asked for once in the seconds after a failure', async () => {
    stranger.state.isDown = true
    try {
      const find = issuerKeys({ addressRules: allowing('127.0.0.0/8'), clock: { now: () => 0 } })
      const before = stranger.state.fetches
      for (let i = 0; i < 5; i++)
        await expect(find({ kind: 'discovery', issuer: stranger.url })).rejects.toThrow('could not be loaded')
      expect(stranger.state.fetches).toBe(before + 1)
    } finally {
      stranger.state.isDown = false
    }
  })
})

test.each([
  ['a', 'a', true],
  ['a', 'ab', false],
  ['a*', 'a', true],
  ['a*b', 'ab', true],
  ['a*b', 'aXbY', false],
  ['ab*ba', 'aba', false],
  ['*a*a*', 'a', false],
  ['*a*a*', 'xaya', true],
  ['a.c', 'abc', false],
  ['a*', 'A', false],
])('the pattern %s on %s: %p', (pattern, text, fits) => {
  expect(subjectFits(pattern, text)).toBe(fits)
})
