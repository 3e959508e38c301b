/** What is emitted for Trino where its meaning differs from PostgreSQL's. test:clients runs a real Trino. */

import { expect, test } from 'bun:test'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { governedTables, principal } from '../../support/fixture.ts'

const emit = (text: string) =>
  renderSql(
    compileQuery({ text, principal, tables: governedTables, searchPath: ['sales'] }).emit('trino'),
    'trino',
  )

test('a time that was given a zone is told in UTC, as its fields are', () => {
  expect(emit(`SELECT extract(hour FROM created_at AT TIME ZONE 'Europe/Berlin') FROM orders`)).toMatch(
    /\(with_timezone\([^()]+, 'Europe\/Berlin'\) AT TIME ZONE 'UTC'\)/,
  )
})

test('a series has the type of its ends', () => {
  expect(emit('SELECT g FROM generate_series(1, 3) g')).toContain('CAST(sequence(1, 3, 1) AS ARRAY(INTEGER))')
})

test('a series of times is made in UTC, and empty where there is nothing between its ends', () => {
  const sql = emit(`SELECT t FROM orders, generate_series(shipped_at, shipped_at, interval '1 day') t`)
  expect(sql).toContain(`t -> with_timezone(t, 'UTC')`)
  expect(sql).toContain('CASE WHEN')
})

test('a field counted from the end of a text is found there', () => {
  expect(emit(`SELECT split_part(status, '.', -1) FROM orders`)).toContain('element_at(split(')
})

test('a condition that cannot fail reads a column that is there, beside one that can', () => {
  const sql = emit(
    'SELECT count(*) FROM orders a JOIN orders b ON a.id = b.id WHERE a.big > 3 AND 10 / a.quantity > 1',
  )
  for (const [, table, column] of sql.matchAll(/\b(t\d)\.([bc]\d+)\b/g))
    expect(sql).toMatch(new RegExp(`AS ${column}\\b[^()]*.* AS ${table}\\b`))
})

test('grouping sets are of columns, which a subquery below computes from expressions', async () => {
  const month = "CAST(date_trunc('month', CAST(f.shipped_at AS timestamp)) AS date)"
  const sql = emit(
    `SELECT ${month}, f.region, GROUPING(${month}, f.region) AS g, count(*) AS n FROM sales.orders f WHERE f.status = 'paid'
     GROUP BY GROUPING SETS ((), (${month}), (${month}, f.region)) HAVING count(*) > 0 LIMIT 10`,
  )
  const sets = /GROUPING SETS \((.*?)\) HAVING/.exec(sql)?.[1] ?? ''
  expect(sets).toMatch(/^\(\), \((\S+)\), \(\1, \S+\)$/)
  expect(sql).toMatch(/GROUPING\([\w.]+, [\w.]+\)/i)
  const { TrinoSQL } = await import('dt-sql-parser')
  expect(new TrinoSQL().validate(sql)).toEqual([])
})

test('a function of the whole partition has no frame, which Trino would refuse', () => {
  const frame = 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING'
  const sql = emit(
    `SELECT row_number() OVER (ORDER BY id ${frame}), lag(id) OVER (ORDER BY id ${frame}) FROM orders`,
  )
  expect(sql).not.toContain('BETWEEN')
  expect(emit(`SELECT last_value(id) OVER (ORDER BY id ${frame}) FROM orders`)).toContain(frame)
})

test('NULL repeated is NULL, and so is a date of it', () => {
  expect(emit('SELECT repeat(status, 2) FROM orders')).toMatch(/CASE WHEN \S+ IS NOT NULL THEN CASE/)
  expect(emit('SELECT make_date(2024, quantity, 1) FROM orders')).toMatch(
    /CASE WHEN \S+ IS NOT NULL THEN CAST/,
  )
})
