/**
 * Measures a pivot in MDX from its text to its cells: two dimensions with totals, within a subselect, for a reader with a row
 * filter. The same grouping sets by DuckDB alone, on the same files, run by turns with it.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { startDevCatalog } from '../demo/catalog/dev-catalog.ts'
import { systemClock } from '../src/base/clock.ts'
import { MdxEvaluator } from '../src/semantics/mdx/evaluator.ts'
import { runMdx } from '../src/semantics/mdx/run.ts'
import { type Lake, startLake } from '../test/support/lake.ts'
import type { LakeTable } from '../test/support/lake-tables.ts'
import { licenseForAll } from '../test/support/license.ts'
import { declaringAs, openSteward } from '../test/support/semantic-layer.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { bootstrapRatio, percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'
import { startPivotMondrian } from './xmla-pivot-mondrian.ts'

export const xmlaPivot: BenchEntry = {
  name: 'xmla-pivot',
  about: 'a pivot in MDX with totals and a subselect, against the same grouping sets by DuckDB alone',
  options: {
    mondrian: {
      type: 'boolean',
      about: 'Mondrian on PostgreSQL with the same rows, too; Java, and packages of Debian and Maven',
    },
  },
  run,
}

/** Goals: milliseconds, and times of DuckDB alone. */
const p95MsMax = 1_000
const ratioMax = 1.5

/** Mondrian takes tens of seconds for a turn, because PostgreSQL reads every row for each of its statements. */
const turns = 40
const turnsWithMondrian = 10

const sales = (rowCount: number, fileCount: number): LakeTable => ({
  ...{ name: 'sold', rowCount, fileCount, rowFilter: "region <> 'r9'" },
  columns: [
    ['region', 'text', "'r' || (i * 7919 % 20)"],
    ['status', 'text', "'s' || (i * 104729 % 5)"],
    ['amount', 'numeric(10,2)', '(i * 37 % 10000) * 0.01'],
    ['customer', 'bigint', 'i * 31 % 100000'],
    ['day', 'date', "CAST(date '2022-01-01' + CAST(i * 13 % 1095 AS integer) AS date)"],
  ],
})

const month = '[sold].[day.Calendar].[Month]'
const within = 'FROM (SELECT ({[sold].[status].&[s1],[sold].[status].&[s3]}) ON COLUMNS FROM [sales.sold])'
const columns = 'Hierarchize({DrilldownLevel({[sold].[region].[All]},,,INCLUDE_CALC_MEMBERS)})'
const pivots = {
  sum: { measure: 'revenue', sql: 'sum(amount)' },
  'distinct count': { measure: 'customers', sql: 'count(DISTINCT customer)' },
} as const

/** Declares the cube. */
async function model(lake: Lake): Promise<void> {
  const put = declaringAs(lake, await openSteward(lake))
  await put('/api/v1/semantics/tables/sales/sold', {
    time_dimension: 'day',
    dimensions: [{ name: 'region' }, { name: 'status' }, { name: 'day', kind: 'time' }],
  })
  const table = { namespace: ['sales'], name: 'sold' }
  for (const { measure, sql } of Object.values(pivots))
    await put(`/api/v1/metrics/${measure}`, { table, expression: sql })
}

async function* run({ smoke, seed, note, flags }: BenchRun): AsyncGenerator<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'covenant-bench-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  stack.defer(() => catalog.stop())
  const rows = smoke ? 2_000 : 10_000_000
  const table = sales(rows, smoke ? 2 : 20)
  if (!smoke) note(`writing ${rows} rows`)
  const lake = stack.use(
    await startLake({
      catalog: { url: catalog.url, warehouse: 'dev', folder },
      tables: [table],
      env: { SVC_LICENSE: licenseForAll() },
    }),
  )
  await model(lake)
  const alone = await DuckDBInstance.create(':memory:')
  stack.defer(() => alone.closeSync())
  const connection = await alone.connect()
  stack.defer(() => connection.closeSync())
  const mondrian =
    flags.values.mondrian === true ? stack.use(await startPivotMondrian(table, note)) : undefined
  const files = `read_parquet('${join(folder, 'catalog/warehouse')}/**/*.parquet')`
  for (const [name, { measure, sql }] of Object.entries(pivots)) {
    const statement = `SELECT NON EMPTY ${columns} ON COLUMNS, NON EMPTY {[sold].[day.Calendar].[All], ${month}.Members} ON ROWS ${within} WHERE ([Measures].[${measure}])`
    const counts = { base: 0, target: 0, mondrian: 0 }
    const byHand = `SELECT region, date_trunc('month', day) AS m, ${sql} AS v FROM ${files} WHERE region <> 'r9' AND status IN ('s1', 's3') GROUP BY CUBE (region, m)`
    const [base = [], target = [], others = []] = await interleavedTimes(
      [
        async () => {
          counts.base = (await connection.runAndReadAll(byHand)).currentRowCount
        },
        async () => {
          counts.target = await cellsOf(lake, statement)
        },
        ...(mondrian === undefined
          ? []
          : [
              async () => {
                counts.mondrian = await mondrian.cells(measure)
              },
            ]),
      ],
      smoke ? 2 : mondrian === undefined ? turns : turnsWithMondrian,
      seededRandom(seed),
    )
    if (counts.base !== counts.target) throw new Error(`${name}: the results differ`)
    if (mondrian !== undefined && counts.mondrian !== counts.target)
      throw new Error(`${name}: Mondrian has ${counts.mondrian} cells, not ${counts.target}`)
    const rounds = base.map((ms, index) => ({ base: [ms], target: [target[index] ?? ms] }))
    const ratio = bootstrapRatio(rounds, { quantile: 0.5, seed })
    const p95 = percentile(target, 0.95)
    yield {
      bench: 'xmla-pivot',
      case: { pivot: name, rows, cells: counts.target },
      figures: {
        p50_ms: rounded(percentile(target, 0.5)),
        p95_ms: rounded(p95),
        p50_duckdb_ms: rounded(percentile(base, 0.5)),
        ...(mondrian !== undefined && {
          p50_mondrian_ms: rounded(percentile(others, 0.5)),
          p95_mondrian_ms: rounded(percentile(others, 0.95)),
        }),
        ratio_vs_duckdb: rounded(ratio.value),
        ratio_low: rounded(ratio.low),
        ratio_high: rounded(ratio.high),
      },
      ...(!smoke && { verdict: p95 < p95MsMax && ratio.low <= ratioMax ? 'kept' : 'broken' }),
    }
  }
}

/** Its threads end with the process. */
const evaluator = new MdxEvaluator()

/** How many cells a statement answers to a reader whom the row filter concerns. */
async function cellsOf({ store, app, tenant, catalog }: Lake, statement: string): Promise<number> {
  const parts = { store, clock: systemClock, queries: app.queries, evaluator }
  const on = {
    ...{ tenant, principal: { sub: 'bob', roles: [] }, principalSource: 'session' },
    ...{ reader: { stillValid: () => Promise.resolve(true) }, catalog, searchPath: [] },
    surface: 'xmla' as const,
  }
  const request = { statement, format: 'multidimensional' as const, session: [] }
  const answer = await runMdx(parts, on, request, { signal: new AbortController().signal })
  return answer.kind === 'cellset' ? answer.cellset.cells.length : 0
}
