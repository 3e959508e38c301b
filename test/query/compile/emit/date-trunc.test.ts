/** `date_trunc` of dates on DuckDB gives PostgreSQL's instants, but groups by a cheaper expression. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { GovernedTable } from '../../../../src/core/governed-table.ts'
import { compileQuery } from '../../../../src/query/compile/compile.ts'
import { renderSql } from '../../../../src/query/compile/emit/render.ts'
import { failure } from '../../../support/engine.ts'

let instance: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  await connection.run(
    "CREATE TABLE days AS SELECT unnest(['2024-02-29', '2024-02-01', '2023-12-31', 'infinity', '-infinity', '0001-01-01', '9999-12-31', NULL]::DATE[]) AS d",
  )
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
})

const table: GovernedTable = {
  ref: { namespace: ['s'], name: 'days' },
  schemaName: 's',
  tableName: 'days',
  relation: { duckdb: ['days'] },
  columns: [{ name: 'd', fieldId: 1, type: 'date', required: false, masks: [] }],
  rowFilters: [],
  contract: { id: 'c', version: 1 },
}

function emitted(text: string): string {
  const input = { text, principal: { sub: 'ada', roles: [] }, tables: [table], searchPath: ['s'] }
  return renderSql(compileQuery(input).emit('duckdb'), 'duckdb')
}

async function rows(text: string): Promise<string[][]> {
  const reader = await connection.runAndReadAll(emitted(text))
  return reader.getRows().map((row) => row.map(String))
}

test('groups are instants, infinities and NULL among them, each once', async () => {
  expect(await rows("SELECT date_trunc('month', d) AS m, count(*) FROM days GROUP BY 1 ORDER BY 1")).toEqual([
    ['-infinity', '1'],
    ['0001-01-01 00:00:00+00', '1'],
    ['2023-12-01 00:00:00+00', '1'],
    ['2024-02-01 00:00:00+00', '2'],
    ['9999-12-01 00:00:00+00', '1'],
    ['infinity', '1'],
    ['null', '1'],
  ])
})

test.each(['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'decade'])(
  'to the %s, a group is the same as it is without groups',
  async (unit) => {
    const plain = await rows(`SELECT DISTINCT date_trunc('${unit}', d) AS m FROM days ORDER BY 1`)
    expect(await rows(`SELECT date_trunc('${unit}', d) AS m FROM days GROUP BY 1 ORDER BY 1`)).toEqual(plain)
    expect(plain.flat().at(0)).toBe('-infinity')
  },
)

test('a group’s key is found again wherever it is named', async () => {
  const sql = `SELECT to_char(date_trunc('year', d), 'YYYY') AS y, date_trunc('year', d) > timestamptz '2024-01-01 00:00:00+00' AS later, rank() OVER (ORDER BY date_trunc('year', d)) AS place
    FROM days WHERE d > date '2000-01-01' AND d < date '3000-01-01' GROUP BY date_trunc('year', d), d
    HAVING date_trunc('year', d) >= timestamptz '2023-01-01' ORDER BY date_trunc('year', d) DESC, d`
  expect(await rows(sql)).toEqual([
    ['2024', 'false', '2'],
    ['2024', 'false', '2'],
    ['2023', 'false', '1'],
  ])
})

test('grouping sets, and GROUPING, go by the instant itself', async () => {
  const sql = `SELECT date_trunc('month', d) AS m, grouping(date_trunc('month', d)) AS g, count(*) FROM days
    WHERE d = date '2024-02-29' GROUP BY ROLLUP (date_trunc('month', d)) ORDER BY 2`
  expect(await rows(sql)).toEqual([
    ['2024-02-01 00:00:00+00', '0', '1'],
    ['null', '1', '1'],
  ])
})

test('a date beyond all timestamps fails, as it does in PostgreSQL', async () => {
  const far = emitted("SELECT date_trunc('month', d) AS m FROM days GROUP BY 1").replace(
    '"days"',
    "(SELECT '5881580-07-10'::DATE AS d)",
  )
  expect((await failure(connection.run(far))).message).toContain('Conversion Error')
})

test.each(['century', 'millennium'])('to the %s, which DuckDB begins elsewhere, is refused', (unit) => {
  for (const value of ['d', 'CAST(d AS timestamp)', 'CAST(d AS timestamptz)'])
    expect(() => emitted(`SELECT date_trunc('${unit}', ${value}) FROM days`)).toThrow('not supported')
})
