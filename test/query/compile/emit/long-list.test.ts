/** IN lists of hundreds of constants mean what they mean in PostgreSQL, in every place of a statement. */

import { afterAll, describe, expect, test } from 'bun:test'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { checkText } from '../../../../src/query/compile/parse/parse.ts'
import { governedTables, principal } from '../../support/fixture.ts'
import { openPair } from '../../support/pair.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

const count = 300
const several = (item: (index: number) => string) => Array.from({ length: count }, (_, i) => item(i))
const list = (item: (index: number) => string) => several(item).join(', ')
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
const odd = ["it's", '"', '\\', '[1, 2]', '{"a": null}', 'null', '', ' ', '€😀', 'a,b', '\n\t', '\u2028']

const lists: Readonly<Record<string, readonly [values: string, list: string]>> = {
  int: ['(1), (299), (300), (-1), (NULL)', list(String)],
  'int by bigint': ['(1), (300)', list((i) => `${i}::bigint`)],
  'int by decimals': ['(1), (2), (300)', list((i) => `${i}.${i % 2}`)],
  bigint: [
    '(9223372036854775807), (-9223372036854775808)',
    list((i) => String(9223372036854775807n - BigInt(i))),
  ],
  numeric: ['(0.10), (7.1), (12345678901234567890.123)', list((i) => `${i}.1`)],
  'numeric of 38 digits': [
    '(99999999999999999999999999999999999999), (1)',
    list((i) => `${'9'.repeat(38 - String(i).length)}${i}`),
  ],
  'numeric of whole numbers': ['(0.5), (7.0), (300)', list(String)],
  text: [
    [...odd.map((text) => `(${quoted(text)})`), '(NULL)'].join(),
    [...odd.map(quoted), list((i) => quoted(`t${i}`))].join(),
  ],
  'text with NULL': ["('t1'), ('t300'), (NULL)", `${list((i) => quoted(`t${i}`))}, NULL`],
  date: ["(date '2024-01-01'), ('0001-01-01')", `${list(() => "'2024-01-01'")}, '0001-01-01'`],
  'date by cast': ["(date '2024-01-01')", list(() => "'2024-01-01'::date")],
  timestamp: ["(timestamp '2024-01-01 00:00:00.5')", list(() => "'2024-01-01 00:00:00.5'")],
  timestamptz: ["(timestamptz '2024-01-01 00:00+02')", list(() => "'2023-12-31 22:00:00+00'")],
  uuid: [
    "(uuid '00000000-0000-0000-0000-000000000001')",
    list(() => "'00000000-0000-0000-0000-000000000001'"),
  ],
  float8: ["(float8 '1.5'), ('NaN'), ('-0')", list((i) => `${i}.5`)],
  boolean: ['(true), (NULL)', list(() => 'true')],
}

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('a list of hundreds', () => {
  test.each(Object.entries(lists))('of %s finds what it finds in PostgreSQL', async (_, [values, items]) => {
    const places = [
      `SELECT v FROM t WHERE v IN (${items})`,
      `SELECT v FROM t WHERE v NOT IN (${items})`,
      `SELECT v FROM t WHERE v IN (${items}) OR v IS NULL`,
      `SELECT v FROM t WHERE (v IN (${items})) IS NULL`,
      `SELECT v IN (${items}) FROM t`,
      `SELECT t.v FROM t LEFT JOIN t u ON u.v = t.v AND u.v IN (${items}) AND t.v IN (${items})`,
      `SELECT v FROM t GROUP BY v HAVING v IN (${items})`,
    ]
    for (const place of places) {
      const sql = `WITH t(v) AS (VALUES ${values}) SELECT count(*) FROM (${place}) q(v) WHERE v IS NOT NULL`
      const theirs = await ask(sql)
      expect(typeof theirs === 'string' ? theirs : theirs.rows).toEqual((await subject.run(sql)).rows)
    }
  })

  test.each([
    ['int4', several(String)],
    ['int2', several(String)],
    ['numeric', several((i) => `${i}.25`)],
    ['text', several((i) => `${i}'"\\`)],
    ['date', several((i) => `20${String(i % 100).padStart(2, '0')}-01-01`)],
  ] as const)('of parameters of type %s finds what it finds in PostgreSQL', async (type, values) => {
    const marks = values.map((_, i) => `$${i + 1}::${type}`).join()
    const given = [...values.slice(0, -1), null]
    for (const not of ['', 'NOT']) {
      const sql = `SELECT count(*) FROM (VALUES (${quoted(values[1] ?? '')}::${type}), (${quoted(values[2] ?? '')})) t(v) WHERE v ${not} IN (${marks})`
      const theirs = await ask(sql, given)
      expect(typeof theirs === 'string' ? theirs : theirs.rows).toEqual((await subject.run(sql, given)).rows)
    }
  })
})

const compiled = (text: string) =>
  compileQuery({ text, principal, tables: governedTables, searchPath: ['sales'] })

test('it is one constant for DuckDB, and a list for Trino', () => {
  const query = compiled(`SELECT id FROM orders WHERE id IN (${list(String)})`)
  expect(renderSql(query.emit('duckdb'), 'duckdb')).toContain(' IN (SELECT unnest(CAST(CAST(CAST(')
  expect(renderSql(query.emit('trino'), 'trino')).not.toContain('unnest')
})

test('it stays a list where what is looked for can fail, because an error could tell of hidden rows', () => {
  const query = compiled(`SELECT id FROM orders WHERE 1 / id IN (${list(String)})`)
  expect(renderSql(query.emit('duckdb'), 'duckdb')).not.toContain('unnest')
})

test('operators in texts, and casts of constants in lists, do not count as nested operators', () => {
  const many = (item: string) => `select 1 where 'x' in (${Array(5_000).fill(item).join()}, 'x')`
  checkText(many("'a+b@c.example'"))
  checkText(many("'2024-01-01'::date"))
  expect(() => checkText(`select ${Array(5_000).fill('1').join('+')}`)).toThrow('too many operators')
  expect(() => checkText(`select 1${'::int'.repeat(5_000)}`)).toThrow('too many operators')
  expect(() => checkText(`select ${"f('a'::text, ".repeat(10)}${'::int'.repeat(5_000)}`)).toThrow()
  expect(() => checkText(many("'a+b'").replace('x', '\\'))).toThrow('too many operators')
})
