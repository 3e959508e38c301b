/** The function is the one that PostgreSQL chooses, with its values. The whole matrix is test/query/types. */

import { afterAll, describe, expect, test } from 'bun:test'
import { typeOid } from '../../../../src/core/sql-type.ts'
import { factsOfFunctions } from '../../../../src/query/compile/resolve/function-choice.ts'
import { openPair } from '../../support/pair.ts'
import { functionNames } from '../../types/operator-facts.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

const values = `(VALUES (7, 'a"b'::varchar, 1.5::real, 1234567890123456789012.0123456789::numeric(38,10), ARRAY[1,NULL],
  timestamp '9999-12-31 23:59:59.999999', NULL::int)) v(i, t, r, n, a, ts, none)`

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('as PostgreSQL does', () => {
  test.each([
    ['no element is rounded', '(array_append(ARRAY[1.55::numeric(12,2)], 1::numeric(38,0)))[1]'],
    ['arrays and values meet in one type', 'array_append(a, 3::bigint), array_position(a, 1::bigint)'],
    ['a type is called as a function', "date('2024-02-29'), date('2024-02-29'::text)"],
    ['any value is quoted', 'quote_literal(i), quote_nullable(none)'],
    ['JSON has each digit of a numeric', 'to_json(n), jsonb_build_array(n), json_build_object($$k$$, n)'],
    [
      'JSON has the blanks',
      "json_build_array(i, t), jsonb_build_object('k', i, 'a', a), to_json(a), to_jsonb(a)",
    ],
    ['JSON has what is no number as text', "to_json('NaN'::float8), to_jsonb(1e20::float8), to_jsonb(-r)"],
    ['JSON has bytes and intervals', "to_json('\\x61'::bytea), json_build_array(interval '1 day')"],
    ['of a key that is there twice jsonb has the last', "jsonb_build_object('k', 1, 'k', 2)"],
    ['what is NULL of NULL does not fail', 'make_date(0, none, 1), log(0, none), trim_array(a, none)'],
    ['an epoch has its microseconds', 'extract(epoch from ts)'],
    ['a whole quotient of large numbers', 'div(9223372036854775807, 1.5), div(-7, 2)'],
    ['the least bound does not lose a bucket', 'width_bucket(0, -9223372036854775808, 2, 2)'],
  ])('%s', async (_, expressions) => {
    const sql = `SELECT ${expressions} FROM ${values}`.replaceAll('$$', "'")
    const there = await ask(sql)
    if (typeof there === 'string') throw new Error(`PostgreSQL itself refuses: ${there}`)
    const here = await subject.run(sql)
    expect(here.columns.map(({ type }) => String(typeOid(type)))).toEqual(
      there.columns.map(({ type }) => type),
    )
    expect(here.rows).toEqual(there.rows)
  })

  test.each([
    ["gcd('1', '2')", '42725'],
    ['sum(NULL)', '42725'],
    ["extract(year from '2024')", '42725'],
    ['concat_ws(1, 2)', '42883'],
    ["min('11111111-2222-3333-4444-555555555555'::uuid)", '42883'],
    ["to_json('x')", '42804'],
    ['array_length(NULL, 1)', '42804'],
    ["array_append('1', ARRAY[1])", '42704'],
    ['round(1.5::real, 1)', '42883'],
    ["rank(1) WITHIN GROUP (ORDER BY 'a'::text)", '42804'],
    ["jsonb_object_agg('{}'::json, 1)", '22023'],
  ])('%s is %s', async (expression, state) => {
    const sql = `SELECT ${expression}`
    expect(await ask(sql)).toBe(state)
    expect(
      await subject.run(sql).then(
        () => 'an answer',
        ({ sqlState }) => sqlState,
      ),
    ).toBe(state)
  })

  test('ranks of a value take no column that is not grouped', async () => {
    const sql = `SELECT rank(i) WITHIN GROUP (ORDER BY i) FROM ${values}`
    expect(await ask(sql)).toBe('42803')
    expect(
      await subject.run(sql).then(
        () => 'an answer',
        ({ sqlState }) => sqlState,
      ),
    ).toBe('42803')
  })
})

test('each function that is served has the facts of the catalog', () => {
  const grammatical = ['current_date', 'current_timestamp', 'localtimestamp']
  expect(functionNames.filter((name) => !factsOfFunctions.has(name))).toEqual(grammatical)
})
