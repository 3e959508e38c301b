/** One run gives the whole result or an error. It is cancelled at once, and bounded in number, time and memory. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import { lockedInstance } from '../../../src/engine/duckdb/locked-instance.ts'
import type { EngineHandle } from '../../../src/engine/engine.ts'
import {
  columns,
  failure,
  otherTenant,
  rowsIn,
  rowsOf,
  runBy,
  snapshotOf,
  startTestEngine,
  type TestEngine,
  tenant,
} from '../../support/engine.ts'

const rowCount = 2_000_000
let engine: TestEngine
let big: IcebergWriter
beforeAll(async () => {
  engine = await startTestEngine()
  big = engine.table('big', { fields: [{ id: 1, name: 'i', type: 'long' }] })
  const bytes = await duckdbParquet(`SELECT i FROM range(${rowCount}) AS r(i)`, '{i: 1}')
  await big.append([{ rows: [], recordCount: rowCount, bytes }])
})
afterAll(() => engine.close())

const integer = columns('i int8')

async function opened(run = runBy(), from = engine): Promise<{ session: EngineHandle; relation: string }> {
  const snapshot = snapshotOf(big)
  const session = await from.engine.open([snapshot], run)
  return { session, relation: session.relation(snapshot.table) }
}

/** Counts rows until the run ends; what it threw, if it did. */
async function drained(session: EngineHandle, sql: string, types = integer, each?: (batch: number) => void) {
  let rows = 0
  let batches = 0
  let error: { code?: string; message?: string } = {}
  try {
    for await (const batch of session.run({ sql, columns: types })) {
      rows += batch.rowCount
      each?.(++batches)
    }
  } catch (thrown) {
    error = thrown as typeof error
  } finally {
    await session.close()
  }
  return { rows, error }
}

describe('a result is whole or an error', () => {
  test('every row is delivered, in the statement’s order', async () => {
    const { session, relation } = await opened()
    let next = 0n
    for await (const batch of session.run({
      sql: `SELECT i FROM ${relation} AS b ORDER BY i`,
      columns: integer,
    }))
      for (const [value] of rowsIn(batch)) {
        if (value !== next) throw new Error(`${value} where ${next} was due`)
        next++
      }
    expect(next).toBe(BigInt(rowCount))
    await session.close()
  })

  const errors: [what: string, value: string, code: string][] = [
    ['a division by zero', "error('division by zero')::BIGINT", '22012'],
    ['a value out of range', 'CAST(9223372036854775807 + i AS BIGINT)', '22003'],
    ['a malformed text', "CAST('x' || i AS BIGINT)", '22P02'],
    ['two rows for one', '(SELECT x FROM (VALUES (1), (2)) AS v(x))', '21000'],
    [
      'a bucket of no time',
      "epoch_us(time_bucket(to_microseconds(i - 1500000), TIMESTAMP '2024-01-01'))",
      '22008',
    ],
    ['any error of the expression', "error('canary ' || i)::BIGINT", '22000'],
  ]
  test.each(errors)(
    '%s after a million rows throws its SQLSTATE, and none of its text',
    async (_, value, code) => {
      const { session, relation } = await opened()
      const { rows, error } = await drained(
        session,
        `SELECT CASE WHEN i = 1500000 THEN ${value} ELSE i END FROM ${relation} AS b`,
      )
      expect(rows).toBeLessThan(rowCount)
      expect(error.code).toBe(code)
      expect(error.message).not.toMatch(/canary|1500000|x15|SELECT|CASE/)
    },
  )

  test('DuckDB itself ends a stream that failed, was interrupted or was pushed aside without a word, yet its result tells', async () => {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const cases: [sql: string, disturb: () => unknown, type: number][] = [
      ['SELECT i FROM range(1000000) AS r(i)', () => undefined, 1],
      [
        "SELECT CASE WHEN i = 900000 THEN error('x')::BIGINT ELSE i END FROM range(1000000) AS r(i)",
        () => undefined,
        0,
      ],
      ['SELECT i FROM range(10000000) AS r(i)', () => connection.interrupt(), 0],
      ['SELECT i FROM range(10000000) AS r(i)', () => connection.run('SELECT 1'), 0],
    ]
    for (const [sql, disturb, type] of cases) {
      const result = await (await connection.prepare(sql)).stream()
      await result.fetchChunk()
      await disturb()
      for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; )
        chunk = await result.fetchChunk()
      expect(result.statementType as number).toBe(type)
    }
    connection.closeSync()
    instance.closeSync()
  })

  test('a second run of a session is refused, and the first one stays whole', async () => {
    const { session, relation } = await opened()
    const run = session.run({ sql: `SELECT i FROM ${relation} AS b`, columns: integer })
    expect(() => session.run({ sql: 'SELECT 1::BIGINT', columns: integer })).toThrow('one statement')
    let rows = 0
    for await (const batch of run) rows += batch.rowCount
    expect(rows).toBe(rowCount)
    await session.close()
  })

  test.each([
    'SELECT s.x FROM {} AS b, LATERAL (SELECT rank() OVER (ORDER BY b.i) AS x FROM {} AS c) AS s',
    'SELECT s.x FROM {} AS b, LATERAL (SELECT sum(b.i) AS x FROM {} AS c) AS s',
    'SELECT (SELECT count(*) FROM {} AS c WHERE len(list_filter([1], lambda e: e <> b.i)) > 0) FROM {} AS b',
  ])('what DuckDB has no plan for is a limit of the engine, not its failure: %s', async (sql) => {
    const { session, relation } = await opened()
    expect((await drained(session, sql.replaceAll('{}', relation))).error.code).toBe('0A000')
  })

  test('types other than the statement’s are an error before the first row', async () => {
    for (const [sql, types] of [
      ['SELECT 1', 'i int8'],
      ['SELECT 1::BIGINT, 2', 'i int8'],
      ["SELECT 'x'", 'i bytea'],
      ['SELECT 1.5::DOUBLE', 'i float4'],
      ["SELECT ['x']", 'i int8[]'],
    ] as const) {
      const { session } = await opened()
      expect((await drained(session, sql, columns(types))).error.code).toBe('XX000')
    }
  })

  test('it says what it cost', async () => {
    const snapshot = snapshotOf(big)
    const session = await engine.engine.open([snapshot], runBy())
    const run = session.run({
      sql: `SELECT count(*) FROM ${session.relation(snapshot.table)} AS b`,
      columns: integer,
    })
    for await (const batch of run) expect(rowsIn(batch)).toEqual([[BigInt(rowCount)]])
    await session.close()
    const { queueMs, runMs, bytesScanned } = run.stats()
    expect([queueMs >= 0, runMs > 0, (bytesScanned ?? 0) > 1_000_000]).toEqual([true, true, true])
    expect(run.stats().runMs).toBe(runMs)
  })
})

describe('a statement reads what was opened for it alone', () => {
  const others = [
    "SELECT 1::BIGINT FROM read_parquet('{files}/*')",
    "SELECT 1::BIGINT FROM '{files}/x.parquet'",
    "SELECT 1::BIGINT FROM glob('{files}/*')",
    "SELECT 1::BIGINT FROM read_text('/etc/passwd')",
    "SELECT (SELECT count(*) FROM read_blob('{files}/*'))",
    "WITH a AS (SELECT * FROM query('SELECT 1::BIGINT')) SELECT * FROM a",
    'SELECT count(*) FROM duckdb_views()',
    'SELECT count(*) FROM duckdb_settings',
    'SELECT count(*) FROM information_schema.tables',
    'SELECT count(*) FROM temp.main.t7',
    'SELECT count(*) FROM main.t0',
    'SELECT count(*) FROM t0',
    'FROM (SHOW TABLES)',
    'SELECT 1::BIGINT; SELECT 2::BIGINT',
    "COPY (SELECT 1) TO '{files}/x.parquet'",
    'CREATE TEMP TABLE x AS SELECT 1',
    'SET threads = 1',
    'PRAGMA database_list',
    "ATTACH '{files}/x.db'",
    'INSTALL httpfs',
    'SELECT $1::BIGINT',
    'EXPLAIN SELECT 1',
    'DELETE FROM temp.main.t0',
    'not SQL',
  ]
  test.each(others)('%s', async (sql) => {
    const { session } = await opened()
    const files = `${engine.folder}/files`
    expect((await drained(session, sql.replaceAll('{files}', files))).error.code).toBe('XX000')
  })

  test('its own relations, CTEs, VALUES and generated rows it may read', async () => {
    const sql =
      'WITH a AS (SELECT i FROM {} AS b WHERE i < 3), v AS (SELECT x FROM (VALUES (1), (2)) AS w(x)) SELECT a.i FROM a JOIN v ON v.x = a.i JOIN generate_series(1, 2) AS g(c1) ON g.c1 = v.x WHERE a.i IN (SELECT unnest([1, 2])) ORDER BY 1'
    expect(await rowsOf(engine.engine, snapshotOf(big), sql, integer)).toEqual([[1n], [2n]])
  })

  test('DuckDB itself reads nothing outside the cache and takes no more settings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'locked-'))
    const bounds = { threads: 1, memoryBytesMax: 2 ** 26, spillBytesMax: 2 ** 26 }
    const instance = await lockedInstance(bounds, join(folder, 'files'), join(folder, 'spill'))
    const connection = await instance.connect()
    for (const sql of [
      "SELECT * FROM read_text('/etc/passwd')",
      `COPY (SELECT 1) TO '${folder}/x.csv'`,
      'SET threads = 2',
      "SET TimeZone = 'Asia/Tokyo'",
      `ATTACH '${folder}/x.db'`,
      'INSTALL httpfs',
      'LOAD httpfs',
      'SET enable_external_access = true',
    ]) {
      const { message } = await failure(connection.run(sql))
      expect(message).toMatch(/permission|locked|disabled/i)
    }
    const zone = await connection.runAndReadAll("SELECT current_setting('TimeZone')")
    expect(zone.getRows()).toEqual([['UTC']])
    connection.closeSync()
    instance.closeSync()
    rmSync(folder, { recursive: true })
  })
})

const slow = 'SELECT count(*) FROM {} AS a, {} AS b WHERE (a.i * 31 + b.i) % 1000003 = 7'

/** Fires a signal once the engine has as many queries running. */
async function whenRunning(from: TestEngine, running: number): Promise<void> {
  while (from.host.load().running < running) await new Promise((resolve) => setImmediate(resolve))
}

describe('cancelling', () => {
  test('a run that computes ends with 57014', async () => {
    const controller = new AbortController()
    const pending = failure(
      rowsOf(engine.engine, snapshotOf(big), slow, integer, runBy(undefined, controller.signal)),
    )
    await whenRunning(engine, 1)
    setTimeout(() => controller.abort(), 50)
    expect((await pending).code).toBe('57014')
    expect(engine.host.load().running).toBe(0)
  })

  test('a run in mid-stream ends with 57014, never as if it were whole', async () => {
    const controller = new AbortController()
    const { session, relation } = await opened(runBy(undefined, controller.signal))
    const { rows, error } = await drained(session, `SELECT i FROM ${relation} AS b`, integer, (batch) => {
      if (batch === 10) controller.abort()
    })
    expect(error.code).toBe('57014')
    expect(rows).toBeLessThan(rowCount)
  })

  test('a consumer that leaves stops the engine, and its place is free', async () => {
    const { session, relation } = await opened()
    for await (const batch of session.run({ sql: `SELECT i FROM ${relation} AS b`, columns: integer })) {
      expect(batch.rowCount).toBeGreaterThan(0)
      break
    }
    await session.close()
    expect(engine.host.load().running).toBe(0)
  })

  test('results that were left count as no memory of the engine', async () => {
    await using stack = new AsyncDisposableStack()
    const small = await startTestEngine({ memoryBytesMax: 32 * 1024 * 1024 })
    stack.defer(() => small.close())
    const from = small.host.engine({ tenant, key: 'own', access: { roots: [engine.tables], s3: undefined } })
    const sql = (relation: string) =>
      `SELECT a.i FROM ${relation} AS a, (SELECT i FROM ${relation} LIMIT 100000) AS b`
    for (let left = 0; left < 60; left++) {
      const { session, relation } = await opened(runBy(), { ...small, engine: from })
      const rows = session.run({ sql: sql(relation), columns: integer })[Symbol.asyncIterator]()
      expect((await rows.next()).done).toBe(false)
      await session.close()
    }
    const { session, relation } = await opened(runBy(), { ...small, engine: from })
    const { rows, error } = await drained(session, `SELECT i FROM ${relation} AS b`)
    expect({ rows, error }).toEqual({ rows: rowCount, error: {} })
  })

  test('a run that was cancelled before it began never begins', async () => {
    expect((await failure(opened(runBy(undefined, AbortSignal.abort())))).code).toBe('57014')
  })

  test('a run that is cancelled between two tables leaves nothing at work that fails unheard', async () => {
    await (await opened()).session.close()
    const other = engine.table('other', { fields: [{ id: 1, name: 'i', type: 'long' }] })
    await other.append([{ rows: [{ i: 1 }] }])
    const controller = new AbortController()
    const first = {
      ...snapshotOf(big),
      // Asked for once the files of the table are at hand: nothing else is waited for before the next one.
      get ranges() {
        controller.abort()
        return undefined
      },
    }
    const open = engine.engine.open([first, snapshotOf(other)], runBy(undefined, controller.signal))
    expect((await failure(open)).code).toBe('57014')
    await rowsOf(engine.engine, snapshotOf(other), 'SELECT i FROM {} AS b', integer)
  })

  test('a run over its time ends with 57014', async () => {
    const hasty = await startTestEngine({ runMs: 150 })
    const table = hasty.table('t', { fields: [{ id: 1, name: 'i', type: 'long' }] })
    await table.append([{ rows: Array.from({ length: 100_000 }, (_, i) => ({ i })) }])
    const error = await failure(rowsOf(hasty.engine, snapshotOf(table), slow, integer))
    await hasty.close()
    expect([error.code, error.message]).toEqual(['57014', 'The query exceeded its time limit.'])
  })
})

describe('bounds', () => {
  test('more queries than places wait; more than the queue holds are refused with 53300', async () => {
    const one = await startTestEngine({ placesMax: 1, queueMax: 1 })
    const table = one.table('t', { fields: [{ id: 1, name: 'i', type: 'long' }] })
    await table.append([{ rows: [{ i: 1 }] }])
    const controller = new AbortController()
    const open = (signal = new AbortController().signal) =>
      one.engine.open([snapshotOf(table)], runBy(undefined, signal))
    const first = await open()
    const second = open(controller.signal)
    expect(one.host.load()).toMatchObject({ running: 1, waiting: 1 })
    expect((await failure(open())).code).toBe('53300')
    controller.abort()
    expect((await failure(second)).code).toBe('57014')
    const third = open()
    await first.close()
    await (await third).close()
    expect(one.host.load()).toMatchObject({ running: 0, waiting: 0 })
    await one.close()
  })

  test('a query that needs more memory than there is ends with 53000', async () => {
    const small = await startTestEngine({ memoryBytesMax: 24 * 2 ** 20, spillBytesMax: 2 ** 20 })
    const table = small.table('t', { fields: [{ id: 1, name: 'i', type: 'long' }] })
    await table.append([{ rows: Array.from({ length: 1_000 }, (_, i) => ({ i })) }])
    const sql = "SELECT count(DISTINCT repeat('x', 200) || (a.i * 1000 + b.i)) FROM {} AS a, {} AS b"
    const error = await failure(rowsOf(small.engine, snapshotOf(table), sql, integer))
    expect(error.code).toBe('53000')
    expect(await rowsOf(small.engine, snapshotOf(table), 'SELECT count(*) FROM {} AS b', integer)).toEqual([
      [1_000n],
    ])
    await small.close()
  })
})

test('more places than the process has threads for are refused at the start', async () => {
  const error = await failure(startTestEngine({ placesMax: 5, poolThreads: 8 }))
  expect(error.message).toContain('UV_THREADPOOL_SIZE')
})

test('an engine answers for its own tenant alone', async () => {
  expect((await failure(engine.engine.open([snapshotOf(big)], runBy(otherTenant)))).code).toBe('XX000')
})
