/** Trino as a client of the gateway: one server, one statement after another. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { documentedTrino } from './client-docs.ts'
import { dataFilesThere } from './data-files.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { send } from './iceberg-api.ts'
import { startTestedCatalog, type TestedCatalog } from './tested-catalog.ts'
import { startTrino, TrinoRefusal, trinoSql } from './trino-server.ts'

let catalog: TestedCatalog
let gateway: Gateway
const stack = new AsyncDisposableStack()
const table = (name: string): TableRef => ({ namespace: ['tr'], name })

const statements = {
  schema: 'CREATE SCHEMA covenant.tr_free',
  create: 'CREATE TABLE covenant.tr.plain (id BIGINT, customer VARCHAR)',
  ctas: "CREATE TABLE covenant.tr.orders AS SELECT BIGINT '1' AS id, 'a' AS customer",
  insert: "INSERT INTO covenant.tr.orders VALUES (2, 'b'), (3, 'x'), (4, 'y')",
  update: "UPDATE covenant.tr.orders SET customer = 'c' WHERE id = 2",
  remove: 'DELETE FROM covenant.tr.orders WHERE id = 3',
  merge: `MERGE INTO covenant.tr.orders t USING (VALUES (BIGINT '4', 'd'), (5, 'e')) s (id, customer) ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET customer = s.customer WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.customer)`,
  alter: 'ALTER TABLE covenant.tr.orders ADD COLUMN note VARCHAR',
  expire: `ALTER TABLE covenant.tr.orders EXECUTE expire_snapshots(retention_threshold => '0s')`,
  read: 'SELECT * FROM covenant.tr.orders ORDER BY id',
  rename: 'ALTER TABLE covenant.tr.plain RENAME TO covenant.tr.plain_2',
  drop: 'DROP TABLE covenant.tr.plain_2',
  ctasDenied: "CREATE TABLE covenant.tr.reserved AS SELECT BIGINT '1' AS id",
  contracted: "CREATE TABLE covenant.tr.contracted AS SELECT BIGINT '1' AS id, 'a' AS customer",
  alterDenied: 'ALTER TABLE covenant.tr.contracted DROP COLUMN customer',
  insertIntoContracted: "INSERT INTO covenant.tr.contracted VALUES (2, 'b')",
  readContracted: 'SELECT count(*) FROM covenant.tr.contracted',
  expireDenied: `ALTER TABLE covenant.tr.contracted EXECUTE expire_snapshots(retention_threshold => '0s')`,
  renameDenied: 'ALTER TABLE covenant.tr.contracted RENAME TO covenant.tr.reserved',
  freeze:
    "ALTER TABLE covenant.tr.contracted SET PROPERTIES extra_properties = MAP(ARRAY['frozen'], ARRAY['yes'])",
  insertDenied: "INSERT INTO covenant.tr.contracted VALUES (3, 'c')",
  mergeDenied: `MERGE INTO covenant.tr.contracted t USING (VALUES (BIGINT '2', 'z')) s (id, customer) ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET customer = s.customer`,
  readFrozen: 'SELECT count(*) FROM covenant.tr.contracted',
  lost: 'CREATE TABLE covenant.tr.lost (id BIGINT)',
  insertLost: 'INSERT INTO covenant.tr.lost VALUES (1)',
  readLost: 'SELECT count(*) FROM covenant.tr.lost',
}

type Outcome = readonly (readonly unknown[])[] | string
const outcomes = new Map<keyof typeof statements, Outcome>()
const causes = new Map<keyof typeof statements, string>()

/** Rows, or what Trino's user sees of a failure. */
function outcome(name: keyof typeof statements): Outcome {
  const found = outcomes.get(name)
  if (found === undefined) throw new Error(`Trino did not come to ${name}`)
  return found
}

beforeAll(async () => {
  catalog = stack.use(await startTestedCatalog())
  gateway = stack.use(await startGateway(catalog.upstream))
  await send(catalog.target(gateway), 'POST', '/namespaces', '{"namespace":["tr"]}')
  const govern = (name: string, kind: Policy['kind'], definitionCel: string, message: string) =>
    gateway.govern(table(name), { id: `${name}-${kind}-${message.length}`, kind, definitionCel, message })
  await govern('reserved', 'write_acl', 'false', 'the name is reserved')
  await govern('contracted', 'write_acl', '!("frozen" in table.properties)', 'the table is frozen')
  await govern(
    'contracted',
    'schema',
    'manifest.has_column(commit.result, "customer")',
    'the contract promises the column customer',
  )
  await govern('contracted', 'retention', 'false', 'snapshots are kept')
  catalog.gate.interfere = (request, path) =>
    request.method === 'POST' && path.endsWith('/tables/lost') ? 'lose' : undefined

  const trino = stack.use(
    await startTrino({
      catalogs: {
        covenant: {
          ...documentedTrino(gateway),
          'fs.hadoop.enabled': 'true',
          'iceberg.unique-table-location': 'false',
          'iceberg.expire-snapshots.min-retention': '0s',
          'iceberg.allowed-extra-properties': 'frozen',
        },
      },
    }),
  )
  for (const [key, sql] of Object.entries(statements)) {
    const name = key as keyof typeof statements
    const outcome = await trinoSql(trino.url, sql).catch((error: unknown) => {
      if (!(error instanceof TrinoRefusal)) throw error
      causes.set(name, error.causes.join('\n'))
      return error.message
    })
    outcomes.set(name, outcome)
  }
}, 300_000)
afterAll(() => stack.disposeAsync())

test('trino: creates tables, inserts, updates, deletes, merges, alters, expires snapshots and reads back', async () => {
  for (const name of [
    'schema',
    'create',
    'ctas',
    'insert',
    'update',
    'remove',
    'merge',
    'alter',
    'expire',
  ] as const)
    expect([name, typeof outcome(name) === 'string' ? outcome(name) : 'done']).toEqual([name, 'done'])
  expect(outcome('read')).toEqual([
    [1, 'a', null],
    [2, 'c', null],
    [4, 'd', null],
    [5, 'e', null],
  ])
  const audited = await gateway.audit(table('orders'))
  expect(audited.every(({ decision }) => decision === 'APPROVED')).toBe(true)
  expect(audited.length).toBeGreaterThanOrEqual(7)
})

test('trino: renames and drops a table that nothing governs', () => {
  for (const name of ['rename', 'drop'] as const)
    expect([name, typeof outcome(name) === 'string' ? outcome(name) : 'done']).toEqual([name, 'done'])
})

test.each([
  ['alterDenied', 'the contract promises the column customer'],
  ['expireDenied', 'snapshots are kept'],
  ['insertDenied', 'the table is frozen'],
  ['mergeDenied', 'the table is frozen'],
] as const)('trino: shows its user why it was denied: %s', (name, message) => {
  expect(outcome(name)).toContain('policy denied: ')
  expect(outcome(name)).toContain(message)
})

test('trino: shows why a create or rename was denied only to those who ask for the stack', () => {
  for (const [name, words] of [
    ['ctasDenied', 'Failed to create transaction'],
    ['renameDenied', 'Failed to rename table'],
  ] as const) {
    expect(outcome(name)).toContain(words)
    expect(causes.get(name)).toContain('policy denied: ')
    expect(causes.get(name)).toContain('the name is reserved')
  }
})

test('trino: what policies allow goes on beside what they deny', () => {
  for (const name of ['contracted', 'insertIntoContracted', 'freeze'] as const)
    expect([name, typeof outcome(name) === 'string' ? outcome(name) : 'done']).toEqual([name, 'done'])
  expect(outcome('readContracted')).toEqual([[2]])
  expect(outcome('readFrozen')).toEqual([[2]])
})

test('trino: after a lost answer no data file that the commit refers to is gone', () => {
  expect(outcome('readLost')).toEqual([[1]])
  expect(dataFilesThere(catalog.folder, table('lost')) ?? 1).toBe(1)
})
