import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevCatalog } from '../../../demo/catalog/dev-catalog.ts'
import { createTable, orderFields, schemaOf, setProperties } from '../../../demo/commits.ts'
import type { IssueToken } from '../../../src/auth/oauth-token.ts'
import { answerClient } from '../../../src/gateway/client-surface/client-surface.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { deletePolicy } from '../../../src/store/policy/policies.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { eventually } from '../../support/eventually.ts'
import { failingStore } from '../../support/failing-store.ts'
import { recordingProxy } from '../../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  openUncontracted,
  orders,
  prefix,
  startTestService,
  type TestService,
} from '../../support/service.ts'
import { govern, messageOf, send } from '../../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

/** Set by the tests that let the store fail. */
let failOn = /^never$/
let service: TestService
beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) => ({
      ...store,
      tenantQuery: (tenant, text, params, options) =>
        failingStore(store, failOn).tenantQuery(tenant, text, params, options),
      tenantCall: (tenant, name, params) => failingStore(store, failOn).tenantCall(tenant, name, params),
      sessionCall: (tenant, name, params) => failingStore(store, failOn).sessionCall(tenant, name, params),
    }),
  })
})
afterAll(() => service[Symbol.asyncDispose]())
afterEach(() => {
  failOn = /^never$/
  service.catalog.faults.reset()
})

const path = '/namespaces/sales/tables/orders'
const body = setProperties({ a: '1' })

describe('namespaces and tables', () => {
  test('are listed page by page', async () => {
    await send(service, 'POST', '/namespaces', { namespace: ['pages'], properties: {} })
    for (const name of ['a', 'b', 'c'])
      await send(service, 'POST', '/namespaces/pages/tables', createTable(name))
    const names: string[] = []
    let token = ''
    do {
      const page = await send(service, 'GET', `/namespaces/pages/tables?pageSize=2&pageToken=${token}`)
      const listed = (await page.json()) as { identifiers: { name: string }[]; 'next-page-token'?: string }
      names.push(...listed.identifiers.map(({ name }) => name))
      token = listed['next-page-token'] ?? ''
    } while (token !== '')
    expect(names).toEqual(['a', 'b', 'c'])
    for (const wrong of ['pageSize=0', 'pageSize=x', 'pageSize=-1'])
      expect((await send(service, 'GET', `/namespaces/pages/tables?${wrong}`)).status).toBe(400)
  })

  test('have as many levels as the kind allows; the literal path takes one', async () => {
    for (const namespace of [['x'], ['x', 'y'], ['x', 'y', 'z']])
      expect((await send(service, 'POST', '/namespaces', { namespace, properties: {} })).status).toBe(200)
    const deep = '/namespaces/x%1Fy%1Fz'
    const children = await send(service, 'GET', '/namespaces?parent=x%1Fy')
    expect(await children.json()).toEqual({ namespaces: [['x', 'y', 'z']] })
    expect((await send(service, 'POST', `${deep}/tables`, createTable('t'))).status).toBe(200)
    expect((await send(service, 'POST', `${deep}/tables/t`, body)).status).toBe(200)
    expect((await audit(service))[0]?.table).toEqual({ namespace: ['x', 'y', 'z'], name: 't' })
    const literal = new URL(`/v1/iceberg/main${deep}/tables/t`, service.app.url)
    const headers = { 'x-svc-session': service.owner.secret }
    expect((await fetch(literal, { method: 'POST', body, headers })).status).toBe(400)
    const tooDeep = Array.from({ length: 101 }, () => 'l').join('%1F')
    expect((await send(service, 'GET', `/namespaces/${tooDeep}`)).status).toBe(400)
  })

  test('have one level where the catalog is of kind beta', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'covenant-beta-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const catalog = await startDevCatalog({ folder, dialect: 'beta' })
    stack.defer(() => catalog.stop())
    const beta = await addTenant(service.store, 'beta', catalog.url)
    await putCatalogCredential(service.store, beta.tenant, {
      nickname: prefix,
      kind: 'beta',
      endpoint: catalog.url,
      config: { endpoint: catalog.url, warehouse: 'dev' },
    })
    const tenant = { tenant: beta }
    expect(
      (await send(service, 'POST', '/namespaces', { namespace: ['n'], properties: {} }, tenant)).status,
    ).toBe(200)
    expect((await send(service, 'POST', '/namespaces/n/tables', createTable('t'), tenant)).status).toBe(200)
    expect((await send(service, 'POST', '/namespaces/n/tables/t', body, tenant)).status).toBe(200)
    expect((await send(service, 'GET', '/namespaces/n%1Fm/tables', undefined, tenant)).status).toBe(400)
    const nested = { source: { namespace: ['n'], name: 't' }, destination: { namespace: ['n'], name: 'u' } }
    expect((await send(service, 'POST', '/tables/rename', nested, tenant)).status).toBe(204)
  })

  test.each(['a%2Fb', '..', '%2e%2e', 'a%00', 'a%1F', '%FF', 'caf%C3%A9', 'table@branch', 'x'.repeat(300)])(
    'named %p are 400',
    async (name) => {
      const request = (method: string, at: string) => send(service, method, at)
      expect([400, 404]).toContain((await request('GET', `/namespaces/${name}/tables`)).status)
      expect([400, 404]).toContain((await request('DELETE', `/namespaces/sales/tables/${name}`)).status)
    },
  )

  test.each([
    ['a create', '/namespaces/sales/tables', { name: '../x', schema: schemaOf(orderFields) }],
    ['a create without a schema', '/namespaces/sales/tables', { name: 'x' }],
    ['a register', '/namespaces/sales/register', { name: 'a/b', 'metadata-location': 'x' }],
    ['a register without a location', '/namespaces/sales/register', { name: 'a' }],
    ['a rename', '/tables/rename', { source: orders, destination: { namespace: ['s/x'], name: 'y' } }],
    [
      'a rename to no namespace',
      '/tables/rename',
      { source: orders, destination: { namespace: [], name: 'y' } },
    ],
    [
      'a rename to a namespace deeper than the catalog’s kind may have',
      '/tables/rename',
      { source: orders, destination: { namespace: Array(101).fill('n'), name: 'y' } },
    ],
    [
      'the same of a view',
      '/views/rename',
      { source: orders, destination: { namespace: Array(101).fill('n'), name: 'y' } },
    ],
    ['a namespace', '/namespaces', { namespace: ['a.b'], properties: {} }],
    ['no namespace', '/namespaces', { namespace: [] }],
    ['an array', '/namespaces', []],
    [
      'a commit of another table',
      path,
      { identifier: { namespace: ['sales'], name: 'other' }, requirements: [], updates: [] },
    ],
  ])('answer 400 to %s with a name or shape that is wrong', async (_what, at, wrong) => {
    expect((await send(service, 'POST', at, wrong)).status).toBe(400)
  })
})

describe('a commit', () => {
  test('forwards the client’s bytes and Idempotency-Key, and is answered with the upstream’s bytes', async () => {
    await using proxy = await recordingProxy(service.catalog.url)
    const tenant = await addTenant(service.store, 'via-proxy', proxy.url)
    const odd = `{ "updates" : [ {"action":"set-properties", "updates":{"n":"1e2"}} ],"requirements":[] }`
    const response = await send(service, 'POST', path, odd, {
      tenant,
      headers: { 'idempotency-key': Bun.randomUUIDv7() },
    })
    const digest = (bytes: string | Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
    const sent = proxy.exchanges.find((one) => one.method === 'POST' && one.path.endsWith('/orders'))
    expect(sent).toMatchObject({
      requestSha256: digest(odd),
      responseSha256: digest(await response.bytes()),
    })
  })

  test('that is denied is 403 with the sentence as the ErrorModel’s message', async () => {
    await govern(service, orders, 'never', 'schema', 'false', { name: 'not today', message: 'come tomorrow' })
    const response = await send(service, 'POST', path, body)
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual({
      error: { message: 'policy denied: not today: come tomorrow', type: 'ForbiddenException', code: 403 },
    })
    expect(response.headers.get('x-svc-decision-id')).toBe((await audit(service))[0]?.commitId ?? '')
    await deletePolicy(service.store, service.owner.tenant, 'never')
  })

  test('that cannot be judged is 503 with Retry-After, an ErrorModel, and no audit', async () => {
    await govern(service, orders, 'broken', 'schema', 'table.nothing == 1')
    const rows = (await audit(service)).length
    for (const [method, at] of [
      ['POST', path],
      ['POST', '/namespaces/sales/tables'],
    ] as const) {
      const asked = at === path ? body : createTable('orders')
      const response = await send(service, method, at, asked)
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(await messageOf(response)).toBe('policy-engine-unavailable')
    }
    expect((await audit(service)).length).toBe(rows)
    await deletePolicy(service.store, service.owner.tenant, 'broken')
  })

  test.each([
    ['POST', path, body],
    ['POST', '/namespaces/sales/tables', createTable('unjudged')],
    ['DELETE', path, undefined],
    ['POST', '/namespaces/sales/properties', { updates: { a: '1' }, removals: [] }],
    ['POST', '/tables/rename', { source: orders, destination: { namespace: ['sales'], name: 'unjudged' } }],
  ])('or a change (%s %s) whose policies cannot be loaded is 503', async (method, at, sent) => {
    failOn = /load_policies|"WRITE_GOVERNS"/
    const response = await send(service, method, at, sent)
    expect(response.status).toBe(503)
    expect(await messageOf(response)).toBe('policy-engine-unavailable')
  })

  test('of a table that is staged first is judged as what it makes', async () => {
    const stage = createTable('ctas').replace('{', '{"stage-create":true,')
    expect((await send(service, 'POST', '/namespaces/sales/tables', stage)).status).toBe(200)
    const creation = {
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: crypto.randomUUID() },
        { action: 'upgrade-format-version', 'format-version': 2 },
        { action: 'add-schema', schema: schemaOf(orderFields) },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
        { action: 'set-default-spec', 'spec-id': -1 },
        { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
        { action: 'set-location', location: 'file:///demo/ctas' },
      ],
    }
    const ctas = { namespace: ['sales'], name: 'ctas' }
    await govern(service, ctas, 'ctas-no-id', 'schema', '!manifest.has_column(commit.result, "id")')
    expect((await send(service, 'POST', '/namespaces/sales/tables/ctas', creation)).status).toBe(403)
    await deletePolicy(service.store, service.owner.tenant, 'ctas-no-id')
    expect((await send(service, 'POST', '/namespaces/sales/tables/ctas', creation)).status).toBe(200)
  })

  test('warns of policies that only warn', async () => {
    await govern(service, orders, 'careful', 'schema', 'false', { mode: 'warn' })
    const response = await send(service, 'POST', path, body)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-policy-warning')).toBe('careful')
    await deletePolicy(service.store, service.owner.tenant, 'careful')
  })
})

describe('once the upstream accepted', () => {
  test.each([
    ['a commit', 'POST', path, body, 200],
    ['a create', 'POST', '/namespaces/sales/tables', createTable('kept'), 200],
    ['a drop', 'DELETE', '/namespaces/sales/tables/kept', undefined, 204],
    ['a namespace', 'POST', '/namespaces', '{"namespace":["kept"],"properties":{}}', 200],
  ] as const)(
    '%s is a success though its audit fails, and is audited later',
    async (_what, method, at, sent, status) => {
      const rows = (await audit(service)).length
      failOn = /record_verdict/
      expect((await send(service, method, at, sent)).status).toBe(status)
      expect((await audit(service)).length).toBe(rows)
      failOn = /^never$/
      await eventually(async () => (await audit(service)).length === rows + 1)
    },
  )

  test('a lost answer is 502 with the type that clients know, for a change of any kind', async () => {
    service.catalog.faults.add({ operation: 'other', effect: 'drop-after' })
    const response = await send(service, 'POST', '/namespaces/sales/tables', createTable('lost'))
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { type: 'CommitStateUnknownException', code: 502 } })
  })
})

describe('what the upstream refuses is told with its status and type', () => {
  test.each([
    ['POST', '/namespaces', '{"namespace":["sales"],"properties":{}}', 409, 'AlreadyExistsException'],
    ['POST', '/namespaces/sales/tables', createTable('orders'), 409, 'AlreadyExistsException'],
    ['GET', '/namespaces/nowhere', undefined, 404, 'NoSuchNamespaceException'],
    ['GET', '/namespaces/sales/tables/nothing', undefined, 404, 'NoSuchTableException'],
    ['GET', '/namespaces/sales/views/nothing', undefined, 404, 'NoSuchViewException'],
    ['DELETE', '/namespaces/sales', undefined, 409, 'NamespaceNotEmptyException'],
    [
      'POST',
      path,
      '{"requirements":[{"type":"assert-table-uuid","uuid":"00000000-0000-4000-8000-000000000000"}],"updates":[]}',
      409,
      'CommitFailedException',
    ],
  ])('%s %s', async (method, at, sent, status, type) => {
    const rows = (await audit(service)).length
    const response = await send(service, method, at, sent)
    expect(response.status).toBe(status)
    expect(((await response.json()) as { error: { type: string } }).error.type).toBe(type)
    expect((await audit(service)).length).toBe(rows)
  })

  test('HEAD is 404 without a body', async () => {
    const response = await send(service, 'HEAD', '/namespaces/sales/tables/nothing')
    expect(response.status).toBe(404)
  })

  test('expired upstream credentials are 401, an upstream that is down 502', async () => {
    const expired = await addTenant(service.store, 'expired', service.catalog.url)
    service.catalog.faults.add({ operation: 'token', effect: 'fail', status: 401, times: 10 })
    expect((await send(service, 'GET', path, undefined, { tenant: expired })).status).toBe(401)
    const down = await addTenant(service.store, 'down', 'http://127.0.0.1:9')
    expect((await send(service, 'GET', path, undefined, { tenant: down })).status).toBe(502)
    expect((await send(service, 'POST', path, body, { tenant: down })).status).toBe(502)
  })
})

test('a session that may only read may not change, and one that may do neither gets nothing', async () => {
  const of = async (...scopes: ('read' | 'lineage')[]) => {
    const principal = { sub: 'r', roles: [] }
    const session = await createServiceSession(service.store, service.owner.tenant, {
      name: 'r',
      principal,
      scopes,
    })
    return { tenant: { tenant: service.owner.tenant, secret: session.secret } }
  }
  const reader = await of('read')
  await openUncontracted(service.store, service.owner)
  expect((await send(service, 'GET', path, undefined, reader)).status).toBe(200)
  expect((await send(service, 'POST', path, body, reader)).status).toBe(403)
  expect((await send(service, 'DELETE', path, undefined, reader)).status).toBe(403)
  expect((await send(service, 'GET', path, undefined, await of('lineage'))).status).toBe(403)
})

test('metrics reports are taken and not passed on', async () => {
  // What reaches the upstream is seen on its way: detection asks the catalog in its own time.
  await using proxy = await recordingProxy(service.catalog.url)
  const tenant = await addTenant(service.store, 'reporter', proxy.url)
  const options = { tenant }
  expect(
    (await send(service, 'POST', `${path}/metrics`, { 'report-type': 'scan-report' }, options)).status,
  ).toBe(204)
  expect(proxy.exchanges.filter((one) => one.path.endsWith('/metrics'))).toEqual([])
})

test('the token route hands form, prefix and authorization over, without a session', async () => {
  const asked: unknown[] = []
  const issueToken: IssueToken = async (form, of, authorization) => {
    asked.push([form.get('client_id'), of, authorization])
    return { status: 200, body: '{"access_token":"t","token_type":"bearer"}', headers: {} }
  }
  const request = (at: string) =>
    new Request(new URL(at, service.app.url).href, {
      method: 'POST',
      body: 'grant_type=client_credentials&client_id=c',
      headers: { authorization: 'Basic Yzpz' },
    })
  const auth = { findSession: async () => undefined, identify: () => Promise.reject(new Error()), issueToken }
  const response = await answerClient(service.app.gateway, request('/v1/iceberg/main/v1/oauth/tokens'), auth)
  expect(await response.json()).toEqual({ access_token: 't', token_type: 'bearer' })
  expect(asked).toEqual([['c', 'main', 'Basic Yzpz']])
  for (const [at, status] of [
    ['/v1/iceberg/ma.in/v1/oauth/tokens', 400],
    ['/v1/iceberg/main/v1/x/v1/oauth/tokens', 404],
  ] as const)
    expect((await answerClient(service.app.gateway, request(at), auth)).status).toBe(status)
})
