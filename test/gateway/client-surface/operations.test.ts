import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTable, orderFields, schemaOf, setProperties } from '../../../demo/commits.ts'
import { endpointOf, operations } from '../../../src/gateway/client-surface/operations.ts'
import { type RecordingProxy, recordingProxy } from '../../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { govern, messageOf, send } from '../../support/surface.ts'
import documented from './fixtures/open-api-operations.json'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

let service: TestService
let proxy: RecordingProxy
let tenant: TestTenant
beforeAll(async () => {
  service = await startTestService()
  proxy = await recordingProxy(service.catalog.url)
  tenant = await addTenant(service.store, 'governed', proxy.url)
  for (const name of ['orders', 'view', 'fresh'])
    await govern(service, { namespace: ['sales'], name }, `no-${name}`, 'write_acl', 'false', { tenant })
  await govern(service, { namespace: ['unmade'], name: 't' }, 'no-unmade', 'write_acl', 'false', { tenant })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

const identifier = (name: string) => ({ namespace: ['sales'], name })
const change = { identifier: identifier('orders'), ...JSON.parse(setProperties({ a: '1' })) }
const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, representations: [] }
const view = { name: 'fresh', schema: schemaOf(orderFields), 'view-version': version, properties: {} }

/** A body that the operation would take, where it takes one. */
const bodies: Readonly<Record<string, unknown>> = {
  createNamespace: { namespace: ['unmade'], properties: {} },
  updateProperties: { updates: { a: '1' }, removals: [] },
  createTable: createTable('fresh'),
  registerTable: { name: 'fresh', 'metadata-location': 'file:///x/1.metadata.json' },
  updateTable: setProperties({ a: '1' }),
  unregisterTable: undefined,
  renameTable: { source: identifier('orders'), destination: identifier('elsewhere') },
  commitTransaction: { 'table-changes': [change] },
  createView: view,
  replaceView: { requirements: [], updates: [] },
  renameView: { source: identifier('view'), destination: identifier('elsewhere') },
  registerView: { name: 'fresh', 'metadata-location': 'file:///x/1.metadata.json' },
  planTableScan: {},
  fetchScanTasks: { 'plan-task': 'x' },
  reportMetrics: {},
  signRequest: {},
  getToken: 'grant_type=client_credentials',
}

function pathOf(template: string): string {
  return template
    .replace('/v1', '')
    .replace('/{prefix}', '')
    .replace('{namespace}', 'sales')
    .replace('{table}', 'orders')
    .replace('{view}', 'view')
    .replace('{function}', 'f')
    .replace('{plan-id}', 'p1')
}

/** Requests that reached the upstream and may change it. */
function mutations(): number {
  return proxy.exchanges.filter(
    ({ method, path }) => method !== 'GET' && method !== 'HEAD' && !path.endsWith('/oauth/tokens'),
  ).length
}

test('the table of operations is the OpenAPI document’s', () => {
  expect(operations.map(({ id, method, path }) => `${id} ${method} ${path}`).toSorted()).toEqual(
    documented.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`).toSorted(),
  )
})

test('whatever may change the catalog is gated or refused', () => {
  const harmless = ['planTableScan', 'fetchScanTasks', 'cancelPlanning', 'reportMetrics', 'getToken']
  const free = operations.filter(({ treatment }) => treatment === 'own' || treatment === 'read')
  expect(
    free
      .filter(({ method }) => method !== 'GET' && method !== 'HEAD')
      .map(({ id }) => id as string)
      .toSorted(),
  ).toEqual(harmless.toSorted())
})

/** Not in the development catalog: the gate stands behind the check that the upstream serves it at all. */
const unserved = new Set(['registerView', 'unregisterTable'])

describe('a gated operation', () => {
  test.each(operations.filter(({ treatment }) => treatment === 'gated').map((one) => [one.id, one] as const))(
    '%s reaches no upstream where a policy of the name denies it',
    async (id, { method, path }) => {
      const before = mutations()
      if (id === 'replaceView') await createViewUpstream()
      const response = await send(service, method, pathOf(path), bodies[id], { tenant })
      if (unserved.has(id)) expect(response.status).toBe(406)
      else {
        expect(response.status).toBe(403)
        expect(await messageOf(response)).toStartWith('policy denied: ')
        const [row] = await audit(service, tenant.tenant)
        expect(row?.decision).toBe('REJECTED')
        expect(row?.commitId).toBe(response.headers.get('x-svc-decision-id') ?? '')
      }
      expect(mutations()).toBe(before)
    },
  )

  async function createViewUpstream(): Promise<void> {
    const other = await addTenant(service.store, 'ungoverned', service.catalog.url)
    const response = await send(
      service,
      'POST',
      '/namespaces/sales/views',
      { ...view, name: 'view' },
      { tenant: other },
    )
    expect(response.status).toBe(200)
  }
})

test.each(operations.filter(({ treatment }) => treatment === 'read').map((one) => [one.id, one] as const))(
  'the reading operation %s changes nothing and leaves no audit',
  async (id, { method, path }) => {
    const rows = (await audit(service, tenant.tenant)).length
    const response = await send(service, method, pathOf(path), bodies[id], { tenant })
    expect([200, 204, 404, 406]).toContain(response.status)
    expect(mutations()).toBe(0)
    expect((await audit(service, tenant.tenant)).length).toBe(rows)
  },
)

test('signed requests are refused with an ErrorModel, a token without a client with an OAuth error', async () => {
  const signed = await send(service, 'POST', '/namespaces/sales/tables/orders/sign', {})
  expect(signed.status).toBe(406)
  expect(await messageOf(signed)).not.toBe('')
  const token = await send(service, 'POST', '/oauth/tokens', 'grant_type=client_credentials')
  expect(token.status).toBe(400)
  expect(await token.json()).toMatchObject({ error: 'invalid_request' })
})

test('every operation that is listed to clients is served, and the multi-table commit is not listed', async () => {
  const { endpoints } = (await (await send(service, 'GET', '/config')).json()) as { endpoints: string[] }
  const known = new Set(operations.map(endpointOf))
  expect(endpoints.filter((endpoint) => !known.has(endpoint))).toEqual([])
  expect(endpoints).toContain('POST /v1/{prefix}/namespaces/{namespace}/tables')
  expect(endpoints).not.toContain('POST /v1/{prefix}/transactions/commit')
  expect(endpoints).not.toContain('POST /v1/{prefix}/namespaces/{namespace}/register-view')
  expect(endpoints).not.toContain('POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign')
})

test('other methods are 405 with Allow, other paths 404', async () => {
  for (const { path } of operations) {
    if (path === '/v1/oauth/tokens') continue
    const response = await send(service, 'PATCH', pathOf(path), {})
    expect(response.status).toBe(405)
    const allowed = operations.filter((one) => one.path === path).map(({ method }) => method)
    expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual(allowed.toSorted())
  }
  for (const path of ['/nothing', '/namespaces/a/b', '/', '/x/namespaces', '/tables/rename/more'])
    expect((await send(service, 'GET', path)).status).toBe(404)
})

test('no operation but the token route runs without a session', async () => {
  for (const { id, method, path } of operations) {
    if (id === 'getToken') continue
    const response = await send(service, method, pathOf(path), method === 'POST' ? {} : undefined, {
      headers: { 'x-svc-session': '' },
    })
    expect(response.status).toBe(401)
  }
})
