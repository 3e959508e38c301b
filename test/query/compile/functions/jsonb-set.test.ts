/** How long the SQL of jsonb_set is. What it gives is compared with PostgreSQL. */

import { expect, test } from 'bun:test'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'

const lengthOf = (calls: number, next: (document: string) => string) => {
  let document = `'{}'::jsonb`
  for (let at = 0; at < calls; at++) document = next(document)
  const principal = { sub: 'ann', roles: [] }
  const compiled = compileQuery({ text: `SELECT ${document}`, principal, tables: [], searchPath: ['s'] })
  const run = { relation: () => '', salt: new Uint8Array(16), parameters: [] }
  return renderSql(compiled.emit('duckdb', new Set()), 'duckdb', run).length
}

test.each([
  ['documents', (document: string) => `jsonb_set(${document}, '{a}', '1')`],
  ['values', (document: string) => `jsonb_set('{}', '{a}', ${document})`],
])('calls inside calls as %s add up, and do not multiply', (_, next) => {
  const one = lengthOf(1, next)
  expect(lengthOf(9, next)).toBeLessThan(10 * one)
})
