/** Functions of regular expressions refuse a malformed pattern with PostgreSQL's SQLSTATE when the statement is compiled. */

import { expect, test } from 'bun:test'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'

const principal = { sub: 'ann', roles: [] }

test.each(
  [
    `regexp_matches('a', {})`,
    `regexp_matches('a', {}, 'g')`,
    `regexp_match('a', {})`,
    `regexp_replace('a', {}, 'b')`,
    `regexp_split_to_array('a', {})`,
    `regexp_split_to_table('a', {})`,
    `regexp_count('a', {})`,
    `regexp_substr('a', {})`,
    `regexp_instr('a', {})`,
    `regexp_like('a', {})`,
    `substring('a' from {})`,
    `'a' ~ {}`,
    `'a' !~* {}`,
  ].flatMap((call) => ["'(a'", "'[a'", "'a{2,1}'", "'*a'"].map((pattern) => call.replace('{}', pattern))),
)('%s is refused as 2201B', (sql) => {
  const compile = () =>
    compileQuery({ text: `SELECT ${sql}`, principal, tables: [], searchPath: [] }).emit('duckdb')
  let state: unknown
  try {
    compile()
  } catch (error) {
    state = error instanceof SqlError ? error.sqlState : error
  }
  expect(state).toBe('2201B')
})
