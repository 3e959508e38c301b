/** Reconciliation on a real Trino: it writes values, counts and hashes exactly as DuckDB does. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { type ColumnPair, icebergColumn, pairOf } from '../../src/contract/reconcile/column-kind.ts'
import { type Cells, locate, type SideReader } from '../../src/contract/reconcile/locate.ts'
import { differencesOf, named, readSide } from '../support/reconcile.ts'
import { startTrino, type TrinoServer, trinoSql } from './trino-server.ts'

/** Name, Iceberg's type, the value in DuckDB and in Trino. */
const columns: readonly (readonly [name: string, type: string, duckdb: string, trino: string])[] = [
  ['id', 'long', 'i', 'i'],
  ['small', 'int', '(i % 7)::INTEGER', 'CAST(i % 7 AS INTEGER)'],
  [
    'amount',
    'decimal(10, 2)',
    '((i * 37 % 10000) * 0.01)::DECIMAL(10,2)',
    "CAST((i * 37 % 10000) * DECIMAL '0.01' AS DECIMAL(10,2))",
  ],
  [
    'big',
    'decimal(38, 4)',
    '(i * 12345678901234.5)::DECIMAL(38,4)',
    "CAST(i * DECIMAL '12345678901234.5' AS DECIMAL(38,4))",
  ],
  [
    'ratio',
    'double',
    "CASE i % 50 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN '-inf'::DOUBLE WHEN 2 THEN -0.0::DOUBLE ELSE i::DOUBLE / 7 END",
    "CASE i % 50 WHEN 0 THEN nan() WHEN 1 THEN -infinity() WHEN 2 THEN DOUBLE '-0' ELSE CAST(i AS DOUBLE) / 7 END",
  ],
  ['single', 'float', 'i::FLOAT / 3::FLOAT', "CAST(i AS REAL) / REAL '3'"],
  [
    'name',
    'string',
    "CASE WHEN i % 9 = 0 THEN NULL WHEN i % 9 = 1 THEN '' ELSE 'näme ' || i || chr(128512) END",
    "CASE WHEN i % 9 = 0 THEN NULL WHEN i % 9 = 1 THEN '' ELSE 'näme ' || CAST(i AS VARCHAR) || chr(128512) END",
  ],
  ['flag', 'boolean', 'i % 3 = 0', 'i % 3 = 0'],
  ['day', 'date', "DATE '1965-01-01' + i::INTEGER", "date_add('day', i, DATE '1965-01-01')"],
  [
    'clock',
    'time',
    "TIME '00:00:00.000007' + to_seconds(i)",
    "CAST(date_add('second', i, TIME '00:00:00.000007') AS TIME(6))",
  ],
  [
    'made',
    'timestamp',
    "TIMESTAMP '1969-12-31 23:00:00.000001' + to_minutes(i)",
    "CAST(date_add('minute', i, TIMESTAMP '1969-12-31 23:00:00.000001') AS TIMESTAMP(6))",
  ],
  [
    'seen',
    'timestamptz',
    "TIMESTAMPTZ '2024-03-31 00:00:00.000009+00' + to_seconds(61 * i)",
    "CAST(date_add('second', 61 * i, TIMESTAMP '2024-03-31 02:00:00.000009 +02:00') AS TIMESTAMP(6) WITH TIME ZONE)",
  ],
  [
    'uid',
    'uuid',
    "('00000000-0000-0000-0000-' || lpad(i::VARCHAR, 12, '0'))::UUID",
    "CAST('00000000-0000-0000-0000-' || lpad(CAST(i AS VARCHAR), 12, '0') AS UUID)",
  ],
  [
    'payload',
    'binary',
    "CASE WHEN i % 7 = 0 THEN NULL ELSE unhex(printf('%08x', i)) END",
    "CASE WHEN i % 7 = 0 THEN NULL ELSE from_hex(lpad(to_base(i, 16), 8, '0')) END",
  ],
]
const rowCount = 2_000
const signal = new AbortController().signal

let trino: TrinoServer
let duckdb: DuckDBConnection
beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create(':memory:')).connect()
  await duckdb.run("SET TimeZone = 'UTC'")
  const list = columns.map(([name, , sql]) => `${sql} AS ${name}`).join(', ')
  await duckdb.run(`CREATE TABLE base AS SELECT ${list} FROM range(1, ${rowCount + 1}) t(i)`)
  trino = await startTrino({ catalogs: { tpch: { 'connector.name': 'tpch' } } })
}, 300_000)
afterAll(async () => {
  duckdb.closeSync()
  await trino?.[Symbol.asyncDispose]()
})

const pairs: readonly ColumnPair[] = columns.map(([name, type], index) => {
  const column = icebergColumn(name, type)
  const pair = pairOf(index + 1, column, column)
  if (pair === undefined) throw new Error(name)
  return pair
})
const left: SideReader = {
  dialect: 'duckdb',
  read: async (write) => (await duckdb.runAndReadAll(write('base').sql)).getRowsJS() as Cells[],
}
/** The same rows, one column of which may be written otherwise. */
function right(changes: Readonly<Record<string, string>> = {}): SideReader {
  const list = columns.map(([name, , , sql]) => `${changes[name] ?? sql} AS ${name}`).join(', ')
  const relation = `(SELECT ${list} FROM UNNEST(sequence(1, ${rowCount})) AS t(i)) AS base`
  return {
    dialect: 'trino',
    read: async (write) => (await trinoSql(trino.url, write(relation).sql)) as Cells[],
  }
}

async function differences(other: SideReader) {
  const [a, b] = [await readSide(left, pairs, 'left'), await readSide(other, pairs, 'right')]
  return { names: named(differencesOf(pairs, a, b)), isWholeEqual: a.whole === b.whole }
}

test('trino-reconcile: equal rows have equal counts, sums, hashes and row hashes', async () => {
  expect(await differences(right())).toEqual({ names: [], isWholeEqual: true })
}, 120_000)

test('trino-reconcile: one value of many is found, and its row named', async () => {
  const other = right({ name: `CASE WHEN i = 1235 THEN 'x' ELSE ${columns[6]?.[3]} END` })
  const { names, isWholeEqual } = await differences(other)
  expect(names).toEqual(['name bytes', 'name max', 'name content'])
  expect(isWholeEqual).toBe(false)
  const of = (name: string) => pairs.filter((pair) => pair.left.name === name)
  expect(await locate({ left, right: other }, of('id'), of('name'), signal)).toEqual({
    keys: [{ key: ['1235'], left: 1, right: 1 }],
    complete: true,
    parts: 1,
  })
}, 120_000)

test('trino-reconcile: 0 against -0, NULL against empty, and another zone are found', async () => {
  const plain =
    "CASE i % 50 WHEN 0 THEN nan() WHEN 1 THEN -infinity() WHEN 2 THEN DOUBLE '0' ELSE CAST(i AS DOUBLE) / 7 END"
  expect((await differences(right({ ratio: plain }))).names).toEqual(['ratio negative_zero', 'ratio content'])
  const empty = columns[6]?.[3].replace('THEN NULL', "THEN ''") ?? ''
  expect((await differences(right({ name: empty }))).names).toEqual([
    'name nulls',
    'name empty',
    'name content',
  ])
  const zone = columns[11]?.[3].replace('+02:00', '+01:00') ?? ''
  expect((await differences(right({ seen: zone }))).names).toEqual([
    ...['seen sum', 'seen min', 'seen max', 'seen content'],
  ])
}, 120_000)
