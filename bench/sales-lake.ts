/**
 * The lake of the benchmarks that read a cube: sales of which a reader does not see one region, with two metrics, and DuckDB
 * alone over the same files.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { startDevCatalog } from '../demo/catalog/dev-catalog.ts'
import { type Lake, startLake } from '../test/support/lake.ts'
import type { LakeTable } from '../test/support/lake-tables.ts'
import { licenseForAll } from '../test/support/license.ts'
import { declaringAs, openSteward } from '../test/support/semantic-layer.ts'

/** Metrics by what they are, with their SQL. */
export const salesMeasures = {
  sum: { measure: 'revenue', sql: 'sum(amount)' },
  'distinct count': { measure: 'customers', sql: 'count(DISTINCT customer)' },
} as const

interface SalesLake extends AsyncDisposable {
  readonly lake: Lake
  readonly table: LakeTable
  /** Groups that DuckDB alone makes of a metric by region and month, with totals, of what the reader sees of two states. */
  readonly duckdbRows: (sql: string) => Promise<number>
}

/** Rows that are sold, of which a reader does not see one region. */
const salesTable = (rowCount: number, fileCount: number): LakeTable => ({
  ...{ name: 'sold', rowCount, fileCount, rowFilter: "region <> 'r9'" },
  columns: [
    ['region', 'text', "'r' || (i * 7919 % 20)"],
    ['status', 'text', "'s' || (i * 104729 % 5)"],
    ['amount', 'numeric(10,2)', '(i * 37 % 10000) * 0.01'],
    ['customer', 'bigint', 'i * 31 % 100000'],
    ['day', 'date', "CAST(date '2022-01-01' + CAST(i * 13 % 1095 AS integer) AS date)"],
  ],
})

async function declareSales(lake: Lake): Promise<void> {
  const put = declaringAs(lake, await openSteward(lake))
  await put('/api/v1/semantics/tables/sales/sold', {
    time_dimension: 'day',
    dimensions: [{ name: 'region' }, { name: 'status' }, { name: 'day', kind: 'time' }],
  })
  const table = { namespace: ['sales'], name: 'sold' }
  for (const { measure, sql } of Object.values(salesMeasures))
    await put(`/api/v1/metrics/${measure}`, { table, expression: sql })
}

/** Writes the rows, declares the cube and opens DuckDB beside it. */
export async function openSalesLake(rowCount: number, fileCount: number): Promise<SalesLake> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  stack.defer(() => catalog.stop())
  const table = salesTable(rowCount, fileCount)
  const lake = stack.use(
    await startLake({
      catalog: { url: catalog.url, warehouse: 'dev', folder },
      tables: [table],
      env: { SVC_LICENSE: licenseForAll() },
    }),
  )
  await declareSales(lake)
  const alone = await DuckDBInstance.create(':memory:')
  stack.defer(() => alone.closeSync())
  const connection = await alone.connect()
  stack.defer(() => connection.closeSync())
  const files = `read_parquet('${join(folder, 'catalog/warehouse')}/**/*.parquet')`
  const opened = stack.move()
  return {
    ...{ lake, table },
    duckdbRows: async (sql) => {
      const byHand = `SELECT region, date_trunc('month', day) AS m, ${sql} AS v FROM ${files} WHERE region <> 'r9' AND status IN ('s1', 's3') GROUP BY CUBE (region, m)`
      return (await connection.runAndReadAll(byHand)).currentRowCount
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
