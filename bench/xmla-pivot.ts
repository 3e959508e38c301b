/**
 * Measures a pivot in MDX from its text to its cells: two dimensions with totals, within a subselect, for a reader with a row
 * filter. The same grouping sets by DuckDB alone, on the same files, run by turns with it.
 */

import { systemClock } from '../src/base/clock.ts'
import { MdxEvaluator } from '../src/semantics/mdx/evaluator.ts'
import { runMdx } from '../src/semantics/mdx/run.ts'
import type { Lake } from '../test/support/lake.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { openSalesLake, salesMeasures } from './sales-lake.ts'
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

const month = '[sold].[day.Calendar].[Month]'
const within = 'FROM (SELECT ({[sold].[status].&[s1],[sold].[status].&[s3]}) ON COLUMNS FROM [sales.sold])'
const columns = 'Hierarchize({DrilldownLevel({[sold].[region].[All]},,,INCLUDE_CALC_MEMBERS)})'
async function* run({ smoke, seed, note, flags }: BenchRun): AsyncGenerator<BenchResult> {
  await using stack = new AsyncDisposableStack()
  const rows = smoke ? 2_000 : 10_000_000
  if (!smoke) note(`writing ${rows} rows`)
  const { lake, table, duckdbRows } = stack.use(await openSalesLake(rows, smoke ? 2 : 20))
  const mondrian =
    flags.values.mondrian === true ? stack.use(await startPivotMondrian(table, note)) : undefined
  for (const [name, { measure, sql }] of Object.entries(salesMeasures)) {
    const statement = `SELECT NON EMPTY ${columns} ON COLUMNS, NON EMPTY {[sold].[day.Calendar].[All], ${month}.Members} ON ROWS ${within} WHERE ([Measures].[${measure}])`
    const counts = { base: 0, target: 0, mondrian: 0 }
    const [base = [], target = [], others = []] = await interleavedTimes(
      [
        async () => {
          counts.base = await duckdbRows(sql)
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
