/** Decodes DuckDB's vectors to columns of batches: every supported type at its limits, NULLs, lists in any order. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { columns, failure, rowsIn, runBy, startTestEngine, type TestEngine } from '../../support/engine.ts'

let engine: TestEngine
beforeAll(async () => {
  engine = await startTestEngine()
})
afterAll(() => engine.close())

async function rows(sql: string, types: string): Promise<unknown[][]> {
  const session = await engine.engine.open([], runBy())
  try {
    const all: unknown[][] = []
    for await (const batch of session.run({ sql, columns: columns(types) })) all.push(...rowsIn(batch))
    return all
  } finally {
    await session.close()
  }
}

const cases: [type: string, sql: string, value: unknown][] = [
  ['bool', 'true', true],
  ['int2', '(-32768)::SMALLINT', -32_768],
  ['int4', '2147483647', 2_147_483_647],
  ['int8', '(-9223372036854775808)::BIGINT', -(2n ** 63n)],
  ['float4', '1.5::FLOAT', 1.5],
  ['float8', "'nan'::DOUBLE", Number.NaN],
  ['numeric', '-99.99::DECIMAL(4,2)', '-9999e-2'],
  ['numeric', '-1234567.89::DECIMAL(9,2)', '-123456789e-2'],
  ['numeric', '-999999999999999999::DECIMAL(18,0)', '-999999999999999999e-0'],
  [
    'numeric',
    '-99999999999999999999999999999999999.999::DECIMAL(38,3)',
    '-99999999999999999999999999999999999999e-3',
  ],
  ['numeric', '(2::HUGEINT ** 100)::HUGEINT', `${2n ** 100n}e-0`],
  ['numeric', '-7::BIGINT', '-7e-0'],
  ['numeric', '0.1::DOUBLE', '1e-1'],
  ['numeric', '1e22::DOUBLE', '10000000000000000000000e-0'],
  ['numeric', '-1.5e-7::DOUBLE', '-15e-8'],
  ['date', "DATE '1969-12-31'", -1],
  ['date', "'infinity'::DATE", 2_147_483_647],
  ['date', "'-infinity'::DATE", -2_147_483_648],
  ['time', "TIME '23:59:59.999999'", 86_399_999_999n],
  ['timestamp', "TIMESTAMP '1969-12-31 23:59:59.999999'", -1n],
  ['timestamp', "'infinity'::TIMESTAMP", 2n ** 63n - 1n],
  ['timestamp', "'-infinity'::TIMESTAMP", -(2n ** 63n)],
  ['timestamptz', "TIMESTAMPTZ '2020-01-01 01:00:00+01'", 1_577_836_800_000_000n],
  ['interval', "INTERVAL '-1 month 3 days 4.5 seconds'", [-1, 3, 4_500_000n]],
  ['text', "'twelve bytes'", 'twelve bytes'],
  ['text', "'thirteen byte' || chr(8364) || chr(0)", 'thirteen byte€\u0000'],
  ['varchar', "''", ''],
  ['json', `'{"a": 1}'::JSON`, '{"a": 1}'],
  ['uuid', "'00000000-0000-0000-0000-000000000001'::UUID", '00000000-0000-0000-0000-000000000001'],
  ['uuid', "'ffeeddcc-bbaa-9988-7766-554433221100'::UUID", 'ffeeddcc-bbaa-9988-7766-554433221100'],
  ['bytea', "unhex('00ff')", new Uint8Array([0, 255])],
  ['text[]', "['a', NULL, 'a longer text than a cell']", ['a', null, 'a longer text than a cell']],
  ['int4[]', '[]::INTEGER[]', []],
  ['timestamp[]', "[TIMESTAMP '1970-01-01 00:00:00.000002']", [2n]],
  ['numeric[]', '[1.25::DECIMAL(6,2)]', ['125e-2']],
]

describe('each type', () => {
  test.each(cases)('%s from %s, among NULLs', async (type, sql, value) => {
    // Another value a row, so that no vector is constant.
    const statement = `SELECT CASE WHEN r.i % 3 = 1 THEN NULL ELSE ${sql} END FROM range(5000) AS r(i)`
    const read = await rows(statement, `c ${type}`)
    expect(read).toHaveLength(5_000)
    for (const row of [0, 1, 2, 2_047, 2_048, 2_049, 4_998, 4_999])
      expect([row, read[row]?.[0]]).toEqual([row, row % 3 === 1 ? null : value])
    expect(new Set(read.map(([each], row) => `${row % 3 === 1} ${Bun.inspect(each)}`)).size).toBe(2)
  })
})

test('values differ row by row, in one batch and across batches', async () => {
  const read = await rows(
    "SELECT i::BIGINT, i::DECIMAL(12,3), 'text number ' || i, [i::INTEGER, NULL, -i::INTEGER], to_days(i::INTEGER) FROM range(5000) AS r(i)",
    'a int8, b numeric, c text, d int4[], e interval',
  )
  for (const [row, values] of read.entries())
    expect(values).toEqual([
      BigInt(row),
      `${row * 1000}e-3`,
      `text number ${row}`,
      [row, null, row === 0 ? 0 : -row],
      [0, row, 0n],
    ])
})

test('lists that share, skip or turn round their elements are put in order', async () => {
  const read = await rows(
    "SELECT l FROM (SELECT i, CASE WHEN i % 2 = 0 THEN ['even', 'row ' || i] WHEN i % 5 = 0 THEN NULL ELSE ['odd'] END AS l FROM range(300) AS r(i)) ORDER BY i DESC",
    'l text[]',
  )
  for (const [index, [list]] of read.entries()) {
    const i = 299 - index
    expect(list).toEqual(i % 2 === 0 ? ['even', `row ${i}`] : i % 5 === 0 ? null : ['odd'])
  }
})

test('doubles that stand for numerics are refused where they are no number: 22003', async () => {
  for (const value of ["'nan'", "'infinity'", "'-infinity'"])
    expect((await failure(rows(`SELECT ${value}::DOUBLE`, 'n numeric'))).code).toBe('22003')
  expect(
    await rows('SELECT CASE WHEN i = 0 THEN NULL ELSE 2.5 END::DOUBLE FROM range(2) AS r(i)', 'n numeric'),
  ).toEqual([[null], ['25e-1']])
})

test('the digits of a quotient do not depend on the values beside it', async () => {
  const sql = 'SELECT 5 / i::DOUBLE FROM unnest([0.5::DOUBLE, 9, 2]) AS r(i)'
  expect(await rows(sql, 'n numeric')).toEqual([['10e-0'], ['5555555555555556e-16'], ['25e-1']])
})

test('a NULL that DuckDB calls an integer is one of the type asked for, a value is not', async () => {
  const sql = "SELECT 'a' || CAST(NULL AS VARCHAR), 1.5 + CAST(NULL AS DECIMAL(9,2)), i FROM range(2) AS r(i)"
  const types = 'a text, b numeric, c int8'
  expect(await rows(sql, types)).toEqual([
    [null, null, 0n],
    [null, null, 1n],
  ])
  expect(
    (await failure(rows('SELECT CASE WHEN i = 0 THEN NULL ELSE 1 END FROM range(2) AS r(i)', 'a text'))).code,
  ).toBe('XX000')
})

test('a result without rows has no batches', async () => {
  expect(await rows('SELECT 1 WHERE false', 'a int4')).toEqual([])
})
