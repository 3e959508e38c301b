import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { SightFor } from '../../../src/gateway/base/parts.ts'
import { answerClient } from '../../../src/gateway/client-surface/client-surface.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { findServiceSession } from '../../../src/store/session/sessions.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import {
  addTenant,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

const location = 's3://lake/t/metadata/1.json'
/** Written as no serializer of ours would write it, so that a byte that changed shows. */
const metadata = `{ "format-version":2,  "table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1", "big":9007199254740993, "x":1.50, "location":"s3://lake/t", "last-column-id":0, "schemas":[{"schema-id":0,"type":"struct","fields":[]}], "current-schema-id":0, "partition-specs":[{"spec-id":0,"fields":[]}], "default-spec-id":0, "properties":{"config":"{\\"token\\":1}"} }`
const leaks = {
  uri: 'http://upstream.internal/api',
  prefix: 'the-upstream-catalog',
  token: 'upstream-token',
  credential: 'id:upstream-secret',
  'oauth2-server-uri': 'http://upstream.internal/tokens',
  's3.signer.uri': 'http://upstream.internal/sign',
  's3.signer.endpoint': 'sign',
  's3.remote-signing-enabled': 'true',
  'client.refresh-credentials-endpoint': 'http://upstream.internal/refresh',
  'gcs.oauth2.refresh-credentials-endpoint': 'http://upstream.internal/refresh',
  'adls.refresh-credentials-endpoint': 'http://upstream.internal/refresh',
  'urn:ietf:params:oauth:token-type:jwt': 'upstream-token',
  'header.authorization': 'upstream-token',
  'io-impl': 'com.upstream.internal.Impl',
}
const settings = { 'client.region': 'eu-1', 's3.endpoint': 'https://s3.example' }
const secrets = { 's3.access-key-id': 'AK', 's3.secret-access-key': 'upstream-key', 's3.session-token': 'ST' }
const config = { ...leaks, ...settings, ...secrets }
const vended = [{ prefix: 's3://lake/t', config: { ...secrets, ...leaks } }]
const signing = { 'remote-signing-config': { uri: 'http://upstream.internal/sign' } }

function tableResult(): string {
  const rest = JSON.stringify({ config, 'storage-credentials': vended, ...signing, future: leaks }).slice(1)
  return `{"metadata-location":"${location}","metadata":${metadata},${rest}`
}

let service: TestService
let upstream: TestUpstream
let tenant: TestTenant
/** Headers of the requests that reached the upstream, by `METHOD path`. */
const received = new Map<string, Headers>()

beforeAll(async () => {
  service = await startTestService()
  upstream = startUpstream(
    async (request, path) => {
      received.set(`${request.method} ${path}`, request.headers)
      if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
      if (path.endsWith('/credentials')) return Response.json({ 'storage-credentials': vended, ...signing })
      if (path.endsWith('/plan'))
        return Response.json({
          status: 'completed',
          'plan-id': 'p',
          'storage-credentials': vended,
          future: leaks,
        })
      if (path.endsWith('/missing'))
        return Response.json(
          {
            error: { message: 'Not here; upstream-token was fine', type: 'NoSuchTableException', code: 404 },
          },
          { status: 404 },
        )
      if (path.endsWith('/redirect'))
        return new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/' } })
      if (request.headers.get('if-none-match') === '"e1"') return new Response(null, { status: 304 })
      return new Response(tableResult(), {
        headers: { etag: '"e1"', 'set-cookie': 'a=upstream-token', server: 'upstream.internal' },
      })
    },
    {
      defaults: config,
      overrides: { uri: 'http://upstream.internal/api' },
      'idempotency-key-lifetime': 'PT30M',
    },
  )
  tenant = await addTenant(service.store, 'leaky', upstream.url.replace(/\/$/, ''), {
    storage_roots: ['s3://lake'],
  })
})
afterAll(async () => {
  await upstream.stop()
  await service[Symbol.asyncDispose]()
})

const table = '/namespaces/n/tables/t'
const delegated = { 'x-iceberg-access-delegation': 'vended-credentials' }

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return send(service, 'GET', path, undefined, { tenant, headers })
}

function expectNoLeak(response: Response, text: string): void {
  expect(text).not.toMatch(/upstream\.internal|upstream-token|upstream-secret|signer|signing|refresh|future/)
  expect(JSON.stringify([...response.headers])).not.toMatch(/upstream|cookie/)
}

describe('the configuration', () => {
  test('overrides neither uri nor prefix and tells nothing of the upstream', async () => {
    const response = await get('/config?warehouse=anything')
    const text = await response.text()
    expectNoLeak(response, text)
    expect(text).not.toContain('the-upstream-catalog')
    expect(JSON.parse(text)).toMatchObject({ defaults: {}, overrides: {} })
  })

  test('promises that a request may be repeated by its Idempotency-Key for 24 hours, whatever the upstream does', async () => {
    expect(await (await get('/config')).json()).toMatchObject({ 'idempotency-key-lifetime': 'PT24H' })
  })

  test('lists what the OpenAPI document lets clients assume where the upstream does not say', async () => {
    const { endpoints } = (await (await get('/config')).json()) as { endpoints: string[] }
    expect(endpoints).toContain('GET /v1/{prefix}/namespaces/{namespace}/tables/{table}')
    expect(endpoints).not.toContain('GET /v1/{prefix}/namespaces/{namespace}/views')
    expect(endpoints).not.toContain('POST /v1/{prefix}/transactions/commit')
  })

  test('is 404 for a prefix of another tenant and 502 where the upstream is down', async () => {
    const down = await addTenant(service.store, 'down', 'http://127.0.0.1:9')
    expect((await send(service, 'GET', '/config', undefined, { tenant: down })).status).toBe(502)
    const response = await fetch(new URL('/v1/iceberg/nobodys/v1/config', service.app.url), {
      headers: { 'x-svc-session': tenant.secret },
    })
    expect(response.status).toBe(404)
  })
})

describe('a loaded table', () => {
  test('keeps its metadata byte for byte and only settings that are no secret', async () => {
    const response = await get(table)
    const text = await response.text()
    expect(text).toStartWith(`{"metadata-location":"${location}","metadata":${metadata},"config":`)
    expectNoLeak(response, text)
    expect(JSON.parse(text).config).toEqual(settings)
    expect(text).not.toContain('storage-credentials')
    expect(response.headers.get('etag')).toBe('"e1"')
  })

  test('comes with credentials where the catalog vends them and the request asks', async () => {
    const response = await get(table, delegated)
    const body = JSON.parse(await response.text())
    expect(body.config).toEqual({ ...settings, ...secrets })
    expect(body['storage-credentials']).toEqual([{ prefix: 's3://lake/t', config: secrets }])
    expectNoLeak(response, JSON.stringify(body))
    expect(
      received.get('GET /v1/the-upstream-catalog/namespaces/n/tables/t')?.get('x-iceberg-access-delegation'),
    ).toBe('vended-credentials')
  })

  test('comes without credentials from a catalog that does not vend, whatever the request asks', async () => {
    const beta = await addTenant(service.store, 'beta', upstream.url)
    await putCatalogCredential(service.store, beta.tenant, {
      nickname: prefix,
      kind: 'beta',
      endpoint: upstream.url,
      config: { warehouse: 'dev' },
    })
    received.clear()
    const response = await send(service, 'GET', table, undefined, { tenant: beta, headers: delegated })
    expect(JSON.parse(await response.text()).config).toEqual(settings)
    expect([...received.values()].some((headers) => headers.has('x-iceberg-access-delegation'))).toBe(false)
    const credentials = await send(service, 'GET', `${table}/credentials`, undefined, { tenant: beta })
    expect(credentials.status).toBe(406)
  })

  test('is 304 where the client has it already', async () => {
    const response = await get(table, { 'if-none-match': '"e1"' })
    expect(response.status).toBe(304)
    expect(response.headers.get('etag')).toBe('"e1"')
    expect(await response.text()).toBe('')
  })

  test('is asked for with the client’s choice of snapshots, and no other', async () => {
    await get(`${table}?snapshots=refs&evil=1`)
    expect(upstream.seen).toContain('GET /v1/the-upstream-catalog/namespaces/n/tables/t?snapshots=refs')
    expect((await get(`${table}?snapshots=some`)).status).toBe(400)
  })
})

test('vended credentials and scan plans pass without addresses of the upstream', async () => {
  const credentials = await get(`${table}/credentials`)
  expect(await credentials.json()).toEqual({
    'storage-credentials': [{ prefix: 's3://lake/t', config: secrets }],
  })
  const planned = await send(service, 'POST', `${table}/plan`, {}, { tenant })
  expect(await planned.json()).toEqual({ status: 'completed', 'plan-id': 'p' })
})

test('a view is stripped like a table', async () => {
  const response = await get('/namespaces/n/views/v')
  const text = await response.text()
  expectNoLeak(response, text)
  expect(text).toContain(metadata)
})

test('the client’s own credentials, session and cookies never reach the upstream', async () => {
  received.clear()
  await get(table, { cookie: 'c=1', 'x-forwarded-for': '1.2.3.4', 'x-svc-principal': 'eve' })
  const headers = received.get('GET /v1/the-upstream-catalog/namespaces/n/tables/t')
  expect(headers?.get('authorization')).toBe('Bearer upstream-token')
  for (const name of ['x-svc-session', 'cookie', 'x-forwarded-for', 'x-svc-principal'])
    expect(headers?.has(name)).toBe(false)
})

test('an upstream’s refusal is told with its type, and without our token; its redirect is not followed', async () => {
  const missing = await get('/namespaces/n/functions/missing')
  expect(missing.status).toBe(404)
  const { error } = (await missing.json()) as { error: { message: string; type: string } }
  expect(error).toMatchObject({ type: 'NoSuchTableException', message: 'Not here; … was fine' })
  expect((await get('/namespaces/n/functions/redirect')).status).toBe(502)
})

describe('where a filter or mask applies', () => {
  async function masked(
    path: string,
    init: RequestInit = {},
    sightFor: SightFor = async () => ({ masked: true, uncontracted: undefined }),
  ): Promise<Response> {
    const request = new Request(new URL(`/v1/iceberg/${prefix}/v1${path}`, service.app.url).href, {
      ...init,
      headers: { 'x-svc-session': tenant.secret, ...delegated, ...init.headers },
    })
    return await answerClient({ ...service.app.gateway, sightFor }, request, {
      findSession: (secret) => findServiceSession(service.store, secret),
      identify: async () => ({ principal: { sub: 'ada', roles: [] }, source: 'session', verified: true }),
    })
  }

  test('a loaded table holds neither credentials nor settings, and is neither conditional nor tagged', async () => {
    received.clear()
    const response = await masked(table, { headers: { 'if-none-match': '"e1"' } })
    expect(response.status).toBe(200)
    expect(response.headers.has('etag')).toBe(false)
    const body = JSON.parse(await response.text())
    expect(body.config).toEqual({})
    expect(body).toContainAllKeys(['metadata-location', 'metadata', 'config'])
    const headers = received.get('GET /v1/the-upstream-catalog/namespaces/n/tables/t')
    expect(headers?.has('x-iceberg-access-delegation')).toBe(false)
  })

  test('a created table’s answer holds neither', async () => {
    const body = JSON.stringify({ name: 't', schema: { type: 'struct', fields: [] } })
    const response = await masked('/namespaces/n/tables', { method: 'POST', body })
    expect(JSON.parse(await response.text()).config).toEqual({})
  })

  test.each([
    ['GET', `${table}/credentials`],
    ['POST', `${table}/plan`],
    ['GET', `${table}/plan/p`],
    ['DELETE', `${table}/plan/p`],
    ['POST', `${table}/tasks`],
  ])('%s %s is 403 and asks nothing of the upstream', async (method, path) => {
    const before = upstream.seen.length
    const response = await masked(path, { method, ...(method === 'POST' && { body: '{}' }) })
    expect(response.status).toBe(403)
    expect(await messageOf(response)).toStartWith('policy denied: row filters or column masks of n.t apply')
    expect(upstream.seen.slice(before).filter((one) => !/config|tokens/.test(one))).toEqual([])
  })

  test('what cannot be told is refused', async () => {
    const response = await masked(table, {}, () => Promise.reject(new Error('no store')))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).not.toBeNull()
    expect(await response.text()).not.toContain('no store')
  })
})
