/** The period that requests for metrics group by: PostgreSQL's values, no failure, and no name that a client can call. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { PGlite } from '@electric-sql/pglite'
import { TrinoSQL } from 'dt-sql-parser'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import type { TableModel } from '../../../../src/core/metric.ts'
import type { SemanticModel } from '../../../../src/core/semantic-model.ts'
import { tableKey } from '../../../../src/core/table-ref.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { expandMetrics } from '../../../../src/query/compile/metrics/expand.ts'
import { keySql } from '../../../../src/query/compile/metrics/key.ts'
import { ownPeriod, periodName } from '../../../../src/query/compile/metrics/own-names.ts'
import { parseSelect } from '../../../../src/query/compile/parse/parse.ts'
import { isLongForm } from '../../../support/long-form.ts'

const grains = ['day', 'week', 'month', 'quarter', 'year'] as const

const table: GovernedTable = {
  ref: { namespace: ['s'], name: 'days' },
  schemaName: 's',
  tableName: 'days',
  relation: { duckdb: ['days'], trino: ['iceberg', 's', 'days'] },
  columns: [
    { name: 'd', fieldId: 1, type: 'date', required: false, masks: [] },
    { name: 'hidden', fieldId: 2, type: 'boolean', required: false, masks: [] },
    { name: 't', fieldId: 3, type: 'timestamp', required: false, masks: [] },
  ],
  rowFilters: [{ policyId: 'f', origin: { kind: 'table' }, expression: 'NOT hidden' }],
  contract: { id: 'c', version: 1 },
}
const dimension = (name: string, fieldId: number) =>
  ({ name, kind: 'time', expression: { text: name, names: { [name]: fieldId } } }) as const
const ofDays: TableModel = {
  ...{ table: table.ref, number: 1, key: [1], timeDimension: 'd', relationships: [] },
  dimensions: [dimension('d', 1), dimension('t', 3)],
}
const model: SemanticModel = {
  tables: new Map([[tableKey(table.ref), ofDays]]),
  metrics: new Map(),
  attestations: new Map(),
}

function emitted(text: string, dialect: 'duckdb' | 'trino', generated = true, over = model): string {
  const expansion = expandMetrics(parseSelect(text), { model: over, searchPath: ['s'], generated })
  const principal = { sub: 'ada', roles: [] }
  const compiled = compileQuery({ text, principal, tables: [table], searchPath: ['s'], expansion })
  return renderSql(compiled.emit(dialect), dialect)
}

const over = (name: string, key = name) =>
  `SELECT "f".${name} AS d, ${grains.map((grain) => `${keySql({ name: key, grain })} AS ${grain}`).join(', ')} FROM s.days__metrics AS "f"`

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

async function fill(dates: string): Promise<void> {
  await connection.run(
    `CREATE OR REPLACE TABLE days AS SELECT CAST(d AS DATE) AS d, false AS hidden, CAST(NULL AS TIMESTAMP) AS t FROM (${dates})`,
  )
}

async function rows(sql: string): Promise<string[][]> {
  return (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(String))
}

describe('on DuckDB', () => {
  test('every date from year 1 to 9999 has the period that truncating its timestamp gives', async () => {
    await fill("SELECT unnest(range(DATE '0001-01-01', DATE '10000-01-01', INTERVAL 1 DAY)) AS d")
    const differs = grains.map(
      (grain) => `${grain} IS DISTINCT FROM CAST(date_trunc('${grain}', CAST(d AS TIMESTAMP)) AS DATE)`,
    )
    const [[dates, wrong] = []] = await rows(
      `SELECT count(*), count(*) FILTER (WHERE ${differs.join(' OR ')}) FROM (${emitted(over('d'), 'duckdb')}) AS x(d, ${grains.join(', ')})`,
    )
    expect([dates, wrong]).toEqual(['3652059', '0'])
  })

  test('a date has the period that PostgreSQL gives', async () => {
    // In the short form every 89th day: a prime, so that each day of the week, month and year comes up.
    const step = isLongForm ? 1 : 89
    await fill(
      `SELECT unnest(range(DATE '0001-01-01', DATE '10000-01-01', INTERVAL ${step} DAY)) AS d UNION SELECT DATE '9999-12-31'`,
    )
    const postgres = await PGlite.create()
    try {
      const periods = grains.map((grain) => `date_trunc('${grain}', d::timestamp)::date::text AS ${grain}`)
      const { rows: expected } = await postgres.query<Record<string, string>>(
        `SELECT d::text, ${periods.join(', ')} FROM (SELECT '0001-01-01'::date + i * ${step} AS d FROM generate_series(0, 3652058 / ${step}) i UNION SELECT '9999-12-31'::date) s ORDER BY s.d`,
      )
      const actual = await rows(`SELECT * FROM (${emitted(over('d'), 'duckdb')}) ORDER BY 1`)
      expect(actual.length).toBeGreaterThan(40_000)
      const names = ['d', ...grains]
      expect(actual.map((row) => row.join())).toEqual(
        expected.map((row) => names.map((name) => row[name]).join()),
      )
    } finally {
      await postgres.close()
    }
  })

  test('no date makes it fail: neither infinities nor the ends of the range', async () => {
    const ends = [
      'infinity',
      '-infinity',
      '5877642-06-25 (BC)',
      '5877642-12-31 (BC)',
      '5877641-01-01 (BC)',
      '5881580-07-10',
    ]
    await fill(`SELECT unnest(['${ends.join("', '")}', NULL]) AS d`)
    const text = (name: string) => `CAST(${name} AS VARCHAR)`
    const found = await rows(
      `SELECT ${['d', ...grains].map(text).join(', ')} FROM (${emitted(over('d'), 'duckdb')}) AS x(d, ${grains.join(', ')})`,
    )
    const stays = (date: string) => Array(6).fill(date)
    expect(found).toEqual([
      stays('infinity'),
      stays('-infinity'),
      stays('5877642-06-25 (BC)'),
      stays('5877642-12-31 (BC)'),
      // The first whole year; its first week began in the year before.
      [
        '5877641-01-01 (BC)',
        '5877641-01-01 (BC)',
        '5877642-12-28 (BC)',
        ...Array(3).fill('5877641-01-01 (BC)'),
      ],
      ['5881580-07-10', '5881580-07-10', '5881580-07-07', '5881580-07-01', '5881580-07-01', '5881580-01-01'],
      stays('null'),
    ])
  })

  test('a filtered table’s date is read without a barrier, a timestamp with one', () => {
    const grouped = (name: string) =>
      emitted(`SELECT ${keySql({ name, grain: 'month' })} FROM s.days__metrics AS "f" GROUP BY 1`, 'duckdb')
    expect(grouped('d')).not.toContain('list_extract')
    expect(grouped('d')).toContain('make_date')
    expect(grouped('t')).toContain('date_trunc')
    expect(grouped('t')).toContain('list_extract')
  })
})

test('Trino truncates the date itself, in SQL that its grammar takes', () => {
  const sql = emitted(over('d'), 'trino')
  expect(new TrinoSQL().validate(sql).map(({ message }) => message)).toEqual([])
  expect(sql).toContain("date_trunc('month', ")
  expect(sql).not.toContain('TIMESTAMP')
})

describe('a client cannot call it', () => {
  test.each([periodName, ownPeriod, 'period of date'])('as %j', (name) => {
    const call = (from: string) => `SELECT "${name}"('month', d) FROM ${from}`
    expect(() => emitted(call('s.days__metrics'), 'duckdb', false)).toThrow(
      /does not exist|control character/,
    )
    const input = { principal: { sub: 'ada', roles: [] }, tables: [table], searchPath: ['s'] }
    expect(() => compileQuery({ ...input, text: call('s.days') })).toThrow('does not exist')
    const expression = `"${name}"('month', d) = d`
    const filtered: GovernedTable = {
      ...table,
      rowFilters: [{ policyId: 'f', origin: { kind: 'table' }, expression }],
    }
    expect(() =>
      compileQuery({ ...input, tables: [filtered], text: 'SELECT d FROM s.days' }).emit('duckdb'),
    ).toThrow('permission denied')
  })

  test('in the expression of a dimension, which a statement of ours reads', () => {
    const called = { text: `${periodName}('month', d)`, names: { d: 1 } }
    const dimensions = [{ ...dimension('d', 1), expression: called }]
    const tables = new Map([[tableKey(table.ref), { ...ofDays, dimensions }]])
    expect(() => emitted(over('d'), 'duckdb', true, { ...model, tables })).toThrow('does not exist')
  })
})
