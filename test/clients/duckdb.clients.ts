/** DuckDB and its Iceberg extension through the client surface. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TableRef } from '../../src/core/table-ref.ts'
import { documentedSettings } from './client-docs.ts'
import { dataFilesThere } from './data-files.ts'
import { type Gate, openGate } from './gate.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { packageFolder } from './packages.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { runSession, type Step } from './sessions.ts'

let fixture: FixtureServer
let gate: Gate
let gateway: Gateway
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  fixture = stack.use(await startRestFixture())
  gate = stack.use(openGate(fixture.url))
  gateway = stack.use(await startGateway({ kind: 'alpha', url: gate.url, config: { warehouse: 'w' } }))
  await session('start', documentedSettings('DuckDB', gateway), ['CREATE SCHEMA covenant.dk'])
})
afterAll(() => stack.disposeAsync())

async function session(log: string, attach: string, statements: readonly string[]): Promise<readonly Step[]> {
  return await runSession({
    python: join(packageFolder('python:duckdb'), 'bin/python'),
    script: 'sql_session.py',
    log: `duckdb-${log}`,
    args: ['duckdb', JSON.stringify(statements)],
    env: { ATTACH: attach },
    seconds: 60,
  })
}

const sql = (log: string, ...statements: readonly string[]) =>
  session(log, documentedSettings('DuckDB', gateway), statements)
const messages = (steps: readonly Step[]) => steps.flatMap(({ message }) => message ?? [])

test('duckdb: creates, inserts, updates, deletes and reads back', async () => {
  const steps = await sql(
    'orders',
    'CREATE TABLE covenant.dk.orders (id BIGINT, customer VARCHAR)',
    "INSERT INTO covenant.dk.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    "UPDATE covenant.dk.orders SET customer = 'z' WHERE id = 2",
    'DELETE FROM covenant.dk.orders WHERE id = 3',
    'SELECT * FROM covenant.dk.orders ORDER BY id',
  )
  expect(messages(steps)).toEqual([])
  expect(steps.at(-1)?.value).toEqual([
    [1, 'a'],
    [2, 'z'],
  ])
  expect(await gateway.audit({ namespace: ['dk'], name: 'orders' })).not.toBeEmpty()
})

test('duckdb: shows its user why an insert and a drop were denied', async () => {
  await sql('frozen', 'CREATE TABLE covenant.dk.frozen (id BIGINT)')
  await gateway.govern(
    { namespace: ['dk'], name: 'frozen' },
    { id: 'frozen', kind: 'write_acl', definitionCel: 'false', message: 'the table is frozen' },
  )
  const steps = await sql(
    'frozen-denied',
    'INSERT INTO covenant.dk.frozen VALUES (1)',
    'DROP TABLE covenant.dk.frozen',
    'SELECT count(*) FROM covenant.dk.frozen',
  )
  for (const { message } of steps.slice(0, 2)) {
    expect(message).toContain('policy denied: ')
    expect(message).toContain('the table is frozen')
  }
  expect(steps.at(-1)?.value).toEqual([[0]])
})

test.each([
  ['lose', 'lost_answer'],
  ['fail', 'failed_answer'],
] as const)(
  'duckdb: after a commit whose answer was lost no data file that it refers to is gone: %s',
  async (effect, name) => {
    await sql(name, `CREATE TABLE covenant.dk.${name} (id BIGINT)`)
    let sent = 0
    gate.interfere = (request, path) => {
      if (request.method !== 'POST' || !path.endsWith(`/tables/${name}`)) return undefined
      sent++
      return effect
    }
    const [inserted] = await sql(`${name}-insert`, `INSERT INTO covenant.dk.${name} VALUES (1)`)
    gate.interfere = () => undefined
    expect(inserted).not.toHaveProperty('message')
    expect(sent).toBe(1)
    expect(dataFilesThere(fixture.folder, { namespace: ['dk'], name })).toBe(1)
    const [read] = await sql(`${name}-read`, `SELECT * FROM covenant.dk.${name}`)
    expect(read?.value).toEqual([[1]])
    expect(await gateway.audit({ namespace: ['dk'], name })).toHaveLength(2)
  },
)

test('duckdb: a commit that cannot be told to be made is told as such, and is not sent again', async () => {
  const table: TableRef = { namespace: ['dk'], name: 'unknown' }
  await sql('unknown', 'CREATE TABLE covenant.dk.unknown (id BIGINT)')
  let sent = 0
  gate.interfere = (request, path) => {
    if (!path.includes('/tables/unknown')) return undefined
    if (request.method === 'POST') sent++
    return sent > 0 ? new Response('', { status: 502 }) : undefined
  }
  const [inserted] = await sql('unknown-insert', 'INSERT INTO covenant.dk.unknown VALUES (1)')
  gate.interfere = () => undefined
  expect(inserted?.message).toContain('may or may not have been made')
  expect(sent).toBe(1)
  // DuckDB's own doing, see the next test; nothing refers to the file.
  expect(dataFilesThere(fixture.folder, table)).toBe(0)
  const [read] = await sql('unknown-read', 'SELECT count(*) FROM covenant.dk.unknown')
  expect(read?.value).toEqual([[0]])
})

// Pins a defect of the client, so that docs/compatibility.md stays true: a version that mends it fails here.
test('duckdb: deletes its data files after any failed commit, also without the gateway', async () => {
  const attach = `ATTACH 'main' AS covenant (TYPE iceberg, ENDPOINT '${gate.url}', AUTHORIZATION_TYPE 'none')`
  for (const [status, timesSent] of [
    [502, 1],
    [503, 4],
  ] as const) {
    const name = `direct_${status}`
    await session(name, attach, [`CREATE TABLE covenant.dk.${name} (id BIGINT)`])
    let sent = 0
    gate.interfere = (request, path) => {
      const commits = path.endsWith(`/tables/${name}`) || path.endsWith('/transactions/commit')
      if (request.method !== 'POST' || !commits) return undefined
      sent++
      return new Response('{}', { status })
    }
    const [inserted] = await session(`${name}-insert`, attach, [`INSERT INTO covenant.dk.${name} VALUES (1)`])
    gate.interfere = () => undefined
    expect(inserted?.message).toContain('Failed to commit')
    expect(sent).toBe(timesSent)
    expect(dataFilesThere(fixture.folder, { namespace: ['dk'], name })).toBe(0)
  }
})

// Likewise.
test('duckdb: cannot create a table as a query on local files, also without the gateway', async () => {
  const attach = `ATTACH 'main' AS covenant (TYPE iceberg, ENDPOINT '${gate.url}', AUTHORIZATION_TYPE 'none')`
  const [direct] = await session('ctas-direct', attach, ['CREATE TABLE covenant.dk.ctas_1 AS SELECT 1 AS id'])
  const [through] = await sql('ctas', 'CREATE TABLE covenant.dk.ctas_2 AS SELECT 1 AS id')
  for (const step of [direct, through]) expect(step?.message).toContain('No such file or directory')
})
