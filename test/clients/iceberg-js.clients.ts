/** iceberg-js through the client surface: a JavaScript client that keeps no state and reads no data. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { documentedSettings } from './client-docs.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { packageFolder } from './packages.ts'
import { startTestedCatalog } from './tested-catalog.ts'

interface Identifier {
  readonly namespace: readonly string[]
  readonly name: string
}

/** What is used of the package, which is not among the project's own dependencies. */
interface IcebergJs {
  readonly IcebergRestCatalog: new (
    options: unknown,
  ) => {
    createNamespace(namespace: { readonly namespace: readonly string[] }): Promise<unknown>
    createTable(namespace: { readonly namespace: readonly string[] }, request: unknown): Promise<unknown>
    loadTable(table: Identifier): Promise<{ readonly properties: Readonly<Record<string, string>> }>
    updateTable(table: Identifier, request: unknown): Promise<unknown>
    renameTable(request: { readonly source: Identifier; readonly destination: Identifier }): Promise<unknown>
    listTables(namespace: { readonly namespace: readonly string[] }): Promise<{
      readonly identifiers: readonly Identifier[]
    }>
    dropTable(table: Identifier, options?: { readonly purge?: boolean }): Promise<unknown>
  }
}

let gateway: Gateway
let catalog: InstanceType<IcebergJs['IcebergRestCatalog']>
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  const { upstream } = stack.use(await startTestedCatalog())
  gateway = stack.use(await startGateway(upstream))
  const entry = join(packageFolder('npm:iceberg-js'), 'node_modules/iceberg-js/dist/index.mjs')
  const { IcebergRestCatalog } = (await import(entry)) as IcebergJs
  catalog = new IcebergRestCatalog(JSON.parse(documentedSettings('iceberg-js', gateway)))
  await catalog.createNamespace({ namespace: ['js'] })
})
afterAll(() => stack.disposeAsync())

const namespace = { namespace: ['js'] }
const id = (name: string): Identifier => ({ namespace: ['js'], name })
const setting = (updates: Readonly<Record<string, string>>) => ({
  requirements: [],
  updates: [{ action: 'set-properties', updates }],
})

function create(name: string): Promise<unknown> {
  const fields = [{ id: 1, name: 'id', type: 'long', required: true }]
  return catalog.createTable(namespace, { name, schema: { type: 'struct', 'schema-id': 0, fields } })
}

async function rejection(
  promise: Promise<unknown>,
): Promise<{ readonly message: string; readonly status: number }> {
  try {
    await promise
  } catch (error) {
    return error as { message: string; status: number }
  }
  throw new Error('it was not refused')
}

test('iceberg-js: creates, commits, loads, lists, renames and drops', async () => {
  await create('orders')
  await catalog.updateTable(id('orders'), setting({ owner: 'sales' }))
  expect((await catalog.loadTable(id('orders'))).properties.owner).toBe('sales')
  await catalog.renameTable({ source: id('orders'), destination: id('orders_2') })
  expect((await catalog.listTables(namespace)).identifiers).toContainEqual(id('orders_2'))
  await catalog.dropTable(id('orders_2'))
  expect((await catalog.listTables(namespace)).identifiers).toEqual([])
})

test('iceberg-js: shows its user why a commit was denied', async () => {
  await create('frozen')
  await gateway.govern(
    { namespace: ['js'], name: 'frozen' },
    { id: 'frozen', kind: 'write_acl', definitionCel: 'false', message: 'the table is frozen' },
  )
  const refusals = [
    await rejection(catalog.updateTable(id('frozen'), setting({ owner: 'sales' }))),
    await rejection(catalog.dropTable(id('frozen'))),
    await rejection(catalog.renameTable({ source: id('frozen'), destination: id('thawed') })),
  ]
  for (const { status, message } of refusals) {
    expect(status).toBe(403)
    expect(message).toContain('policy denied: ')
    expect(message).toContain('the table is frozen')
  }
})
