/** Rows are shown by the outermost select list, as PostgreSQL prints them, and are values nowhere else. */

import { afterAll, expect, test } from 'bun:test'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { openSubject } from '../../support/duckdb.ts'

const subject = await openSubject()
afterAll(() => subject.close())

test.each([
  ["select row(1, 'a b', null, true)", 'row', '(1,"a b",,t)'],
  ["select (1, 'a')", 'row', '(1,a)'],
  ['select (id, row(id, false)) as pair from orders order by id limit 1', 'pair', '(1,"(1,f)")'],
])('%s is shown', async (text, name, shown) => {
  const { columns, rows } = await subject.run(text)
  expect(columns.map(({ name, type }) => [name, type])).toEqual([[name, 'text']])
  expect(rows).toEqual([[shown]])
})

test.each([
  'select row(id, status) from orders order by 1',
  'select row(id, status) as r from orders order by r',
  'select row(id, status), count(*) from orders group by 1',
  'select distinct (id, status) from orders',
  'select (1, 2) union select (1, 2)',
  "select * from (select (id, status) as r from orders) t where r = '(1,paid)'",
  'select max(row(id)) from orders',
  'select row()',
])('%s is refused, because texts are not compared as rows are', (text) => {
  let state: string | undefined
  try {
    subject.compile(text)
  } catch (thrown) {
    state = thrown instanceof SqlError ? thrown.sqlState : String(thrown)
  }
  expect(state).toBe('0A000')
})
