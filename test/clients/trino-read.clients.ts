/**
 * The read path on a real Trino: governed statements run at the snapshots of real Iceberg tables. Results are compared
 * with a real PostgreSQL with security-barrier views.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Sql } from 'postgres'
import { typeOid } from '../../src/core/sql-type.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import type { ComputeEngine, TableSnapshot } from '../../src/engine/engine.ts'
import { EngineError } from '../../src/engine/engine-error.ts'
import { attacks } from '../query/attacks/all.ts'
import { corpus } from '../query/corpus/all.ts'
import { overloads } from '../query/corpus/overloads.ts'
import { normal, typeIn } from '../query/support/compare.ts'
import { type Answer, openSubject } from '../query/support/duckdb.ts'
import { canary, governedTables, postgresSetup } from '../query/support/fixture.ts'
import { askOracle, type Oracle, startOracle } from '../query/support/postgres.ts'
import { eventually } from '../support/eventually.ts'
import { type FixtureServer, startRestFixture } from './servers.ts'
import { icebergCatalog, startTrino, type TrinoServer, trinoSql } from './trino-server.ts'
import {
  currentSnapshot,
  type GovernedReader,
  governedReader,
  trinoEngine,
  writeFixture,
} from './trino-tables.ts'

const stack = new AsyncDisposableStack()
let fixture: FixtureServer
let trino: TrinoServer
let engine: ComputeEngine
let snapshots: readonly TableSnapshot[]
let reader: GovernedReader
let oracle: Oracle
let barrier: Sql

beforeAll(async () => {
  const started = await startOracle()
  if (started === undefined) throw new Error('this platform has no packaged PostgreSQL')
  oracle = started
  stack.defer(() => oracle.stop())
  for (const statement of postgresSetup()) await oracle.admin.unsafe(statement)
  barrier = oracle.connect('reader')
  fixture = stack.use(await startRestFixture())
  trino = stack.use(
    await startTrino({
      catalogs: { lake: icebergCatalog(fixture.url), tpch: { 'connector.name': 'tpch' } },
    }),
  )
  const subject = await openSubject()
  stack.defer(() => subject.close())
  await writeFixture(trino.url, subject)
  engine = trinoEngine(trino.url, fixture.url)
  snapshots = await Promise.all(governedTables.map((table) => currentSnapshot(fixture.url, table)))
  reader = governedReader(engine, snapshots, ['sales', 'hr'])
}, 180_000)

afterAll(() => stack.disposeAsync())

/** The answer, or the message of a refusal with 0A000; anything else is thrown. */
async function askTrino(sql: string, parameters?: readonly (string | null)[]): Promise<Answer | string> {
  try {
    return await reader.run(sql, parameters)
  } catch (error) {
    const code = Reflect.get(error as object, 'code') ?? Reflect.get(error as object, 'sqlState')
    if (code === '0A000') return String(Reflect.get(error as object, 'message'))
    throw error
  }
}

/** Compares by rows and types; a statement that Trino cannot do is returned with the reason. */
async function compare(sql: string, parameters?: readonly (string | null)[]): Promise<string | undefined> {
  const expected = await askOracle(barrier, sql, parameters)
  if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
  const actual = await askTrino(sql, parameters)
  if (typeof actual === 'string') return actual
  expect(actual.columns.map(({ name, type }) => [name, String(typeOid(type))])).toEqual(
    expected.columns.map(({ name, type }) => [name, typeIn(type)]),
  )
  const types = actual.columns.map(({ type }) => type)
  const ordered = /order by[^)]*$/i.test(sql)
  expect(normal(actual.rows, types, ordered)).toEqual(normal(expected.rows, types, ordered))
  expect(JSON.stringify(actual)).not.toContain(canary)
  return undefined
}

describe('against PostgreSQL', () => {
  const refused: string[] = []

  test.each(corpus.map((each) => [`${each.tool}: ${each.sql}`, each] as const))(
    '%s',
    async (_, { sql, parameters }) => {
      const reason = await compare(sql, parameters)
      if (reason !== undefined) refused.push(reason.replace(/ on this engine is not supported\.$/, ''))
    },
  )

  test.each(
    attacks.flatMap((each) =>
      each.expect === 'same' ? [[`${each.class}: ${each.sql}`, each] as const] : [],
    ),
  )('%s', async (_, { sql }) => {
    const expected = await askOracle(barrier, sql)
    const actual = typeof expected === 'string' ? undefined : await compare(sql)
    if (actual !== undefined) refused.push(actual.replace(/ on this engine is not supported\.$/, ''))
  })

  test.each(overloads)('every overload gives the same: %s', async (sql) => {
    expect(await compare(sql)).toBeUndefined()
  })

  test('trino-read: what is refused for Trino is what docs/sql.md says, and nothing else', () => {
    expect([...new Set(refused)].sort()).toEqual(documented)
    expect(refused.length).toBeLessThan((corpus.length + attacks.length) / 8)
  })
})

/** Reasons of refusals, in the words of docs/sql.md or by its mark for functions that Trino lacks. */
const documented = [
  'A cast of text to interval',
  'A numeric of more than 38 digits is not supported on this engine.',
  'ARRAY of a subquery',
  'An interval of months and days',
  'WITH RECURSIVE is not supported on this engine.',
  'age',
  'bit',
  'bit_and',
  'bit_or',
  'date_bin',
  'extract from an interval',
  'format',
  'gcd',
  'json_agg',
  'json_build_array',
  'json_build_object',
  'json_typeof',
  'jsonb_agg',
  'jsonb_build_array',
  'jsonb_build_object',
  'jsonb_object_keys',
  'make_interval',
  'make_timestamp',
  'mode',
  'overlay',
  'percentile_cont',
  'percentile_disc',
  'regexp_matches',
  'regexp_replace without the flag g',
  'regexp_split_to_array',
  'regexp_split_to_table',
  'regr_count',
  'row_to_json',
  'the engine does not support the statement',
  'to_char',
  'to_date',
  'to_json',
  'to_jsonb',
  'to_number',
]

describe('a run', () => {
  const aggregate = { name: 'n', type: 'int8' } as const
  const slow =
    'SELECT count(*) FROM tpch.sf100.lineitem a CROSS JOIN tpch.sf100.lineitem b WHERE a.comment < b.comment'
  const start = (signal: AbortSignal, queryId: string, principal = 'ann') =>
    engine.open([], { queryId, tenant: newTenantId(), principal, signal })
  const stateOf = async (queryId: string) => {
    const [row] = await trinoSql(
      trino.url,
      `SELECT state, "user", source, query FROM system.runtime.queries WHERE source = 'covenant' AND query LIKE '%${queryId}%'`,
    )
    return row
  }

  test('trino-read: a run belongs to its principal in Trino', async () => {
    const queryId = crypto.randomUUID()
    const session = await start(AbortSignal.timeout(60_000), queryId, 'bob@example.com')
    const sql = `SELECT count(*) AS n FROM tpch.tiny.nation /* ${queryId} */`
    for await (const batch of session.run({ sql, columns: [aggregate] })) expect(batch.rowCount).toBe(1)
    await session.close()
    expect((await stateOf(queryId))?.slice(0, 3)).toEqual(['FINISHED', 'bob@example.com', 'covenant'])
  })

  test('trino-read: a run that is cancelled ends at once, and ends in Trino', async () => {
    const queryId = crypto.randomUUID()
    const abort = new AbortController()
    const session = await start(abort.signal, queryId)
    const result = session.run({ sql: `${slow} /* ${queryId} */`, columns: [aggregate] })
    const ended = Array.fromAsync(result).then(
      () => 'whole',
      (error: unknown) => error,
    )
    await eventually(async () => (await stateOf(queryId))?.[0] === 'RUNNING')
    abort.abort()
    expect(await ended).toMatchObject({ code: '57014' })
    await session.close()
    await eventually(async () => (await stateOf(queryId))?.[0] === 'FAILED')
  })

  test('trino-read: a run that its consumer leaves ends in Trino', async () => {
    const queryId = crypto.randomUUID()
    const session = await start(AbortSignal.timeout(60_000), queryId)
    const sql = `SELECT orderkey AS n FROM tpch.sf100.lineitem /* ${queryId} */`
    for await (const batch of session.run({ sql, columns: [aggregate] })) {
      expect(batch.rowCount).toBeGreaterThan(0)
      break
    }
    await session.close()
    await eventually(async () => ['FAILED', 'FINISHED'].includes(String((await stateOf(queryId))?.[0])))
  })

  test('trino-read: a run that fails after rows throws, and tells no value', async () => {
    const session = await start(AbortSignal.timeout(60_000), crypto.randomUUID())
    const sql = `SELECT CAST(if(orderkey < 59000, '1', 'CANARY') AS BIGINT) AS n FROM tpch.tiny.orders`
    const failure = await Array.fromAsync(session.run({ sql, columns: [aggregate] })).then(
      () => undefined,
      (error: unknown) => error,
    )
    await session.close()
    if (!(failure instanceof EngineError)) throw new Error('no EngineError')
    expect(failure.code).toBe('22P02')
    expect(failure.message).not.toContain('CANARY')
  })

  test('trino-read: a run delivers every one of 60,175 rows, in batches', async () => {
    const session = await start(AbortSignal.timeout(60_000), crypto.randomUUID())
    const sql = 'SELECT orderkey AS n FROM tpch.tiny.lineitem'
    let rowCount = 0
    for await (const batch of session.run({ sql, columns: [aggregate] })) rowCount += batch.rowCount
    await session.close()
    expect(rowCount).toBe(60_175)
  })
})

describe('a snapshot', () => {
  const customers = () => {
    const found = snapshots.find(({ table }) => table.tableName === 'customers')
    if (found === undefined) throw new Error('there are no customers')
    return found
  }
  const count = async (at: TableSnapshot) =>
    (await governedReader(engine, [at], ['sales']).run('SELECT count(*) FROM customers')).rows[0]?.[0]

  test('trino-read: a snapshot is read unchanged, whatever is written after it', async () => {
    const before = await count(customers())
    await trinoSql(trino.url, `INSERT INTO lake.sales.customers (id, name, city) VALUES (7, 'Gil', 'Rome')`)
    expect(await count(customers())).toBe(before)
    const now = await currentSnapshot(fixture.url, customers().table)
    expect(Number(await count(now))).toBe(Number(before) + 1)
  })

  test('trino-read: a snapshot that does not exist is an error', async () => {
    const wrong = { ...customers(), snapshotId: 42n }
    expect(await count(wrong).catch((error: unknown) => error)).toMatchObject({ code: '58030' })
  })

  test('trino-read: a snapshot of a table without one is empty, though rows are written before it is read', async () => {
    await trinoSql(trino.url, 'CREATE TABLE lake.sales.later (id INTEGER)')
    const [first] = governedTables
    if (first === undefined) throw new Error('there is no table')
    const [id] = first.columns
    if (id === undefined) throw new Error('there is no column')
    const table = {
      ...first,
      ref: { namespace: ['sales'], name: 'later' },
      tableName: 'later',
      columns: [id],
      rowFilters: [],
    }
    const empty = { ...(await currentSnapshot(fixture.url, table)), snapshotId: undefined }
    await trinoSql(trino.url, 'INSERT INTO lake.sales.later VALUES (1)')
    expect((await governedReader(engine, [empty], ['sales']).run('SELECT id FROM later')).rows).toEqual([])
  })

  test('trino-read: a snapshot from before a rename is refused where a name means another column by now', async () => {
    await trinoSql(trino.url, 'CREATE TABLE lake.sales.renamed (id INTEGER, name VARCHAR)')
    await trinoSql(trino.url, `INSERT INTO lake.sales.renamed VALUES (1, '${canary}')`)
    await trinoSql(trino.url, 'ALTER TABLE lake.sales.renamed RENAME COLUMN name TO secret')
    await trinoSql(trino.url, 'ALTER TABLE lake.sales.renamed ADD COLUMN name VARCHAR')
    const [first] = governedTables
    if (first === undefined) throw new Error('there is no table')
    const column = (name: string, fieldId: number) => ({
      name,
      fieldId,
      type: 'string',
      required: false,
      masks: [],
    })
    const table = {
      ...first,
      ref: { namespace: ['sales'], name: 'renamed' },
      tableName: 'renamed',
      columns: [column('secret', 2), column('name', 3)],
      rowFilters: [],
    }
    const at = await currentSnapshot(fixture.url, table)
    const answered = (from: TableSnapshot, sql: string) =>
      governedReader(engine, [from], ['sales'])
        .run(sql)
        .catch((error: unknown) => error)
    expect(await answered(at, 'SELECT name FROM renamed')).toMatchObject({ code: '0A000' })
    // Where no name means another column, what the snapshot does not have is not found, and the rest is read.
    const added = { ...at, table: { ...table, columns: [column('id', 1), column('later', 3)] } }
    expect(await answered(added, 'SELECT later FROM renamed')).toMatchObject({ code: '58030' })
    await trinoSql(trino.url, `INSERT INTO lake.sales.renamed VALUES (2, 's', 'n')`)
    const next = await currentSnapshot(fixture.url, table)
    expect(await answered(next, 'SELECT name FROM renamed WHERE name IS NOT NULL')).toMatchObject({
      rows: [['n']],
    })
  })
})
