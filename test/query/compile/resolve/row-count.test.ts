/** LIMIT, OFFSET and FETCH by every kind of count, beside a real PostgreSQL. */

import { afterAll, describe, expect, test } from 'bun:test'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { principal } from '../../support/fixture.ts'
import { openPair } from '../../support/pair.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

const rows = 'SELECT n FROM (VALUES (1), (2), (3), (4), (5), (6)) v(n) ORDER BY n'
const clauses = ['LIMIT @', 'OFFSET @', 'LIMIT 2 OFFSET @', 'FETCH FIRST (@) ROWS ONLY']

/** What our side answers, or its SQLSTATE, as `ask` does of PostgreSQL. */
async function ours(sql: string, parameters?: readonly (string | null)[]) {
  try {
    return (await subject.run(sql, parameters)).rows
  } catch (thrown) {
    return (thrown as { readonly sqlState?: string }).sqlState ?? thrown
  }
}

async function both(sql: string, parameters?: readonly (string | null)[]) {
  const theirs = await ask(sql, parameters)
  return [await ours(sql, parameters), typeof theirs === 'string' ? theirs : theirs.rows]
}

const types = ['smallint', 'int', 'bigint', 'numeric', 'real', 'double precision']
const values: readonly (string | null)[] = ['0', '1', '3', '99', '-1', null]
const fractions = ['0.5', '1.5', '2.5', '2.4999', '-0.4', '-0.6', '1e0', '25e-1']

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('a count of rows', () => {
  test.each(clauses.flatMap((clause) => types.map((type) => [clause, type] as const)))(
    '%s by a parameter of type %s means what it means in PostgreSQL',
    async (clause, type) => {
      const sql = `${rows} ${clause.replace('@', `$1::${type}`)}`
      const given = /numeric|real|double/.test(type) ? [...values, ...fractions] : values
      for (const value of given) {
        const [here, there] = await both(sql, [value])
        expect({ value, answer: here }).toEqual({ value, answer: there })
      }
    },
  )

  test.each([
    ...['1 + 1', '7 / 2', '7 % 4', '2 * 3 - 4', '-(-2)', '+3', '(SELECT 2)', '(SELECT 1 + (SELECT 1))'],
    ...[
      '2.5',
      '3.5',
      '1.49',
      "'3'",
      "'3'::int",
      '3::bigint',
      '2.5::int',
      '1.5::float8',
      '2.5::float8',
      'NULL',
    ],
    ...[
      '1 - 2',
      '-1',
      '1 / 0',
      '2147483647 + 1',
      "'x'",
      "'3'::text",
      'true',
      '9223372036854775807',
      '(SELECT NULL)',
    ],
  ])('LIMIT and OFFSET %s mean what they mean in PostgreSQL', async (count) => {
    for (const clause of ['LIMIT', 'OFFSET']) {
      const [here, there] = await both(`${rows} ${clause} ${count}`)
      expect({ clause, answer: here }).toEqual({ clause, answer: there })
    }
  })
})

test('a parameter that the driver declares as int2 or int4 is taken, as pgjdbc, psycopg and Npgsql declare it', () => {
  for (const type of ['int2', 'int4', 'int8'] as const) {
    const compiled = compileQuery({
      ...{ text: `${rows} LIMIT $1 OFFSET $2`, principal, tables: [], searchPath: [] },
      parameterTypes: [type, type],
    })
    expect(compiled.parameters).toEqual([type, type])
    expect(renderSql(compiled.emit('duckdb'), 'duckdb', { parameters: ['2', '1'] })).toEndWith(
      'LIMIT 2 OFFSET 1',
    )
  }
})

test.each(['int2', 'int4', 'int8', 'numeric', 'float8'] as const)(
  'a parameter that is declared as %s and cast to an integer is taken, as SQLAlchemy casts what psycopg declares',
  (type) => {
    for (const cast of ['integer', 'bigint']) {
      const compiled = compileQuery({
        ...{ text: `${rows} LIMIT $1::${cast} OFFSET $2::${cast}`, principal, tables: [], searchPath: [] },
        parameterTypes: [type, type],
        parameterValues: [
          [1, '2'],
          [2, '1'],
        ],
      })
      expect(renderSql(compiled.emit('duckdb'), 'duckdb', { parameters: ['2', '1'] })).toEndWith(
        'LIMIT 2 OFFSET 1',
      )
    }
  },
)

test.each(['(SELECT count(*) FROM (VALUES (1)) t)', '$1 + 1', "length('abc')"])(
  'LIMIT %s is refused with the reason',
  async (count) => {
    expect(await ours(`${rows} LIMIT ${count}`, count.includes('$') ? ['1'] : undefined)).toBe('0A000')
  },
)
