/** A session whose time zone is not UTC, compared with PostgreSQL in the same zone. */

import { afterAll, describe, expect, test } from 'bun:test'
import { typeOid } from '../../../../src/core/sql-type.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { normal, typeIn } from '../../support/compare.ts'
import { governedTables, principal } from '../../support/fixture.ts'
import { openPair } from '../../support/pair.ts'

const { hasPostgres, ask, subject, close } = await openPair()
afterAll(close)

/** Whole hours with summer time on either side of the equator; half an hour; the sun's time in seconds. */
const zones = ['America/New_York', 'Asia/Kolkata', 'Europe/Berlin', 'Australia/Lord_Howe']

const moments = `(VALUES (timestamptz '2024-03-10 06:59:59.5+00'), ('2024-03-10 07:30+00'), ('2024-11-03 05:30+00'), ('2024-11-03 06:30:00.123456+00'), ('2024-03-31 00:59+00'), ('2024-10-27 00:30+00'), ('2024-10-27 01:30+00'), ('2024-12-31 23:45+00'), ('1969-12-31 18:45+00'), ('2040-07-01 12:00+00'), ('1880-01-01 00:00+00'), (NULL)) m(t)`
const locals = `(VALUES (timestamp '2024-03-10 02:30'), ('2024-11-03 01:30'), ('2024-10-27 02:30'), ('2024-03-31 02:15'), ('2024-10-06 02:15'), ('2024-06-01 00:00'), ('1900-01-01 00:00')) m(t)`

const statements: readonly string[] = [
  `SELECT t, t::timestamp, t::date, t::time, t::text FROM ${moments}`,
  `SELECT t, t::timestamptz, t::date::timestamptz, t = t::timestamptz, t::timestamptz::text FROM ${locals}`,
  ...['year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second'].map(
    (unit) =>
      `SELECT t, date_trunc('${unit}', t), date_trunc('${unit}', t, 'Asia/Tokyo'), date_trunc('${unit}', t::date) FROM ${moments}`,
  ),
  `SELECT t, extract(hour FROM t), extract(dow FROM t), extract(isoyear FROM t), extract(epoch FROM t), date_part('minute', t), date_part('day', t) FROM ${moments}`,
  `SELECT to_char(t, 'YYYY-MM-DD HH24:MI:SS.US Day Q') FROM ${moments}`,
  `SELECT t + interval '1 day', t - interval '1 month 2 days 3 hours', t + interval '90 minutes', interval '1 year' + t, t + (t - timestamptz '2024-01-01 00:00+00') FROM ${moments} WHERE t > '2000-01-01'`,
  `SELECT age(t, timestamptz '2001-02-03 04:05:06+00'), t - timestamptz '2024-01-01', t > '2024-03-10', t >= date '2024-03-10', t BETWEEN '2024-03-10' AND '2024-11-03 02:00' FROM ${moments}`,
  `SELECT to_json(t), json_build_object('t', t), row_to_json(m), concat(t, '|'), t || '' FROM ${moments}`,
  `SELECT json_agg(t ORDER BY t), max(t), min(t)::text, array_agg(t ORDER BY t) IS NULL FROM ${moments}`,
  `SELECT g FROM generate_series(timestamptz '2024-03-08', '2024-03-14', interval '1 day') g`,
  `SELECT g FROM generate_series('2024-01-31'::date, '2024-06-01', '1 month') g`,
  `SELECT g FROM generate_series(timestamptz '2024-11-03', '2024-11-04', interval '3 hours') g`,
  `SELECT timestamptz '2024-07-01 12:00', timestamptz '2024-07-01 12:00+02', timestamptz '2024-03-10 02:30', '2024-07-01'::timestamptz::timestamp, '20240701'::timestamptz`,
  `SELECT to_timestamp('2024-07-01 10:11', 'YYYY-MM-DD HH24:MI'), to_timestamp(x, 'YYYY-MM-DD') FROM (VALUES ('2024-03-10'), ('2024-12-01')) v(x)`,
  `SELECT x::timestamptz FROM (VALUES ('2024-07-01 10:00'), ('2024-07-01 10:00+05:30'), ('2024-07-01'), ('2024-07-01T10:00:00Z')) v(x)`,
  `SELECT current_date = now()::date, localtimestamp = now()::timestamp, date(now()) = current_date, 'today'::timestamptz = current_date::timestamptz`,
  `SELECT id, created_at, shipped_at, created_at < shipped_at, shipped_at::date - ordered_on, created_at >= timestamptz '2024-02-01' FROM orders`,
  `SELECT date_trunc('day', shipped_at) AS d, count(*) FROM orders WHERE shipped_at >= '2024-01-16' AND shipped_at < '2024-03-20' GROUP BY 1 ORDER BY 1`,
  `SELECT DISTINCT extract(month FROM shipped_at), sum(quantity) OVER (PARTITION BY date_trunc('month', shipped_at)) FROM orders`,
  `SELECT t AT TIME ZONE 'UTC', t::timestamp AT TIME ZONE 'Europe/Berlin', (t AT TIME ZONE 'Asia/Tokyo')::date FROM ${moments}`,
]

/** Instants are told in UTC by both. */
function inUtc(rows: readonly (readonly (string | null)[])[], types: readonly string[]) {
  return rows.map((row) =>
    row.map((cell, index) => (cell !== null && types[index] === 'timestamptz' ? utcText(cell) : cell)),
  )
}

function utcText(text: string): string {
  const [, local = '', fraction = '', sign = '+', hours = '0', minutes = '0', seconds = '0'] =
    /^(\S+ [\d:]+)(\.\d+)?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/.exec(text) ?? []
  const offset = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
  const at = Date.parse(`${local.replace(' ', 'T')}Z`) - (sign === '-' ? -offset : offset) * 1_000
  return `${new Date(at).toISOString().slice(0, 19)}${fraction}`
}

// Skipped where the platform has no packaged PostgreSQL.
describe.skipIf(!hasPostgres)('a session in another zone than UTC has what PostgreSQL has', () => {
  for (const zone of zones)
    test.each(statements)(`in ${zone}: %s`, async (sql) => {
      await ask(`SET TimeZone = '${zone}'`)
      const expected = await ask(sql)
      if (typeof expected === 'string') throw new Error(`PostgreSQL itself refuses: ${expected}`)
      const { columns, rows } = await subject.run(sql, undefined, { timeZone: zone })
      const types = columns.map(({ type }) => type)
      expect(types.map((type) => String(typeOid(type)))).toEqual(
        expected.columns.map(({ type }) => typeIn(type)),
      )
      expect(normal(inUtc(rows, types), types, false)).toEqual(
        normal(inUtc(expected.rows, types), types, false),
      )
    })
})

const refused: readonly string[] = [
  `SELECT to_char(shipped_at, 'HH24:MI TZ') FROM orders`,
  `SELECT ARRAY[shipped_at]::text[] FROM orders`,
  `SELECT g FROM orders, generate_series(shipped_at, now(), age(shipped_at)) g`,
  `SELECT sum(quantity) OVER (ORDER BY shipped_at RANGE BETWEEN interval '1 day' PRECEDING AND CURRENT ROW) FROM orders`,
]

test.each(refused)('what would differ by zone is refused there, and not in UTC: %s', (sql) => {
  expect(() => subject.compile(sql)).not.toThrow()
  expect(() => subject.compile(sql, { timeZone: 'Europe/Berlin' })).toThrow('time zone')
})

test('row filters and masks stay in UTC, whatever the zone of the session is', () => {
  const tables = governedTables.map((table) => ({
    ...table,
    rowFilters: [
      {
        policyId: 'f',
        origin: { kind: 'table' as const },
        expression: `shipped_at::date > date '2024-01-01'`,
      },
    ],
  }))
  const orders = tables.filter(({ tableName }) => tableName === 'orders')
  const text = 'SELECT id FROM orders'
  const emit = (timeZone?: string) =>
    renderSql(
      compileQuery({ text, principal, tables: orders, searchPath: ['sales'], timeZone }).emit('duckdb'),
      'duckdb',
    )
  expect(emit('America/New_York')).toBe(emit())
})

test('Trino truncates in the zone, and does not add days there', () => {
  const emit = (text: string) =>
    renderSql(subject.compile(text, { timeZone: 'Europe/Berlin' }).emit('trino'), 'trino')
  expect(emit(`SELECT date_trunc('day', shipped_at) FROM orders`)).toContain(
    `AT TIME ZONE 'Europe/Berlin')) AT TIME ZONE 'UTC')`,
  )
  expect(() => emit(`SELECT shipped_at + interval '1 day' FROM orders`)).toThrow('An interval of days')
})
