/** Remote signing over HTTP: who is given a ticket, what a ticket is good for, and what ends it. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { SessionScope } from '../../../src/core/session.ts'
import { rotateCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { openTicket, type SignTicket, sealTicket } from '../../../src/vending/sign/ticket.ts'
import { ask, session } from '../../support/identity.ts'
import { licenseFor } from '../../support/license.ts'
import { groupBody, patchBody, type Scim, scimClient, trustIssuer, userBody } from '../../support/scim.ts'
import {
  addTenant,
  equipTenant,
  metric,
  openUncontracted,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { messageOf, send } from '../../support/surface.ts'
import { startTableUpstream, type TableUpstream, upstreamKeys } from '../../support/table-upstream.ts'
import { enforceTerritory } from '../../support/territory.ts'

setDefaultTimeout(300_000)

let nowMs = Date.now()
let service: TestService
let upstream: TableUpstream
let tenant: TestTenant
let foreign: TestTenant

const config = {
  storage_roots: ['s3://lake'],
  'vending.mode': 'sign',
  's3.access-key-id': 'AKSIGN',
  's3.secret-access-key': 'secret-of-signatures',
  's3.endpoint': 'https://storage.example',
  's3.region': 'eu-1',
}

beforeAll(async () => {
  service = await startTestService({
    env: { SVC_LICENSE: licenseFor('vending') },
    clock: { now: () => nowMs },
  })
  upstream = startTableUpstream()
  const url = upstream.url.replace(/\/$/, '')
  tenant = await addTenant(service.store, 'signs', url, config)
  foreign = await addTenant(service.store, 'other', url, config)
  for (const { tenant: id } of [tenant, foreign]) await enforceTerritory(service.store, id)
  await openUncontracted(service.store, tenant, foreign)
  for (const name of ['orders', 'secrets']) {
    upstream.tables.set(name, { location: `s3://lake/${name}` })
    await load(name, tenant)
  }
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
})

interface Held extends TestTenant {
  readonly id: string
}
async function held(scopes: readonly SessionScope[], expiresAt?: Date): Promise<Held> {
  const principal = { sub: 'spark', roles: [] }
  const made = await createServiceSession(service.store, tenant.tenant, {
    ...{ name: 'spark', principal, scopes, expiresAt },
  })
  return { tenant: tenant.tenant, ...made }
}

const asked = { 'x-iceberg-access-delegation': 'vended-credentials, remote-signing' }
const load = (name: string, as: TestTenant, headers: Readonly<Record<string, string>> = asked) =>
  send(service, 'GET', `/namespaces/n/tables/${name}`, undefined, { tenant: as, headers })

interface Answer {
  readonly config?: Readonly<Record<string, string>>
  readonly 'remote-signing-config'?: { readonly headers: Readonly<Record<string, readonly string[]>> }
}
async function answer(response: Response): Promise<Answer> {
  const text = await response.text()
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  expect(text).not.toMatch(upstreamKeys)
  expect(text).not.toContain('secret-of-signatures')
  return JSON.parse(text)
}
const endpointOf = async (name: string, as: TestTenant) =>
  (await answer(await load(name, as))).config?.['signer.endpoint'] ?? ''

const file = (path: string) => `https://storage.example/lake/${path}`
const sign = (endpoint: string, uri: string, more: object = {}, headers: Record<string, string> = {}) =>
  fetch(new URL(`/v1/iceberg/main/${endpoint}`, service.app.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ method: 'GET', region: 'eu-1', uri, headers: {}, ...more }),
  })

describe('a loaded table', () => {
  test('has the settings of both families of clients, and no keys', async () => {
    const session = await held(['read'])
    const response = await load('orders', session)
    expect([response.headers.get('cache-control'), response.headers.has('etag')]).toEqual(['no-store', false])
    const loaded = await answer(response)
    const endpoint = loaded.config?.['signer.endpoint']
    expect(loaded.config).toEqual({
      'client.region': 'eu-1',
      's3.region': 'eu-1',
      's3.endpoint': 'https://storage.example',
      's3.path-style-access': 'true',
      's3.remote-signing-enabled': 'true',
      's3.signer': 'S3V4RestSigner',
      's3.session-token': expect.stringMatching(/^[0-9a-f]{32}$/),
      's3.signer.endpoint': String(endpoint),
      'signer.endpoint': String(endpoint),
    })
    expect(endpoint).toMatch(/^v1\/namespaces\/n\/tables\/orders\/sign\/[A-Za-z0-9_-]+$/)
    const [ticket = ''] = String(endpoint).split('/').slice(-1)
    expect(loaded['remote-signing-config']?.headers).toEqual({ 'x-svc-sign-ticket': [ticket] })
  })

  test('has none where the client asks for keys only, and /credentials is not served', async () => {
    const only = { 'x-iceberg-access-delegation': 'vended-credentials' }
    expect((await answer(await load('orders', tenant, only))).config).not.toHaveProperty('signer.endpoint')
    const path = '/namespaces/n/tables/orders/credentials'
    expect((await send(service, 'GET', path, undefined, { tenant })).status).toBe(406)
    const { endpoints } = (await (await send(service, 'GET', '/config', undefined, { tenant })).json()) as {
      endpoints: readonly string[]
    }
    expect(endpoints).toContain('POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign')
    expect(endpoints.some((one) => one.endsWith('/credentials'))).toBe(false)
  })

  test('has none where a filter or mask applies', async () => {
    await masked(async () =>
      expect((await answer(await load('orders', tenant))).config).not.toHaveProperty('signer.endpoint'),
    )
  })

  test('has one as soon as it is made, for its own place', async () => {
    const made = await send(
      service,
      'POST',
      '/namespaces/n/tables',
      { name: 'fresh', schema: { type: 'struct', fields: [] }, location: 's3://lake/fresh' },
      { tenant, headers: asked },
    )
    const endpoint = (await answer(made)).config?.['signer.endpoint'] ?? ''
    const put = { method: 'PUT' }
    expect((await sign(endpoint, file('fresh/data/a.parquet'), put)).status).toBe(200)
    expect((await sign(endpoint, file('orders/data/a.parquet'), put)).status).toBe(403)
  })
})

/** Works while a mask applies to everyone. */
async function masked(work: () => Promise<unknown>): Promise<void> {
  const { sightFor } = service.app.gateway
  Object.assign(service.app.gateway, { sightFor: async () => ({ masked: true, uncontracted: undefined }) })
  try {
    await work()
  } finally {
    Object.assign(service.app.gateway, { sightFor })
  }
}

describe('a ticket', () => {
  test('signs for a writer in the folders of its table, and lets no client use a signature again', async () => {
    const endpoint = await endpointOf('orders', await held(['commit']))
    const got = await sign(endpoint, file('orders/data/a.parquet'))
    expect([got.status, got.headers.get('cache-control')]).toEqual([200, 'no-cache'])
    const { uri, headers } = (await got.json()) as { uri: string; headers: Record<string, string[]> }
    expect(uri).toBe(file('orders/data/a.parquet'))
    expect(headers.authorization?.[0]).toStartWith('AWS4-HMAC-SHA256 Credential=AKSIGN/')
    const put = await sign(endpoint, file('orders/data/a.parquet'), { method: 'PUT' })
    expect([put.status, put.headers.get('cache-control')]).toEqual([200, 'no-cache'])
    for (const [path, more] of [
      ['secrets/data/a.parquet', {}],
      ['orders/data/a.parquet', { method: 'DELETE' }],
      ['orders/data/a.parquet?acl', {}],
      ['orders/data/a.parquet', { method: 'PUT', headers: { 'x-amz-copy-source': ['lake/secrets/a'] } }],
      ['orders/data/a.parquet', { headers: { 'x-amz-date': ['20200101T000000Z'] } }],
    ] as const) {
      const before = await metric(service, 'svc_requests_signed_total{outcome="refused"}')
      const refused = await sign(endpoint, file(path), more)
      expect([path, refused.status]).toEqual([path, 403])
      expect(await messageOf(refused)).toStartWith('policy denied: the request to storage ')
      expect(await metric(service, 'svc_requests_signed_total{outcome="refused"}')).toBe(before + 1)
    }
  })

  test('lets a client use signatures of reads again where the catalog says so, and no others', async () => {
    const caching = await addTenant(service.store, 'caches', upstream.url.replace(/\/$/, ''), {
      ...config,
      'vending.cache-signatures': true,
    })
    const endpoint = await endpointOf('orders', caching)
    for (const [method, told] of [
      ['GET', 'private'],
      ['HEAD', 'private'],
      ['PUT', 'no-cache'],
    ]) {
      const signed = await sign(endpoint, file('orders/data/a.parquet'), { method })
      expect([method, signed.status, signed.headers.get('cache-control')]).toEqual([method, 200, told])
    }
  })

  test('signs for a reader what its snapshot holds, and no more', async () => {
    const endpoint = await endpointOf('orders', await held(['read']))
    // The table has no snapshot, so its metadata file is all that there is.
    expect((await sign(endpoint, file('orders/metadata/1.json'))).status).toBe(200)
    expect((await sign(endpoint, file('orders/data/a.parquet'))).status).toBe(403)
    expect((await sign(endpoint, file('orders/metadata/1.json'), { method: 'PUT' })).status).toBe(403)
  })

  test('is of its own session, whatever session is sent beside it', async () => {
    const session = await held(['commit'])
    const endpoint = await endpointOf('orders', session)
    for (const beside of [{}, { 'x-svc-session': foreign.secret }, { 'x-svc-session': 'svc_none' }])
      expect((await sign(endpoint, file('orders/a'), {}, beside)).status).toBe(200)
    await revokeServiceSession(service.store, tenant.tenant, session.id)
    for (const beside of [{}, { 'x-svc-session': tenant.secret }])
      expect((await sign(endpoint, file('orders/a'), {}, beside)).status).toBe(401)
  })

  test('may be in a header, for clients that know the path themselves', async () => {
    const endpoint = await endpointOf('orders', await held(['commit']))
    const [path = '', ticket = ''] = endpoint.split(/(?<=\/sign)\//)
    expect((await sign(path, file('orders/a'), {}, { 'x-svc-sign-ticket': ticket })).status).toBe(200)
    const session = { 'x-svc-session': tenant.secret }
    expect((await sign(path, file('orders/a'), {}, session)).status).toBe(406)
  })

  test('is good for its own table and catalog, until it expires', async () => {
    const endpoint = await endpointOf('orders', await held(['commit'], new Date(nowMs + 3_600_000)))
    for (const wrong of [
      endpoint.replace('/orders/', '/secrets/'),
      endpoint.replace('/n/', '/m/'),
      endpoint.slice(0, -4),
      `${endpoint}AAAA`,
    ])
      expect((await sign(wrong, file('orders/a'))).status).toBe(401)
    expect((await sign(endpoint, file('orders/a'))).status).toBe(200)
    nowMs += 3_601_000
    expect((await sign(endpoint, file('orders/a'))).status).toBe(401)
    nowMs = Date.now()
  })

  test('is worth nothing once a filter or mask applies, or the catalog signs no more', async () => {
    const endpoint = await endpointOf('orders', await held(['commit']))
    await masked(async () => expect((await sign(endpoint, file('orders/a'))).status).toBe(403))
    expect((await sign(endpoint, file('orders/a'))).status).toBe(200)
    await rotateCatalogCredential(service.store, tenant.tenant, 'main', { 'vending.mode': 'none' })
    expect((await sign(endpoint, file('orders/a'))).status).toBe(403)
    await rotateCatalogCredential(service.store, tenant.tenant, 'main', { 'vending.mode': 'sign' })
  })

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['no uri', '{"method":"GET"}'],
    ['headers that are none', '{"method":"GET","uri":"x","headers":[]}'],
    ['headers that are no lists', '{"method":"GET","uri":"x","headers":{"a":1}}'],
    ['another storage', '{"method":"GET","uri":"x","provider":"gcs"}'],
  ])('with a body of %s is 400', async (_, body) => {
    const endpoint = await endpointOf('orders', tenant)
    const url = new URL(`/v1/iceberg/main/${endpoint}`, service.app.url)
    expect((await fetch(url, { method: 'POST', body })).status).toBe(400)
    const large = await fetch(url, { method: 'POST', body: 'x'.repeat(70_000) })
    expect(large.status).toBe(413)
  })
})

describe('the ticket of a person, whose token is sent beside a service session', () => {
  let owner: string
  let scim: Scim
  let own: TestTenant
  let token: Awaited<ReturnType<typeof trustIssuer>>
  beforeAll(async () => {
    const { store } = service
    const { id } = await makeTenant(store, { name: 'people', organizationId: 'org_people' })
    own = await equipTenant(store, id, 'people', upstream.url.replace(/\/$/, ''), config)
    await enforceTerritory(store, id)
    await openUncontracted(store, own)
    owner = await session(service, id, ['read', 'admin'], ['owner'], 'olga')
    token = await trustIssuer(service, owner, 'org_people')
    scim = await scimClient(service, id)
    await load('orders', own, nobody)
  })

  const nobody = { ...asked, authorization: 'Bearer None' }
  const provision = async (name: string) => {
    const emails = [{ value: `${name}@people.example`, primary: true }]
    const { body } = await scim('POST', '/Users', userBody(name, { emails }))
    return ['', 'Users', body.id].join('/')
  }
  const match = async (claim: string, attribute: string, from: string) => {
    const settings = { claim, attribute, roles_from: from }
    expect((await ask(service, 'PUT', '/api/v1/provisioning', owner, settings)).status).toBe(200)
  }
  const endpointFor = async (claims: object) => {
    const headers = { ...asked, authorization: `Bearer ${await token(claims)}` }
    return (await answer(await load('orders', own, headers))).config?.['signer.endpoint'] ?? ''
  }
  const signs = async (endpoint: string) => (await sign(endpoint, file('orders/a'))).status
  const olderThan = (endpoint: string) => {
    const [path = '', text = ''] = endpoint.split(/(?<=\/sign)\//)
    const { source: _, email: __, ...ticket } = openTicket(service.store, text) as SignTicket
    return `${path}/${sealTicket(service.store.secretsKey, ticket)}`
  }
  const off = patchBody({ op: 'replace', path: 'active', value: false })

  test.each([
    ['sub', 'userName'],
    ['email', 'email'],
  ] as const)('signs nothing once the person has left, matched by %s', async (claim, attribute) => {
    await match(claim, attribute, 'token')
    const [ada, grace] = [`ada-${claim}`, `grace-${claim}`]
    const path = await provision(ada)
    await provision(grace)
    const claims = (name: string) => ({ sub: claim === 'sub' ? name : '0f', email: `${name}@people.example` })
    const [hers, other] = [await endpointFor(claims(ada)), await endpointFor(claims(grace))]
    const alone = (await answer(await load('orders', own, nobody))).config?.['signer.endpoint'] ?? ''
    expect([await signs(hers), await signs(other), await signs(alone)]).toEqual([200, 200, 200])
    // One of an older version says nothing of an address: its holder is known by the subject alone.
    const older = olderThan(hers)
    expect(await signs(older)).toBe(claim === 'sub' ? 200 : 401)
    await scim('PATCH', path, off)
    expect(await signs(older)).toBe(401)
    const refused = await sign(hers, file('orders/a'))
    expect(refused.status).toBe(401)
    expect(await messageOf(refused)).toContain('the person is not active')
    await scim('DELETE', path)
    expect([await signs(hers), await signs(other), await signs(alone)]).toEqual([401, 200, 200])
  })

  test('has the roles that the person’s groups give now, and not those of the token', async () => {
    await match('sub', 'userName', 'groups')
    const path = await provision('carol')
    const group = await scim('POST', '/Groups', groupBody('analyst', [path.split('/')[2] ?? '']))
    const endpoint = await endpointFor({ sub: 'carol', roles: ['owner'] })
    const seen: (readonly string[])[] = []
    const { sightFor } = service.app.gateway
    const noting: typeof sightFor = (tenant, table, identified) => {
      seen.push(identified.principal.roles)
      return sightFor(tenant, table, identified)
    }
    Object.assign(service.app.gateway, { sightFor: noting })
    expect(await signs(endpoint)).toBe(200)
    await scim('DELETE', `/Groups/${group.body.id}`)
    expect(await signs(endpoint)).toBe(200)
    Object.assign(service.app.gateway, { sightFor })
    expect(seen).toEqual([['analyst'], []])
  })
})

test('without a license for it no ticket is given', async () => {
  await using bare = await startTestService()
  const own = await addTenant(bare.store, 'unlicensed', upstream.url.replace(/\/$/, ''), config)
  const loaded = await send(bare, 'GET', '/namespaces/n/tables/orders', undefined, {
    tenant: own,
    headers: asked,
  })
  expect((await answer(loaded)).config).not.toHaveProperty('signer.endpoint')
})
