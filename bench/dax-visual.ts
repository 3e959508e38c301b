/**
 * Measures a visual in DAX from its text to its rows: a matrix with totals on both axes, under a slicer, for a reader with
 * a row filter. The same grouping sets by DuckDB alone, on the same files, run by turns with it.
 */

import { systemClock } from '../src/base/clock.ts'
import { runDax } from '../src/semantics/dax/run.ts'
import type { Lake } from '../test/support/lake.ts'
import type { BenchEntry, BenchResult, BenchRun } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { openSalesLake, salesMeasures } from './sales-lake.ts'
import { bootstrapRatio, percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

export const daxVisual: BenchEntry = {
  name: 'dax-visual',
  about: 'a matrix in DAX with totals and a slicer, against the same grouping sets by DuckDB alone',
  options: { rows: { type: 'string', about: 'rows of the table (10000000)' } },
  run,
}

const ratioMax = 1.5
const turns = 40

const query = (measure: string) => `
  DEFINE
    VAR __DS0FilterTable = TREATAS({"s1", "s3"}, 'sold'[status])
    VAR __DS0Core = SUMMARIZECOLUMNS(
      ROLLUPADDISSUBTOTAL('sold'[region], "IsGrandTotalRowTotal"),
      ROLLUPADDISSUBTOTAL('sold'[day (Month)], "IsGrandTotalColumnTotal"),
      __DS0FilterTable,
      "v", 'sold'[${measure}])
  EVALUATE __DS0Core ORDER BY [IsGrandTotalRowTotal] DESC, 'sold'[region], 'sold'[day (Month)]`

async function* run({ smoke, seed, note, flags }: BenchRun): AsyncGenerator<BenchResult> {
  const rows = smoke ? 2_000 : Number(flags.values.rows ?? 10_000_000)
  if (!smoke) note(`writing ${rows} rows`)
  await using sales = await openSalesLake(rows, smoke ? 2 : 20)
  for (const [name, { measure, sql }] of Object.entries(salesMeasures)) {
    const counts = { base: 0, target: 0 }
    const [base = [], target = []] = await interleavedTimes(
      [
        async () => {
          counts.base = await sales.duckdbRows(sql)
        },
        async () => {
          counts.target = await rowsOf(sales.lake, query(measure))
        },
      ],
      smoke ? 2 : turns,
      seededRandom(seed),
    )
    if (counts.base !== counts.target) throw new Error(`${name}: the results differ`)
    const rounds = base.map((ms, index) => ({ base: [ms], target: [target[index] ?? ms] }))
    const ratio = bootstrapRatio(rounds, { quantile: 0.5, seed })
    yield {
      bench: 'dax-visual',
      case: { visual: name, rows, groups: counts.target },
      figures: {
        p50_ms: rounded(percentile(target, 0.5)),
        p95_ms: rounded(percentile(target, 0.95)),
        p50_duckdb_ms: rounded(percentile(base, 0.5)),
        ratio_vs_duckdb: rounded(ratio.value),
        ratio_low: rounded(ratio.low),
        ratio_high: rounded(ratio.high),
      },
      ...(!smoke && { verdict: ratio.low <= ratioMax ? 'kept' : 'broken' }),
    }
  }
}

/** How many rows a query gives to a reader whom the row filter concerns. */
async function rowsOf({ store, app, tenant, catalog }: Lake, text: string): Promise<number> {
  const parts = { store, clock: systemClock, queries: app.queries }
  const on = {
    ...{ tenant, principal: { sub: 'bob', roles: [] }, principalSource: 'session' },
    ...{ reader: { stillValid: () => Promise.resolve(true) }, catalog, searchPath: [] },
    surface: 'xmla' as const,
  }
  const { results } = await runDax(parts, on, { query: text }, { signal: new AbortController().signal })
  return results[0]?.rows.length ?? 0
}
