/** What may give another value each time is written once for the engine. */

import { expect, test } from 'bun:test'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { governedTables, principal } from '../../support/fixture.ts'

const written = (text: string) =>
  renderSql(
    compileQuery({ text, principal, tables: governedTables, searchPath: ['sales'] }).emit('duckdb'),
    'duckdb',
  )

const draws = (expression: string) => written(`SELECT ${expression} FROM orders`).match(/random\(\)/g)?.length

test.each([
  'greatest(random()::numeric(10,2), 0.5)',
  'least((select random()::numeric(10,2)), 0.5)',
  'nullif(random()::numeric(10,2) / 3, 0.5)',
])('%s draws as often as its argument', (expression) => {
  expect(draws(expression)).toBe(draws('random()::numeric(10,2)'))
})

test('ties of a random order are refused', () => {
  expect(() => written('SELECT id FROM orders ORDER BY random() FETCH FIRST 3 ROWS WITH TIES')).toThrow(
    'WITH TIES',
  )
})
