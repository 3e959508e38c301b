/** The operator is the one that PostgreSQL chooses, in statements and in row filters. The whole matrix is test/query/types. */

import { afterAll, describe, expect, test } from 'bun:test'
import { typeOid } from '../../../../src/core/sql-type.ts'
import { governedTables } from '../../support/fixture.ts'
import { openPair } from '../../support/pair.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

const values =
  "(VALUES (0.1::real, 7, 'a'::varchar, 0.145::float8, 123456789.12::numeric(18,2))) v(r, i, t, d, n)"

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('as PostgreSQL does', () => {
  test.each([
    ['a real is compared with a numeric as double precision', 'r = 0.1, r < 0.1, r IS DISTINCT FROM 0.1'],
    ['one constant of IN is compared so, several are reals', 'r IN (0.1), r IN (0.1, 0.2)'],
    ['a real divided by an integer is double precision', 'r / i'],
    ['NULLIF keeps the type of its first value', 'NULLIF(i, 8::bigint), NULLIF(i, 7::bigint)'],
    ['text is joined to a literal', "t || '%', t || NULL, i || '%'"],
    ['an interval moves a date to a timestamp', "interval '1 day' + date '2024-01-01'"],
    ['a product has 38 digits', 'n * 1.23456789::numeric(18,8)'],
    ['a float becomes a numeric of 15 digits', 'round(d::numeric, 2), d::numeric(5,2), r::numeric'],
    ['no value divided by zero is no value', 'NULL::int / 0, NULL::numeric % 0'],
  ])('%s', async (_, expressions) => {
    const sql = `SELECT ${expressions} FROM ${values}`
    const there = await ask(sql)
    if (typeof there === 'string') throw new Error(`PostgreSQL itself refuses: ${there}`)
    const here = await subject.run(sql)
    expect(here.columns.map(({ type }) => String(typeOid(type)))).toEqual(
      there.columns.map(({ type }) => type),
    )
    expect(here.rows).toEqual(there.rows)
  })

  test.each([
    ["date '2024-01-01' + '1'", '42725'],
    ["1 LIKE 'a'", '42883'],
    ['1 = ANY (2)', '42809'],
    ['5 / 0.0', '22012'],
  ])('%s fails with %s', async (expression, sqlState) => {
    const sql = `SELECT ${expression}`
    expect(await ask(sql)).toBe(sqlState)
    const here = await subject.run(sql).then(
      () => undefined,
      (thrown) => thrown.sqlState ?? String(thrown.message),
    )
    expect(here === sqlState || /division by zero/.test(String(here))).toBe(true)
  })
})

test('a row filter compares a real with a numeric as double precision', () => {
  const [table] = governedTables
  if (table === undefined) throw new Error('there is no table')
  const rowFilters = [
    { policyId: 'f', origin: { kind: 'table' as const }, expression: 'discount::real = 0.1' },
  ]
  const sql = subject
    .compile('SELECT id FROM sales.orders', { tables: [{ ...table, rowFilters }] })
    .emit('duckdb')
  expect(sql.join('')).toMatch(/AS FLOAT\) AS DOUBLE\) = CAST\('0\.1' AS DOUBLE/)
})
