/** What people write every day, compared with PostgreSQL: rows, types and SQLSTATEs. */

import { afterAll, describe, expect, test } from 'bun:test'
import { typeOid } from '../../src/core/sql-type.ts'
import { classifyError } from '../../src/engine/duckdb/classify-error.ts'
import { everyday } from './corpus/everyday.ts'
import { failing } from './corpus/failing.ts'
import { failingForms, singleForms } from './corpus/single-forms.ts'
import { normal, typeIn } from './support/compare.ts'
import { openPair } from './support/pair.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

/** The SQLSTATE of a refusal, of a value that is computed behind the engine, or of the engine's error as a client gets it. */
const stateOf = (thrown: unknown): string => {
  const own: unknown = Reflect.get(thrown as object, 'sqlState')
  return typeof own === 'string' ? own : classifyError(thrown).code
}

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('as in PostgreSQL', () => {
  test.each([...everyday, ...singleForms])('the rows and types: %s', async (sql) => {
    const expected = await ask(sql)
    if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
    const { columns, rows } = await subject.run(sql)
    const types = columns.map(({ type }) => type)
    expect(columns.map(({ name, type }) => [name, String(typeOid(type))])).toEqual(
      expected.columns.map(({ name, type }) => [name, typeIn(type)]),
    )
    expect(normal(rows, types, false)).toEqual(normal(expected.rows, types, false))
  })

  test.each([...failing, ...failingForms])('the SQLSTATE: %s', async (sql) => {
    const expected = await ask(sql)
    expect(typeof expected).toBe('string')
    const state = await subject.run(sql).then(() => 'none', stateOf)
    expect(state).toBe(String(expected))
  })
})

test.each([...everyday, ...singleForms])('is written for Trino too, or refused there: %s', (sql) => {
  let state = 'none'
  try {
    subject.compile(sql).emit('trino')
  } catch (thrown) {
    state = stateOf(thrown)
  }
  expect(['none', '0A000']).toContain(state)
})
