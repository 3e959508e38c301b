/** TABLESAMPLE keeps visible rows by chance, and no others. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSubject, type Subject } from '../../support/duckdb.ts'
import { canary } from '../../support/fixture.ts'

let subject: Subject

beforeAll(async () => {
  subject = await openSubject()
})
afterAll(() => subject.close())

const all = 'SELECT count(*) FROM orders'

test.each(['BERNOULLI', 'SYSTEM'])(
  '%s of 100 percent is every visible row, of 0 percent none',
  async (method) => {
    const whole = await subject.run(all)
    expect((await subject.run(`${all} TABLESAMPLE ${method} (100)`)).rows).toEqual(whole.rows)
    expect((await subject.run(`${all} TABLESAMPLE ${method} (0)`)).rows).toEqual([['0']])
  },
)

test('a sample holds visible rows only, under the name of its table or alias', async () => {
  const visible = await subject.run('SELECT orders.* FROM orders')
  for (const from of [
    'orders TABLESAMPLE BERNOULLI (60)',
    'sales.orders AS orders TABLESAMPLE SYSTEM (60.5)',
  ]) {
    const { rows } = await subject.run(`SELECT orders.* FROM ${from}`)
    expect(JSON.stringify(rows)).not.toContain(canary)
    const known = new Set(visible.rows.map((row) => JSON.stringify(row)))
    expect(rows.filter((row) => !known.has(JSON.stringify(row)))).toEqual([])
  }
})

test.each([
  ['a percentage beyond 100', 'orders TABLESAMPLE BERNOULLI (101)', '22023'],
  ['a sample that repeats', 'orders TABLESAMPLE BERNOULLI (10) REPEATABLE (7)', '0A000'],
  ['another method', 'orders TABLESAMPLE tsm_system_rows (10)', '42704'],
  ['a percentage that is an expression', 'orders TABLESAMPLE BERNOULLI (1 + 1)', '0A000'],
  ['an unknown table', 'base_orders TABLESAMPLE BERNOULLI (10)', '42P01'],
])('%s is refused', (_, from, sqlState) => {
  expect(() => subject.compile(`SELECT * FROM ${from}`)).toThrow(expect.objectContaining({ sqlState }))
})
