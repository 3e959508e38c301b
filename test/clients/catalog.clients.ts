/** What the gateway promises of any Iceberg REST catalog, by its client surface and its literal path, without a client. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { createTable, loadTable, send, type Target, tablePath } from './iceberg-api.ts'
import { startTestedCatalog, type TestedCatalog } from './tested-catalog.ts'

let catalog: TestedCatalog
let gateway: Gateway
let surface: Target
let tables = 0
const stack = new AsyncDisposableStack()
/** Of this run, so that a catalog that was used before holds none of it. */
const namespace = [`covenant_${crypto.randomUUID().slice(0, 8)}`]
const made: TableRef[] = []

beforeAll(async () => {
  catalog = stack.use(await startTestedCatalog())
  gateway = stack.use(await startGateway(catalog.upstream))
  surface = { base: `${gateway.catalogUri()}/v1`, headers: { 'x-svc-session': gateway.secret } }
})
afterAll(async () => {
  for (const table of made) await send(surface, 'DELETE', tablePath(table))
  await send(surface, 'DELETE', `/namespaces/${namespace}`)
  await stack.disposeAsync()
})

async function newTable(): Promise<TableRef> {
  const table = { namespace, name: `orders_${++tables}` }
  await createTable(surface, table)
  made.push(table)
  return table
}

const dropCustomer = JSON.stringify({
  requirements: [],
  updates: [
    {
      action: 'add-schema',
      schema: {
        type: 'struct',
        'schema-id': 1,
        fields: [{ id: 1, name: 'id', type: 'long', required: true }],
      },
      'last-column-id': 2,
    },
    { action: 'set-current-schema', 'schema-id': -1 },
  ],
})
const keepCustomer = 'manifest.has_column(commit.result, "customer")'

test('catalog: a commit that policies allow is made, answered with the table, and audited', async () => {
  const table = await newTable()
  await gateway.govern(table, { id: `keep-${table.name}`, definitionCel: keepCustomer })
  const answer = await gateway.commit(table, setProperties({ a: '1' }))
  expect([answer.status, answer.status === 200 ? '' : await answer.text()]).toEqual([200, ''])
  const loaded = await loadTable(surface, table)
  expect(loaded.metadata.properties).toMatchObject({ a: '1' })
  const [committed] = await gateway.audit(table)
  expect(committed).toMatchObject({
    decision: 'APPROVED',
    action: 'update-table',
    metadataLocation: loaded['metadata-location'],
  })
})

test('catalog: a denied commit changes nothing', async () => {
  const table = await newTable()
  await gateway.govern(table, { id: `keep-${table.name}`, definitionCel: keepCustomer, message: 'kept' })
  const before = await loadTable(surface, table)
  const answer = await gateway.commit(table, dropCustomer)
  expect([answer.status, await answer.text()]).toEqual([403, `policy denied: keep-${table.name}: kept`])
  expect((await loadTable(surface, table))['metadata-location']).toBe(before['metadata-location'])
  expect((await gateway.audit(table))[0]).toMatchObject({ decision: 'REJECTED' })
})

test('catalog: a requirement that does not hold is 409', async () => {
  const table = await newTable()
  const { requirements: _, ...body } = JSON.parse(setProperties({ a: '1' })) as Record<string, unknown>
  const requirements = [{ type: 'assert-table-uuid', uuid: crypto.randomUUID() }]
  const answer = await gateway.commit(table, JSON.stringify({ ...body, requirements }))
  expect([answer.status, await answer.text()]).toEqual([
    409,
    expect.stringContaining('CommitFailedException'),
  ])
})

test('catalog: a table, or a namespace, that is not there is 404', async () => {
  const table = await newTable()
  for (const missing of [
    { ...table, name: 'none' },
    { ...table, namespace: [`${namespace}_none`] },
  ])
    expect((await gateway.commit(missing, setProperties({ a: '1' }))).status).toBe(404)
})

test('catalog: a table is listed and dropped through the gateway, and both changes are audited', async () => {
  const table = await newTable()
  const listed = await send(surface, 'GET', `/namespaces/${namespace}/tables`)
  const { identifiers } = (await listed.json()) as { identifiers: readonly TableRef[] }
  expect(identifiers.map(({ name }) => name)).toContain(table.name)
  expect((await send(surface, 'DELETE', tablePath(table))).status).toBe(204)
  expect((await send(surface, 'GET', tablePath(table))).status).toBe(404)
  expect((await gateway.audit(table)).map(({ action }) => action)).toEqual(['drop-table', 'create-table'])
})

test('catalog: a commit whose answer is lost is told as made, or as what it is', async () => {
  const table = await newTable()
  catalog.gate.interfere = (request, path) =>
    request.method === 'POST' && path.endsWith(`/tables/${table.name}`) ? 'lose' : undefined
  const answer = await gateway.commit(table, setProperties({ lost: 'yes' }))
  catalog.gate.interfere = () => undefined
  const { metadata, 'metadata-location': location } = await loadTable(surface, table)
  expect([answer.status, metadata.properties.lost]).toEqual([200, 'yes'])
  expect((await gateway.audit(table))[0]).toMatchObject({ decision: 'APPROVED', metadataLocation: location })
})
