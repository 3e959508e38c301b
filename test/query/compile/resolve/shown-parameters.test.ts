/** A numeric parameter has the digits of its value where a select list shows what it makes. */

import { afterAll, expect, test } from 'bun:test'
import type { SqlType } from '../../../../src/core/sql-type.ts'
import { openSubject } from '../../support/duckdb.ts'

const subject = await openSubject()
afterAll(() => subject.close())

const shown = async (text: string, type: SqlType | undefined, value: string | null) => {
  const { rows } = await subject.run(text, [value], { parameterTypes: [type] })
  return rows[0]?.[0]
}

test.each([
  ['select 10.25 + $1', 'numeric', '2', '12.25'],
  ['select 10.25 + $1', undefined, '2.500', '12.750'],
  ['select 10 * $1', 'numeric', '0.125', '1.250'],
  ['select coalesce($1, 7)', 'numeric', '1.50', '1.50'],
  ['select coalesce($1, 7)', 'numeric', null, '7'],
  ['select x from (select 1 - $1 as x) t', 'numeric', '0.5', '0.5'],
  ['with t as (select $1 + 1 as x) select x from t', 'numeric', '0.10', '1.10'],
  ['select sum(id * 0 + $1) from orders where id < 3', 'numeric', '1.5', '3.0'],
  ['select $1::numeric', 'varchar', '20.50', '20.50'],
  ['select $1::numeric(6,1)', 'text', '20.55', '20.6'],
  [`select timestamp '2024-01-01' + $1::interval`, 'varchar', '1 day 02:00', '2024-01-02 02:00:00'],
] as const)('%s with %s %s shows its digits', async (text, type, value, expected) => {
  expect(await shown(text, type, value)).toBe(expected)
})

test('a condition does not ask for the value, so that a run compiles nothing', () => {
  const { needsValues } = subject.compile('select id from orders where amount > $1 and amount in ($2, $3)', {
    parameterTypes: ['numeric', 'numeric', 'numeric'],
  })
  expect(needsValues).toEqual([])
})
