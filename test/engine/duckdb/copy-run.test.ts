/** A failed statement runs again over copies of what its reader sees, without delaying other statements. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { duckdbParquet } from '../../../demo/lake/duckdb-parquet.ts'
import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { Field } from '../../../demo/lake/table-fields.ts'
import type { CopiedRun, CopiedStatement, OpenTables } from '../../../src/engine/engine.ts'
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
  { id: 2, name: 'owner', type: 'string' },
  { id: 3, name: 'name', type: 'string' },
]

let engine: TestEngine
let people: IcebergWriter
beforeAll(async () => {
  engine = await startTestEngine()
  people = engine.table('people', { fields })
  await people.append([{ rows: [], recordCount: 3_000, bytes: await peopleFile('SECRET') }])
})
afterAll(() => engine.close())

/** Every third row is Eve's, and holds `hidden`; the names lie in a dictionary. */
function peopleFile(hidden: string): Promise<Uint8Array> {
  const values = `SELECT i AS id, if(i % 3 = 2, 'eve', 'bob') AS owner, if(i % 3 = 2, '${hidden}', 'n' || i % 5) AS name`
  return duckdbParquet(`${values} FROM range(3000) AS r(i)`, '{id: 1, owner: 2, name: 3}')
}

/** How DuckDB ends a statement with a pattern that ends in its escape. */
const failed = '22025'

/** Fails where `mark` is among the values that DuckDB computes it of. */
const breaks = (mark: string) => `'X' LIKE replace(t.c1, '${mark}', '\\') ESCAPE '\\'`
const visible = ({ relation }: OpenTables, filter = " WHERE owner = 'bob'") =>
  `SELECT name AS c1 FROM ${relation(table())}${filter}`
let snapshot: ReturnType<typeof snapshotOf> | undefined
const table = () => {
  snapshot ??= snapshotOf(people)
  return snapshot.table
}

/** The count of rows that break, written as a statement without a barrier would be. */
function counting(mark: string, change: Partial<CopiedStatement> = {}): CopiedStatement {
  const over = (from: string) => `SELECT count(*) AS c1 FROM ${from} AS t WHERE ${breaks(mark)}`
  return {
    tables: snapshot === undefined ? [snapshotOf(people, { table: table() })] : [snapshot],
    run: runBy(),
    failed,
    hides: true,
    columns: columns('c1 int8'),
    rowsMax: 10_000,
    bytesMax: 1_000_000,
    write: (opened) => over(`(${visible(opened)})`),
    writeCopied: (opened, copy) => ({ copies: new Map([['t1', visible(opened)]]), sql: over(copy('t1')) }),
    ...change,
  }
}

async function ran(statement: CopiedStatement, from = engine): Promise<CopiedRun> {
  if (from.engine.runOnCopies === undefined) throw new Error('the engine makes no copies')
  return await from.engine.runOnCopies(statement)
}

describe('a statement that failed', () => {
  test('by a hidden value ends otherwise over what its reader sees', async () => {
    const { tables, write } = counting('SECRET')
    const session = await engine.engine.open(tables, runBy())
    const sql = write(session)
    const first = await failure(Array.fromAsync(session.run({ sql, columns: columns('c1 int8') })))
    await session.close()
    expect(first.code).toBe(failed)
    expect(await ran(counting('SECRET'))).toEqual({ outcome: 'different', copied: 'whole' })
  })

  test('by a value that its reader sees ends the same', async () => {
    expect(await ran(counting('n3'))).toEqual({ outcome: 'same' })
  })

  test('and does not fail again says nothing', async () => {
    expect(await ran(counting('nobody'))).toEqual({ outcome: 'unsteady' })
  })

  test('over tables that hide nothing is not looked into, unless rows of them were deleted', async () => {
    const all: Partial<CopiedStatement> = { hides: false }
    expect(await ran(counting('SECRET', all))).toEqual({ outcome: 'nothing_hidden' })
    const deleted = engine.table('deleted', { fields })
    const rows = ['n1', 'SECRET', 'n2'].map((name, id) => ({ id, owner: 'bob', name }))
    const [dataFile = ''] = (await deleted.append([{ rows }])).files
    await deleted.deletePositions(dataFile, [1])
    const at = snapshotOf(deleted)
    const found = await ran(
      counting('n1', {
        ...all,
        tables: [at],
        write: ({ relation }) =>
          `SELECT count(*) AS c1 FROM ${relation(at.table)} AS r(a, b, c1), (SELECT 1) AS t(x) WHERE 'X' LIKE replace(r.c1, 'n1', '\\') ESCAPE '\\'`,
        writeCopied: ({ relation }, copy) => ({
          copies: new Map([['t1', `SELECT name AS c1 FROM ${relation(at.table)}`]]),
          sql: `SELECT count(*) AS c1 FROM ${copy('t1')} AS t WHERE ${breaks('n1')}`,
        }),
      }),
    )
    expect(found).toEqual({ outcome: 'same' })
  })
})

describe('what a copy is made of', () => {
  test('has bounds, of rows and of bytes', async () => {
    expect(await ran(counting('n3', { rowsMax: 1_999 }))).toEqual({ outcome: 'too_large' })
    expect(await ran(counting('n3', { rowsMax: 2_000 }))).toEqual({ outcome: 'same' })
    expect(await ran(counting('n3', { bytesMax: 2_000 }))).toEqual({ outcome: 'too_large' })
  })

  test('is all that the statement reads', async () => {
    const sneaks = (sql: (opened: OpenTables) => string) =>
      counting('n3', {
        writeCopied: (opened) => ({ copies: new Map([['t1', visible(opened)]]), sql: sql(opened) }),
      })
    const raw = await failure(
      ran(sneaks(({ relation }) => `SELECT count(*) AS c1 FROM ${relation(table())} AS t`)),
    )
    expect(raw).toMatchObject({ code: 'XX000', message: expect.stringContaining('was not opened') })
    const file = counting('n3', {
      writeCopied: () => ({ copies: new Map([['t1', "SELECT * FROM '/etc/passwd'"]]), sql: '' }),
    })
    expect(await failure(ran(file))).toMatchObject({ code: 'XX000' })
  })

  test('is gone afterwards: no connection of it serves another statement', async () => {
    const before = engine.host.load().cachedConnections
    await ran(counting('SECRET'))
    expect(engine.host.load()).toMatchObject({ cachedConnections: before, running: 0 })
  })

  test('is nobody else’s: another tenant’s statement is refused', async () => {
    expect(await failure(ran(counting('n3', { run: runBy(otherTenant) })))).toMatchObject({ code: 'XX000' })
  })
})

describe('its place', () => {
  test('is one that nobody wants: where all are taken it does not wait', async () => {
    const one = await startTestEngine({ placesMax: 1 })
    const own = one.table('own', { fields })
    await own.append([{ rows: [{ id: 1, owner: 'bob', name: 'n3' }] }])
    const at = snapshotOf(own)
    const session = await one.engine.open([at], runBy())
    expect(await ran(counting('n3', { tables: [at] }), one)).toEqual({ outcome: 'busy' })
    await session.close()
    await one.close()
  })

  test('is left as soon as a statement waits for one', async () => {
    const one = await startTestEngine({ placesMax: 1 })
    const big = one.table('big', { fields: [{ id: 1, name: 'name', type: 'long' }] })
    const bytes = await duckdbParquet('SELECT i AS name FROM range(100000) AS r(i)', '{name: 1}')
    await big.append([{ rows: [], recordCount: 100_000, bytes }])
    const at = snapshotOf(big)
    const begun = Promise.withResolvers<void>()
    const endless = counting('n3', {
      tables: [at],
      rowsMax: 1e12,
      bytesMax: 1e15,
      writeCopied: ({ relation }, copy) => {
        begun.resolve()
        const from = relation(at.table)
        return {
          copies: new Map([['t1', `SELECT a.name AS c1 FROM ${from} AS a CROSS JOIN ${from} AS b`]]),
          sql: `SELECT count(*) AS c1 FROM ${copy('t1')} AS t`,
        }
      },
    })
    const looking = ran(endless, one)
    await begun.promise
    const rows = await rowsOf(one.engine, at, 'SELECT count(*) AS n FROM {} AS t', columns('n int8'))
    expect(rows).toEqual([[100_000n]])
    expect(await looking).toEqual({ outcome: 'busy' })
    await one.close()
  })

  test('is left, and the look ends, as soon as its signal fires', async () => {
    const abort = new AbortController()
    const late = counting('n3', {
      run: runBy(undefined, abort.signal),
      writeCopied: (opened, copy) => {
        abort.abort(new Error('over'))
        return counting('n3').writeCopied(opened, copy)
      },
    })
    expect(await failure(ran(late))).toMatchObject({ message: 'over' })
    expect(engine.host.load().running).toBe(0)
  })
})
