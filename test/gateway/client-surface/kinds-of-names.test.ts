/** A view with the uuid of a table, and a table with the uuid of a view: neither changes the name of the other. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../../demo/commits.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: TestUpstream
let owner: TestTenant
let foreign: TestTenant
let uuid: string
const held = new Set<string>()
/** Changes that reached the catalog. */
const changes: string[] = []

const table = () => ({
  'metadata-location': 's3://lake/t/metadata/1.json',
  metadata: {
    ...{ 'format-version': 2, 'table-uuid': uuid, location: 's3://lake/t', 'current-snapshot-id': -1 },
    ...{ 'last-column-id': 1, 'current-schema-id': 0, snapshots: [], refs: {}, properties: {} },
    schemas: [
      { type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'a', type: 'int', required: false }] },
    ],
    ...{ 'partition-specs': [{ 'spec-id': 0, fields: [] }], 'default-spec-id': 0 },
  },
})
const view = () => ({
  'metadata-location': 's3://lake/v/1.json',
  metadata: { 'view-uuid': uuid, 'current-version-id': 1, location: 's3://lake/v', versions: [] },
})

beforeAll(async () => {
  service = await startTestService()
  upstream = startUpstream((request, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
    const named = /\/((tables|views)\/[^/]+)$/.exec(path)
    const name = named?.[1] ?? ''
    if (!held.has(name)) return Response.json({}, { status: 404 })
    if (request.method !== 'GET') changes.push(name)
    if (request.method === 'DELETE') return new Response(null, { status: held.delete(name) ? 204 : 404 })
    return Response.json(named?.[2] === 'views' ? view() : table())
  })
  const url = upstream.url.replace(/\/$/, '')
  owner = await addTenant(service.store, 'lake', url)
  foreign = await addTenant(service.store, 'other', url)
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
})

/** Has the catalog hold these tables and views, all of one new uuid. */
function holding(...names: readonly string[]): void {
  held.clear()
  for (const name of names) held.add(name)
  changes.length = 0
  uuid = crypto.randomUUID()
}

async function load(name: string, tenant = owner): Promise<number> {
  return (await send(service, 'GET', `/namespaces/n/${name}`, undefined, { tenant })).status
}

async function loads(...names: readonly string[]): Promise<readonly number[]> {
  const found: number[] = []
  for (const name of names) found.push(await load(name))
  return found
}

test('a view with the uuid of a table does not free a second name of the table', async () => {
  holding('tables/orders', 'tables/copy', 'views/v')
  expect(await loads('tables/orders', 'tables/copy')).toEqual([200, 409])
  await load('views/v')
  expect(await loads('tables/copy', 'tables/orders')).toEqual([409, 200])
  const tried = await send(service, 'POST', '/namespaces/n/tables/copy', setProperties({ a: '1' }), {
    tenant: owner,
  })
  expect([tried.status, changes]).toEqual([409, []])
})

test('a table with the uuid of a view does not free a second name of the view', async () => {
  holding('views/first', 'views/second', 'tables/t')
  expect(await loads('views/first', 'views/second')).toEqual([200, 409])
  await load('tables/t')
  expect(await loads('views/second', 'views/first')).toEqual([409, 200])
})

test('a table and a view of one uuid are both answered, each under its name', async () => {
  holding('tables/orders', 'views/v')
  expect(await loads('tables/orders', 'views/v', 'tables/orders', 'views/v')).toEqual([200, 200, 200, 200])
})

test('dropping a table of the same name does not free a second name of a view', async () => {
  holding('views/x', 'views/second', 'tables/x')
  expect(await loads('views/x', 'views/second', 'tables/x')).toEqual([200, 409, 200])
  expect((await send(service, 'DELETE', '/namespaces/n/tables/x', undefined, { tenant: owner })).status).toBe(
    204,
  )
  expect(await loads('views/second', 'views/x')).toEqual([409, 200])
})

test('another tenant has the name that it saw first', async () => {
  holding('tables/orders', 'tables/copy', 'views/v')
  expect(await loads('tables/orders', 'views/v')).toEqual([200, 200])
  const theirs = [await load('tables/copy', foreign), await load('tables/orders', foreign)]
  expect([theirs, await loads('tables/orders')]).toEqual([[200, 409], [200]])
})
