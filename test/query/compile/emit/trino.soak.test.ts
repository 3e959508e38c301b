/** Trino's own grammar parses what is emitted for Trino, for every query of the corpus that it supports. */

import { expect, test } from 'bun:test'
import { TrinoSQL } from 'dt-sql-parser'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { isLongForm } from '../../../support/long-form.ts'
import { attacks } from '../../attacks/all.ts'
import { corpus } from '../../corpus/all.ts'
import { parameterValues } from '../../corpus/query.ts'
import { governedTables, principal } from '../../support/fixture.ts'

const grammar = new TrinoSQL()
const stride = process.env.SVC_TEST_SOAK_SECONDS !== undefined ? 1 : isLongForm ? 8 : 24

function emitTrino(text: string, parameters?: readonly (string | null)[]): string {
  const compiled = compileQuery({
    text,
    principal,
    tables: governedTables,
    searchPath: ['sales', 'hr'],
    parameterValues: parameterValues(parameters),
  })
  const options = { salt: new Uint8Array(16), parameters: parameters ?? [] }
  return renderSql(compiled.emit('trino'), 'trino', options)
}

test('the grammar refuses what is no Trino', () => {
  expect(grammar.validate('SELECT 1::int')).not.toEqual([])
})

test('every emitted statement parses', () => {
  const unserved: string[] = []
  const served = [
    ...corpus,
    ...attacks.flatMap(({ sql, expect: expected }) =>
      expected === 'same' ? [{ sql, parameters: undefined }] : [],
    ),
  ]
  let parsed = 0
  for (const [index, { sql, parameters }] of served.entries()) {
    let emitted: string
    try {
      emitted = emitTrino(sql, parameters)
    } catch (error) {
      if (!(error instanceof SqlError) || error.sqlState !== '0A000') throw error
      unserved.push(`${error.publicMessage} ${sql}`)
      continue
    }
    // The grammar takes some 30 ms for each: some of them, all in `test:soak`.
    if (index % stride !== 0) continue
    const problems = grammar.validate(emitted).map(({ message }) => message)
    expect([emitted, ...problems]).toEqual([emitted])
    parsed++
  }
  // Refusals are listed in docs/sql.md: few, and each for a reason.
  expect(unserved.length / served.length).toBeLessThan(0.15)
  expect(parsed).toBeGreaterThan(served.length / stride / 2)
}, 300_000)
