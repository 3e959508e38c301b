/** Reconciliation on two engines: DuckDB and a real PostgreSQL hold the same rows, or rows that differ in one thing. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import {
  type ColumnPair,
  icebergColumn,
  pairOf,
  postgresColumn,
} from '../../../src/contract/reconcile/column-kind.ts'
import { plainNumber } from '../../../src/contract/reconcile/compare.ts'
import { locate, type SideReader } from '../../../src/contract/reconcile/locate.ts'
import { type Oracle, startOracle } from '../../query/support/postgres.ts'
import { roundsOf } from '../../support/long-form.ts'
import { differencesOf, type NamedDifference, named, readSide } from '../../support/reconcile.ts'

setDefaultTimeout(300_000)

/** Name, Iceberg's type, DuckDB's and PostgreSQL's, and a value that both write. */
const columns = [
  ['id', 'long', 'BIGINT', 'bigint', 'i'],
  ['small', 'int', 'INTEGER', 'smallint', 'i % 7'],
  ['amount', 'decimal(10, 2)', 'DECIMAL(10,2)', 'numeric', '(i * 37 % 10000) * 0.01'],
  ['big', 'decimal(38, 4)', 'DECIMAL(38,4)', 'numeric(38,4)', 'i * 12345678901234.5'],
  ['ratio', 'double', 'DOUBLE', 'double precision', 'CAST(i AS double precision) / 7'],
  ['single', 'float', 'FLOAT', 'real', 'CAST(i AS real) / 3'],
  ['name', 'string', 'VARCHAR', 'text', "CASE WHEN i % 9 = 0 THEN NULL ELSE 'näme ' || i || chr(128512) END"],
  ['flag', 'boolean', 'BOOLEAN', 'boolean', 'i % 3 = 0'],
  ['day', 'date', 'DATE', 'date', "CAST(date '1965-01-01' + CAST(i AS integer) AS date)"],
  ['clock', 'time', 'TIME', 'time', "CAST(time '00:00:00.000007' + i * interval '1 second' AS time)"],
  [
    'made',
    'timestamp',
    'TIMESTAMP',
    'timestamp',
    "timestamp '1969-12-31 23:00:00.000001' + i * interval '1 minute'",
  ],
  [
    'seen',
    'timestamptz',
    'TIMESTAMPTZ',
    'timestamptz',
    "timestamptz '2024-03-31 00:00:00+00' + i * interval '61 second'",
  ],
  [
    'uid',
    'uuid',
    'UUID',
    'uuid',
    "CAST('00000000-0000-0000-0000-' || lpad(CAST(i AS text), 12, '0') AS uuid)",
  ],
] as const
const rowCount = 5_000

let oracle: Oracle
let duckdb: DuckDBConnection

beforeAll(async () => {
  const started = await startOracle()
  if (started === undefined) throw new Error('this platform has no packaged PostgreSQL')
  oracle = started
  await oracle.admin.unsafe("SET timezone = 'America/New_York'")
  duckdb = await (await DuckDBInstance.create(':memory:')).connect()
  const list = (type: 2 | 3) =>
    columns.map((one) => `CAST(${one[4]} AS ${one[type]}) AS ${one[0]}`).join(', ')
  await duckdb.run("SET TimeZone = 'UTC'")
  await duckdb.run(
    `CREATE TABLE base AS SELECT ${list(2)}, unhex(printf('%08x', i)) AS payload FROM range(1, ${rowCount + 1}) t(i)`,
  )
  await oracle.admin.unsafe(
    `CREATE TABLE base AS SELECT ${list(3)}, decode(lpad(to_hex(i), 8, '0'), 'hex') AS payload FROM generate_series(1, ${rowCount}) t(i)`,
  )
})
afterAll(async () => {
  duckdb.closeSync()
  await oracle.stop()
})

const left: SideReader = {
  dialect: 'duckdb',
  read: async (write) => (await duckdb.runAndReadAll(write('base').sql)).getRowsJS() as (string | null)[][],
}
const right = (relation: string): SideReader => ({
  dialect: 'postgres',
  read: async (write) =>
    [...(await oracle.admin.unsafe(write(relation).sql).values())] as (string | null)[][],
})

/** The pairs of all columns of a table of PostgreSQL. */
async function pairsOf(relation: string): Promise<readonly ColumnPair[]> {
  const described = await oracle.admin
    .unsafe(
      `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '${relation}'::regclass AND attnum > 0`,
    )
    .values()
  const types = new Map(described.map(([name, type]) => [String(name), String(type)]))
  return [...columns.map(([name, type]) => [name, type] as const), ['payload', 'binary'] as const].map(
    ([name, type], index) => {
      const pair = pairOf(index + 1, icebergColumn(name, type), postgresColumn(name, types.get(name) ?? ''))
      if (pair === undefined) throw new Error(`${name} has no pair`)
      return pair
    },
  )
}

/** All differences, by the names of columns. */
async function differences(relation: string): Promise<readonly NamedDifference[]> {
  const pairs = await pairsOf(relation)
  return differencesOf(
    pairs,
    await readSide(left, pairs, 'left'),
    await readSide(right(relation), pairs, 'right'),
  )
}

/** A copy of the table in PostgreSQL, changed. */
async function planted(name: string, ...changes: string[]): Promise<string> {
  await oracle.admin.unsafe(
    `DROP TABLE IF EXISTS ${name}; CREATE TABLE ${name} AS SELECT * FROM base ORDER BY random()`,
  )
  for (const change of changes)
    await oracle.admin.unsafe(
      change.replaceAll('TABLE', name).replaceAll(`ALTER ${name} ${name}`, `ALTER TABLE ${name}`),
    )
  return name
}

/** The keys in which a table differs. */
async function located(relation: string, names: readonly string[]) {
  const pairs = await pairsOf(relation)
  const of = (wanted: readonly string[]) => pairs.filter((pair) => wanted.includes(pair.left.name))
  return await locate({ left, right: right(relation) }, of(['id']), of(names), new AbortController().signal)
}

describe('equal rows', () => {
  test('never differ, whatever their order, their encoding and the session’s time zone', async () => {
    expect(await differences(await planted('same'))).toEqual([])
  })

  test('never differ where PostgreSQL has wider types', async () => {
    const relation = await planted(
      'wider',
      'ALTER TABLE TABLE ALTER id TYPE numeric, ALTER small TYPE bigint, ALTER name TYPE varchar(80)',
      'ALTER TABLE TABLE ALTER amount TYPE numeric(20,6)',
    )
    expect(await differences(relation)).toEqual([])
  })
})

/** Texts that both engines read as one value of the column's type. */
const literals: Readonly<Record<string, fc.Arbitrary<string>>> = {
  id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  amount: fc.integer({ min: -999_999, max: 999_999 }).map((cents) => (cents / 100).toFixed(2)),
  ratio: fc.double().map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  name: fc.string({
    unit: fc.constantFrom('a', 'ä', 'a\u0308', '\u{1f600}', ' ', "'", '\\', ',', ':', '\n', '5', '-'),
    maxLength: 6,
  }),
  made: fc
    .date({
      min: new Date('1900-01-01T00:00:00Z'),
      max: new Date('2200-01-01T00:00:00Z'),
      noInvalidDate: true,
    })
    .map((date) => date.toISOString().replace('T', ' ').replace('Z', '123')),
}
const types: Readonly<Record<string, readonly [iceberg: string, duckdb: string, postgres: string]>> = {
  ...{ id: ['long', 'BIGINT', 'bigint'], amount: ['decimal(10, 2)', 'DECIMAL(10,2)', 'numeric(10,2)'] },
  ...{ ratio: ['double', 'DOUBLE', 'double precision'], name: ['string', 'VARCHAR', 'text'] },
  made: ['timestamp', 'TIMESTAMP', 'timestamp without time zone'],
}
const names = Object.keys(literals)
type Row = readonly (string | null)[]
const rowOf = fc.tuple(...names.map((name) => fc.option(literals[name] ?? fc.constant(''), { freq: 8 })))

const drawnPairs = names.map((name, index) => {
  const [iceberg = '', , postgres = ''] = types[name] ?? []
  const pair = pairOf(index + 1, icebergColumn(name, iceberg), postgresColumn(name, postgres))
  if (pair === undefined) throw new Error(name)
  return pair
})

/** The differences of two lists of rows, the one in DuckDB and the other in PostgreSQL. */
async function differencesBetween(here: readonly Row[], there: readonly Row[]): Promise<readonly string[]> {
  const values = (rows: readonly Row[], type: 1 | 2) => {
    const cell = (value: string | null, at: number) =>
      `CAST(${value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`} AS ${types[names[at] ?? '']?.[type]})`
    return `(VALUES ${rows.map((row) => `(${row.map(cell).join(', ')})`).join(', ')}) AS drawn(${names.join(', ')})`
  }
  const ours: SideReader = {
    dialect: 'duckdb',
    read: async (write) =>
      (await duckdb.runAndReadAll(write(values(here, 1)).sql)).getRowsJS() as (string | null)[][],
  }
  return named(
    differencesOf(
      drawnPairs,
      await readSide(ours, drawnPairs, 'left'),
      await readSide(right(values(there, 2)), drawnPairs, 'right'),
    ),
  )
}

describe('random rows', () => {
  const seed = 20_261_124
  const numRuns = roundsOf(200)

  test('never differ from themselves in another order', async () => {
    console.info(`seed ${seed}`)
    await fc.assert(
      fc.asyncProperty(fc.array(rowOf, { minLength: 1, maxLength: 30 }), async (rows) => {
        expect(await differencesBetween(rows, rows.toReversed())).toEqual([])
      }),
      { seed, numRuns },
    )
  })

  test('differ where one value is another, in that column alone', async () => {
    console.info(`seed ${seed}`)
    const changed = fc.nat(names.length - 1).chain((column) =>
      fc.record({
        column: fc.constant(column),
        rows: fc.array(rowOf, { minLength: 1, maxLength: 30 }),
        at: fc.nat(1_000),
        value: fc.option(literals[names[column] ?? ''] ?? fc.constant(''), { freq: 4 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(changed, async ({ column, rows, at, value }) => {
        const index = at % rows.length
        const row = rows[index] ?? []
        fc.pre(row[column] !== value)
        const other = rows.with(index, row.with(column, value) as (typeof rows)[number])
        const found = await differencesBetween(rows, other)
        expect(found).toContain(`${names[column]} content`)
        expect(new Set(found.map((one) => one.split(' ')[0]))).toEqual(new Set([names[column] ?? '']))
      }),
      { seed, numRuns },
    )
  })
})

describe('a planted difference is found and named', () => {
  const at = `WHERE id = 4321`
  const cases: readonly (readonly [what: string, change: string, expected: readonly string[]])[] = [
    ['one value', `UPDATE TABLE SET amount = amount + 0.01 ${at}`, ['amount sum', 'amount content']],
    ['one text', `UPDATE TABLE SET name = upper(name) ${at}`, ['name min', 'name content']],
    ['a rounding', `UPDATE TABLE SET amount = amount + 0.001 ${at}`, ['amount sum', 'amount content']],
    ['one bit of a double', `UPDATE TABLE SET ratio = ratio + 1e-13 ${at}`, ['ratio content']],
    [
      'NULL against empty',
      `UPDATE TABLE SET name = '' WHERE id = 9`,
      ['name nulls', 'name empty', 'name min', 'name content'],
    ],
    ['NaN', `UPDATE TABLE SET ratio = 'NaN' ${at}`, ['ratio nan', 'ratio sum', 'ratio content']],
    [
      'infinity',
      `UPDATE TABLE SET ratio = '-Infinity' ${at}`,
      ['ratio negative_infinity', 'ratio sum', 'ratio content'],
    ],
    ['one NULL', `UPDATE TABLE SET day = NULL ${at}`, ['day nulls', 'day sum', 'day content']],
    ['an infinite date', `UPDATE TABLE SET day = 'infinity' ${at}`, ['day sum', 'day max', 'day content']],
    [
      'a normal form',
      `UPDATE TABLE SET name = normalize(name, NFD) ${at}`,
      ['name bytes', 'name min', 'name content'],
    ],
    ['trailing blanks', `UPDATE TABLE SET name = name || ' ' ${at}`, ['name bytes', 'name content']],
    [
      'a microsecond',
      `UPDATE TABLE SET made = made + interval '1 microsecond' ${at}`,
      ['made sum', 'made content'],
    ],
    [
      'a byte',
      `UPDATE TABLE SET payload = '\\x00ff' ${at}`,
      ['payload bytes', 'payload max', 'payload content'],
    ],
    ['one boolean', `UPDATE TABLE SET flag = NOT flag ${at}`, ['flag true', 'flag content']],
    ['two values that changed places', `UPDATE TABLE SET flag = NOT flag WHERE id IN (3, 4)`, ['content']],
  ]
  test.each(cases)('%s', async (_, change, expected) => {
    const found = await differences(await planted('changed', change))
    expect(named(found)).toEqual([...expected])
    for (const { left: a, right: b, measure, column } of found)
      if (measure !== 'content' || column !== '') expect(a).not.toBe(b)
  })

  test('-0 against 0, which no sum and no comparison shows', async () => {
    await duckdb.run('CREATE TABLE zeros AS SELECT * FROM base')
    const relation = await planted('zero', `UPDATE TABLE SET ratio = '-0' WHERE id = 7`)
    await planted('plain', `UPDATE TABLE SET ratio = '0' WHERE id = 7`)
    await duckdb.run('UPDATE base SET ratio = 0 WHERE id = 7')
    try {
      expect(await differences('plain')).toEqual([])
      const found = await differences(relation)
      expect(named(found)).toEqual(['ratio negative_zero', 'ratio content'])
      expect(found[0]).toMatchObject({ left: '0', right: '1' })
    } finally {
      await duckdb.run('UPDATE base SET ratio = CAST(7 AS DOUBLE) / 7 WHERE id = 7')
    }
  })

  test('one row twice, with both counts', async () => {
    const found = await differences(
      await planted('twice', 'INSERT INTO TABLE SELECT * FROM base WHERE id = 77'),
    )
    expect(found[0]).toEqual({ column: '', measure: 'rows', left: '5000', right: '5001' })
    expect(named(found)).toContain('id content')
  })

  test('a time zone, by that name', async () => {
    const found = await differences(
      await planted('zone', `UPDATE TABLE SET seen = seen + interval '2 hours'`),
    )
    expect(found.filter(({ hint }) => hint === 'time_zone').map(({ measure }) => measure)).toEqual([
      'sum',
      'min',
      'max',
    ])
    expect(new Set(found.map(({ column }) => column))).toEqual(new Set(['seen']))
  })

  test('a timestamp that lost its zone at a session’s border', async () => {
    const relation = await planted(
      'local',
      `ALTER TABLE TABLE ALTER seen TYPE timestamp USING seen AT TIME ZONE 'Europe/Berlin'`,
    )
    const found = await differences(relation)
    expect(new Set(found.map(({ column }) => column))).toEqual(new Set(['seen']))
  })
})

describe('on demand, the rows are named', () => {
  test('of one value', async () => {
    const relation = await planted('one', `UPDATE TABLE SET name = 'x' WHERE id = 4321`)
    expect(await located(relation, ['name'])).toEqual({
      keys: [{ key: ['4321'], left: 1, right: 1 }],
      complete: true,
      parts: 1,
    })
  })

  test('of a row that stands there twice, and one that is missing', async () => {
    const relation = await planted(
      'rows',
      'INSERT INTO TABLE SELECT * FROM base WHERE id = 77',
      'DELETE FROM TABLE WHERE id = 78',
    )
    const { keys, complete } = await located(
      relation,
      columns.map(([name]) => name),
    )
    expect(complete).toBe(true)
    expect(keys.toSorted((a, b) => Number(a.key[0]) - Number(b.key[0]))).toEqual([
      { key: ['77'], left: 0, right: 1 },
      { key: ['78'], left: 1, right: 0 },
    ])
  })

  test('of a difference in every row, some, and that there are more', async () => {
    const relation = await planted('all_rows', `UPDATE TABLE SET seen = seen + interval '1 hour'`)
    const { complete, parts, keys } = await located(relation, ['seen'])
    expect({ complete, named: keys.length > 0 }).toEqual({ complete: false, named: true })
    expect(parts).toBeGreaterThan(900)
  })

  test('of none where nothing differs', async () => {
    expect(await located(await planted('none'), ['name', 'ratio'])).toEqual({
      keys: [],
      complete: true,
      parts: 0,
    })
  })
})

test('numbers are compared by value, not by how they are written', () => {
  expect(['1.50', '-0.00', '007', '+3', '-.5', '100', '0'].map(plainNumber)).toEqual([
    ...['1.5', '0', '7', '3', '-0.5', '100', '0'],
  ])
})
