/** Spark through the client surface: one session, because a session takes ten seconds to start. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Policy } from '../../src/core/policy.ts'
import type { TableRef } from '../../src/core/table-ref.ts'
import { documentedSettings } from './client-docs.ts'
import { dataFilesThere } from './data-files.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { send } from './iceberg-api.ts'
import type { Step } from './sessions.ts'
import { runSpark } from './spark-session.ts'
import { startTestedCatalog, type TestedCatalog } from './tested-catalog.ts'

let catalog: TestedCatalog
let gateway: Gateway
let steps: readonly Step[]
const stack = new AsyncDisposableStack()
const table = (name: string): TableRef => ({ namespace: ['sp'], name })

const statements = {
  namespace: 'CREATE NAMESPACE covenant.sp_free',
  namespaceThere: 'CREATE NAMESPACE IF NOT EXISTS covenant.sp',
  ctas: "CREATE TABLE covenant.sp.orders USING iceberg AS SELECT 1L AS id, 'a' AS customer",
  insert: "INSERT INTO covenant.sp.orders VALUES (2, 'b')",
  merge: `MERGE INTO covenant.sp.orders t USING (SELECT 2L AS id, 'c' AS customer) s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`,
  alter: 'ALTER TABLE covenant.sp.orders ADD COLUMN note STRING',
  expire: `CALL covenant.system.expire_snapshots(table => 'sp.orders', retain_last => 1,
    older_than => TIMESTAMP '2100-01-01 00:00:00')`,
  read: 'SELECT * FROM covenant.sp.orders ORDER BY id',
  rename: 'ALTER TABLE covenant.sp.orders RENAME TO sp.orders_2',
  readRenamed: 'SELECT count(*) FROM covenant.sp.orders_2',
  ctasDenied: 'CREATE TABLE covenant.sp.reserved USING iceberg AS SELECT 1L AS id',
  contracted: "CREATE TABLE covenant.sp.contracted USING iceberg AS SELECT 1L AS id, 'a' AS customer",
  alterDenied: 'ALTER TABLE covenant.sp.contracted DROP COLUMN customer',
  insertIntoContracted: "INSERT INTO covenant.sp.contracted VALUES (2, 'b')",
  readContracted: 'SELECT count(*) FROM covenant.sp.contracted',
  expireDenied: `CALL covenant.system.expire_snapshots(table => 'sp.contracted', retain_last => 1,
    older_than => TIMESTAMP '2100-01-01 00:00:00')`,
  freeze: "ALTER TABLE covenant.sp.contracted SET TBLPROPERTIES ('frozen' = 'yes')",
  insertDenied: "INSERT INTO covenant.sp.contracted VALUES (3, 'c')",
  mergeDenied: `MERGE INTO covenant.sp.contracted t USING (SELECT 2L AS id, 'z' AS customer) s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET *`,
  readFrozen: 'SELECT count(*) FROM covenant.sp.contracted',
  lost: 'CREATE TABLE covenant.sp.lost (id BIGINT) USING iceberg',
  insertLost: 'INSERT INTO covenant.sp.lost VALUES (1)',
  readLost: 'SELECT count(*) FROM covenant.sp.lost',
}

beforeAll(async () => {
  catalog = stack.use(await startTestedCatalog())
  gateway = stack.use(await startGateway(catalog.upstream))
  await send(catalog.target(gateway), 'POST', '/namespaces', '{"namespace":["sp"]}')
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

  const settings = documentedSettings('Spark', gateway)
  steps = await runSpark({ settings, log: 'spark', seconds: 300 }, Object.values(statements))
}, 400_000)
afterAll(() => stack.disposeAsync())

function step(name: keyof typeof statements): Step {
  const found = steps.find((one) => one.step === statements[name])
  if (found === undefined) throw new Error(`Spark did not come to ${name}`)
  return found
}

test('spark: creates a table as a query, inserts, merges, alters, expires snapshots and reads back', async () => {
  for (const name of ['namespace', 'ctas', 'insert', 'merge', 'alter', 'expire', 'read'] as const)
    expect(step(name)).not.toHaveProperty('message')
  expect(step('read').value).toEqual([
    [1, 'a', null],
    [2, 'c', null],
  ])
  const audited = await gateway.audit(table('orders'))
  expect(audited.every(({ decision }) => decision === 'APPROVED')).toBe(true)
  expect(audited.length).toBeGreaterThanOrEqual(5)
})

test('spark: sends its changes with keys, because the configuration says for how long they are kept', async () => {
  expect(await gateway.keyedChanges()).toBeGreaterThan(0)
})

test('spark: renames a table that nothing governs', () => {
  expect(step('rename')).not.toHaveProperty('message')
  expect(step('readRenamed').value).toEqual([[2]])
})

test.each([
  ['ctasDenied', 'the name is reserved'],
  ['alterDenied', 'the contract promises the column customer'],
  ['expireDenied', 'snapshots are kept'],
  ['insertDenied', 'the table is frozen'],
  ['mergeDenied', 'the table is frozen'],
] as const)('spark: shows its user why it was denied: %s', (name, message) => {
  expect(step(name).message).toContain('policy denied: ')
  expect(step(name).message).toContain(message)
})

test('spark: a namespace that is there is no obstacle to a writer whom its tables’ policies deny', () => {
  expect(step('namespaceThere')).not.toHaveProperty('message')
})

test('spark: what policies allow goes on beside what they deny', () => {
  expect(step('contracted')).not.toHaveProperty('message')
  expect(step('insertIntoContracted')).not.toHaveProperty('message')
  expect(step('readContracted').value).toEqual([[2]])
  expect(step('readFrozen').value).toEqual([[2]])
})

test('spark: after a lost answer no data file that the commit refers to is gone', () => {
  expect(step('insertLost')).not.toHaveProperty('message')
  expect(step('readLost').value).toEqual([[1]])
  expect(dataFilesThere(catalog.folder, table('lost')) ?? 1).toBe(1)
})
