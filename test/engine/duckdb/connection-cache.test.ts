/** Reused connections behave like new ones, and one that is not as new is never reused. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import { ConnectionCache } from '../../../src/engine/duckdb/connection-cache.ts'
import { limits } from '../../../src/limits.ts'
import {
  columns,
  failure,
  otherTenant,
  rowsOf,
  runBy,
  snapshotOf,
  startTestEngine,
  type TestEngine,
} from '../../support/engine.ts'

const fields: readonly Field[] = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'name', type: 'string' },
]
const all = 'SELECT id, name FROM {} AS t ORDER BY id'
const asked = columns('id int8, name text')
const rows = (...ids: number[]) => ids.map((id) => ({ id, name: `n${id}` }))
const told = (...ids: number[]) => ids.map((id) => [BigInt(id), `n${id}`])

let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine()
})
afterAll(() => engine.close())

async function tableOf(name: string, ...ids: number[]): Promise<IcebergWriter> {
  const table = engine.table(name, { fields })
  await table.append([{ rows: rows(...ids) }])
  return table
}

const read = (table: IcebergWriter, sql = all, at = {}) =>
  rowsOf(engine.engine, snapshotOf(table, at), sql, asked)

/** Opens a table's session with a statement's text over its relation. */
async function opened(table: IcebergWriter, run = runBy()) {
  const snapshot = snapshotOf(table)
  const session = await engine.engine.open([snapshot], run)
  return { session, statement: { sql: all.replace('{}', session.relation(snapshot.table)), columns: asked } }
}

async function drain(batches: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of batches);
}

/** Connections that wait after some work, more than before it. */
async function waitingAfter(work: () => Promise<unknown>): Promise<number> {
  const before = engine.host.load().cachedConnections
  await work()
  return engine.host.load().cachedConnections - before
}

describe('a run on a connection that was kept', () => {
  test('gives the same rows, for the same text and for others', async () => {
    const table = await tableOf('again', 1, 2, 3)
    expect(await waitingAfter(() => read(table))).toBe(1)
    expect(
      await waitingAfter(async () => {
        for (let turn = 0; turn < 3; turn++) expect(await read(table)).toEqual(told(1, 2, 3))
        expect(await read(table, 'SELECT id, name FROM {} AS t WHERE id = 2')).toEqual(told(2))
        expect(await read(table)).toEqual(told(1, 2, 3))
      }),
    ).toBe(0)
  })

  test('sees the next commit', async () => {
    const table = await tableOf('commits', 1)
    expect(await read(table)).toEqual(told(1))
    const first = snapshotOf(table).snapshotId
    await table.append([{ rows: rows(2) }])
    expect(await read(table)).toEqual(told(1, 2))
    expect(await read(table, all, { snapshotId: first })).toEqual(told(1))
    await table.delete({ kind: 'equality', fields: [fields[0] as Field], rows: [{ id: 1 }] })
    expect(await read(table)).toEqual(told(2))
  })

  test('sees the next schema: a column renamed, another under its old name', async () => {
    const table = await tableOf('renamed', 1)
    expect(await read(table)).toEqual(told(1))
    await table.evolve([
      { id: 1, name: 'id', type: 'long' },
      { id: 2, name: 'old_name', type: 'string' },
      { id: 3, name: 'name', type: 'string' },
    ])
    await table.append([{ rows: [{ id: 2, old_name: 'o', name: 'new' }] }])
    expect(await read(table)).toEqual([
      [1n, null],
      [2n, 'new'],
    ])
  })

  test('computes the time and chance again', async () => {
    const table = await tableOf('times', 1)
    const sql = 'SELECT epoch_us(now()), CAST(random() AS VARCHAR) FROM {} AS t'
    const [[first, chance] = []] = await read(table, sql)
    const [[second, other] = []] = await read(table, sql)
    expect(Number(second)).toBeGreaterThan(Number(first))
    expect(other).not.toBe(chance)
  })

  test('is proven to read its own relations alone, whatever ran before it', async () => {
    const table = await tableOf('proven', 1)
    await read(table)
    for (const sql of ['SELECT id, name FROM temp.main.t1', "SELECT 1::BIGINT, file FROM glob('/**')"]) {
      const error = await failure(read(table, sql))
      expect(error).toMatchObject({ code: 'XX000' })
      expect(await failure(read(table, sql))).toMatchObject({ code: 'XX000' })
    }
    expect(await read(table)).toEqual(told(1))
  })
})

describe('a connection is not kept', () => {
  test('by a run that was cut short, refused, or failed', async () => {
    const table = await tableOf('unclean', ...Array.from({ length: 5_000 }, (_, index) => index))
    const stopped = async () => {
      const { session, statement } = await opened(table)
      for await (const _ of session.run(statement)) break
      await session.close()
    }
    const cancelled = async () => {
      const control = new AbortController()
      const { session, statement } = await opened(table, runBy(undefined, control.signal))
      await drain(session.run(statement))
      control.abort()
      await session.close()
    }
    const unused = async () => (await opened(table)).session.close()
    for (const work of [
      stopped,
      cancelled,
      unused,
      () => failure(read(table, 'DROP VIEW {}')),
      () => failure(read(table, "SELECT error('x')::BIGINT, name FROM {} AS t")),
      () => failure(read(table, 'SELECT name, id FROM {} AS t')),
    ])
      expect(await waitingAfter(work)).toBe(0)
  })

  test('twice by a session that is closed twice', async () => {
    const table = await tableOf('twice', 1)
    const { session, statement } = await opened(table)
    await drain(session.run(statement))
    expect(await waitingAfter(() => Promise.all([session.close(), session.close()]))).toBe(1)
  })

  test('with the tables of its deletes', async () => {
    const table = await tableOf('deletes', 1, 2)
    const [file = ''] = (await table.append([{ rows: rows(3, 4) }])).files
    await table.delete({ kind: 'position', dataFile: file, positions: [0] })
    expect(await waitingAfter(() => read(table))).toBe(0)
    expect(await read(table)).toEqual(told(1, 2, 4))
  })
})

test('two tenants never share one, even for an empty table', async () => {
  const table = engine.table('empty', { fields })
  await table.setProperties({})
  const theirs = engine.host.engine({
    tenant: otherTenant,
    key: 'theirs',
    access: { roots: [engine.tables], s3: undefined },
  })
  expect(await waitingAfter(() => read(table))).toBe(1)
  expect(await waitingAfter(() => rowsOf(theirs, snapshotOf(table), all, asked, runBy(otherTenant)))).toBe(1)
})

test('sessions at once have connections of their own', async () => {
  const table = await tableOf('at-once', 1, 2)
  for (let turn = 0; turn < 3; turn++) {
    const results = await Promise.all([read(table), read(table, 'SELECT id, name FROM {} AS t WHERE id = 1')])
    expect(results).toEqual([told(1, 2), told(1)])
  }
})

describe('what waits', () => {
  const closed: string[] = []
  const connection = (name: string) => ({ closeSync: () => closed.push(name) }) as unknown as DuckDBConnection

  test('is bounded in number and in the length of its relations, the least recently used going first', () => {
    const kept = new ConnectionCache()
    for (let index = 0; index <= limits.engineIdleConnections; index++)
      kept.give(`k${index}`, { connection: connection(`c${index}`) })
    expect([kept.count, closed.splice(0)]).toEqual([limits.engineIdleConnections, ['c0']])
    kept.give('x'.repeat(limits.engineIdleRelationsLength), { connection: connection('long') })
    expect(kept.count).toBe(1)
    expect(closed.splice(0)).not.toContain('long')
  })

  test('ends when a file that it names is given up', () => {
    const kept = new ConnectionCache()
    kept.give("FROM '/cache/1-a.parquet'", { connection: connection('a') })
    kept.give("FROM '/cache/2-b.parquet'", { connection: connection('b') })
    kept.drop('/cache/1-a.parquet')
    expect([closed.splice(0), kept.count]).toEqual([['a'], 1])
    kept.close()
    expect([closed.splice(0), kept.count]).toEqual([['b'], 0])
  })
})
