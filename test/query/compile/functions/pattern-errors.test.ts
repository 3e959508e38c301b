/** Malformed patterns: the read path on DuckDB gives PostgreSQL's SQLSTATE, or PostgreSQL's rows if it gives some. */

import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { classifyError } from '../../../../src/engine/duckdb/classify-error.ts'
import { runError } from '../../../../src/query/run/attempt/run-error.ts'
import { openPair } from '../../support/pair.ts'

setDefaultTimeout(300_000)

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

/** Statements whose pattern is malformed; of some PostgreSQL says nothing as it never reads that far. */
const alike: readonly (readonly [sql: string, ...parameters: string[]])[] = [
  [`SELECT 'abc' LIKE 'ab\\'`],
  [`SELECT 'abc' ILIKE 'ab\\'`],
  [`SELECT 'abc' LIKE 'ab!' ESCAPE '!'`],
  [`SELECT count(*) FROM items WHERE sku LIKE '%\\'`],
  [`SELECT count(*) FROM items WHERE sku NOT LIKE '_\\'`],
  [`SELECT count(*) FROM items WHERE sku LIKE $1`, 'A-10\\'],
  [`SELECT count(*) FROM items WHERE sku LIKE $1`, 'zzz\\'],
  [`SELECT count(*) FROM items WHERE sku NOT LIKE $1`, 'A-10\\'],
  [`SELECT count(*) FROM items WHERE sku ILIKE $1`, 'a-10\\'],
  [`SELECT count(*) FROM items WHERE sku NOT ILIKE $1`, 'a-10\\'],
  [`SELECT count(*) FROM items WHERE sku LIKE left(sku, 2) || '\\'`],
  [`SELECT count(*) FROM items WHERE sku ILIKE sku || '\\'`],
  [`SELECT 'a' LIKE 'a' ESCAPE 'ab'`],
  [`SELECT 'a' ILIKE 'a' ESCAPE 'é!'`],
  [`SELECT 'a' SIMILAR TO 'a' ESCAPE 'ab'`],
  [`SELECT 'a' SIMILAR TO 'a' ESCAPE 'é!'`],
  [`SELECT 'z' SIMILAR TO '[a'`],
  [`SELECT 'z' SIMILAR TO 'a('`],
  [`SELECT 'z' ~ 'a('`],
  [`SELECT 'z' ~* '[a'`],
  [`SELECT regexp_replace('z', 'a(', 'b')`],
  [`SELECT 'a' LIKE 'a' ESCAPE ''`],
  [`SELECT 'a' LIKE 'a' ESCAPE NULL`],
  [`SELECT 'a' NOT ILIKE 'a' ESCAPE NULL`],
  [`SELECT 'a' SIMILAR TO 'a' ESCAPE NULL`],
  [`SELECT 'a%' LIKE 'aé%' ESCAPE 'é', 'ab' LIKE 'aé%' ESCAPE 'é'`],
  [`SELECT 'a%' LIKE 'a😀%' ESCAPE '😀', 'ab' LIKE 'a😀%' ESCAPE '😀', 'a😀' LIKE 'a😀😀' ESCAPE '😀'`],
  [`SELECT 'a%' SIMILAR TO 'a😀%' ESCAPE '😀', 'ab' SIMILAR TO 'a😀%' ESCAPE '😀'`],
  [`SELECT 'a' SIMILAR TO 'a\\', 'b' SIMILAR TO 'a!' ESCAPE '!', 'a\\' SIMILAR TO 'a\\'`],
]

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('as in PostgreSQL', () => {
  /** Rows, or the SQLSTATE that a client is told. */
  async function outcome(sql: string, parameters: readonly string[]) {
    try {
      return (await subject.run(sql, parameters)).rows
    } catch (thrown) {
      const refused = Reflect.get(thrown as object, 'sqlState') !== undefined
      return runError(refused ? thrown : classifyError(thrown)).sqlState
    }
  }

  test.each(alike.map((each) => [each] as const))('%p', async ([sql, ...parameters]) => {
    const expected = await ask(sql, parameters)
    const wanted = typeof expected === 'string' ? expected : expected.rows
    expect(await outcome(sql, parameters)).toEqual(wanted as never)
  })

  // Whether the end of a pattern is read depends on the text: a literal's is told before any text is looked at.
  test.each([
    `SELECT 'xyz' LIKE 'ab\\'`,
    `SELECT count(*) FROM items WHERE sku LIKE 'zzz\\'`,
    `SELECT count(*) FROM items WHERE sku NOT ILIKE 'zzz!' ESCAPE '!'`,
  ])('but a literal pattern that ends in its escape is always refused: %s', async (sql) => {
    expect(typeof (await ask(sql))).not.toBe('string')
    expect(await outcome(sql, [])).toBe('22025')
  })
})

test('what DuckDB says of a LIKE pattern is told in PostgreSQL’s words', () => {
  const told = classifyError(new Error('Syntax Error: Like pattern must not end with escape character!'))
  expect([told.code, told.message]).toEqual(['22025', 'LIKE pattern must not end with escape character'])
})
