/** Flink through the client surface: SQL statements, and what their user sees when a policy denies. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TableRef } from '../../src/core/table-ref.ts'
import { documentedSettings } from './client-docs.ts'
import { dataFilesThere } from './data-files.ts'
import { type FlinkCluster, startFlink } from './flink-cluster.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { createTable } from './iceberg-api.ts'
import { startTestedCatalog, type TestedCatalog } from './tested-catalog.ts'

let catalog: TestedCatalog
let gateway: Gateway
let flink: FlinkCluster
const stack = new AsyncDisposableStack()
const table = (name: string): TableRef => ({ namespace: ['fl'], name })

beforeAll(async () => {
  catalog = stack.use(await startTestedCatalog())
  gateway = stack.use(await startGateway(catalog.upstream))
  flink = stack.use(await startFlink())
})
afterAll(() => stack.disposeAsync())

/** Runs statements until one fails. @returns what the user sees */
async function sql(log: string, ...statements: readonly string[]): Promise<string> {
  const settings = [
    "SET 'sql-client.execution.result-mode' = 'tableau';",
    "SET 'table.dml-sync' = 'true';",
    documentedSettings('Flink', gateway),
  ]
  return await flink.sql(log, [...settings, ...statements.map((one) => `${one};`)].join('\n'))
}

test('flink: creates a table, inserts, overwrites and reads back', async () => {
  const output = await sql(
    'orders',
    'CREATE DATABASE IF NOT EXISTS covenant.fl',
    'CREATE TABLE covenant.fl.orders (id BIGINT, customer STRING)',
    "INSERT INTO covenant.fl.orders VALUES (1, 'first'), (2, 'second')",
    "INSERT OVERWRITE covenant.fl.orders VALUES (3, 'third')",
    'SELECT * FROM covenant.fl.orders',
    'ALTER TABLE covenant.fl.orders ADD (note STRING)',
  )
  expect(output).not.toContain('[ERROR]')
  expect(output).toContain('third')
  expect(output).toContain('1 row in set')
  const audited = await gateway.audit(table('orders'))
  expect(audited.every(({ decision }) => decision === 'APPROVED')).toBe(true)
  expect(audited.length).toBeGreaterThanOrEqual(4)
})

test.each([
  ['insert', 'schema', "INSERT INTO covenant.fl.denied_insert VALUES (1, 'a')"],
  ['alter', 'schema', 'ALTER TABLE covenant.fl.denied_alter DROP customer'],
  ['create', 'write_acl', 'CREATE TABLE covenant.fl.denied_create (id BIGINT)'],
] as const)('flink: shows its user why it was denied: %s', async (what, kind, statement) => {
  const name = `denied_${what}`
  if (what !== 'create') await createTable(catalog.target(gateway), table(name))
  await gateway.govern(table(name), { id: name, kind, definitionCel: 'false', message: 'hands off' })
  const output = await sql(name, 'CREATE DATABASE IF NOT EXISTS covenant.fl', statement)
  expect(output).toContain('[ERROR]')
  expect(output).toContain(`policy denied: ${name}: hands off`)
  expect(await gateway.audit(table(name))).toMatchObject([{ decision: 'REJECTED' }])
})

test('flink: after a lost answer no data file that the commit refers to is gone', async () => {
  catalog.gate.interfere = (request, path) =>
    request.method === 'POST' && path.endsWith('/tables/lost') ? 'fail' : undefined
  const output = await sql(
    'lost',
    'CREATE DATABASE IF NOT EXISTS covenant.fl',
    'CREATE TABLE covenant.fl.lost (id BIGINT)',
    'INSERT INTO covenant.fl.lost VALUES (1)',
    'SELECT * FROM covenant.fl.lost',
  )
  catalog.gate.interfere = () => undefined
  expect(output).not.toContain('[ERROR]')
  expect(output).toContain('1 row in set')
  expect(dataFilesThere(catalog.folder, table('lost')) ?? 1).toBe(1)
})
