/** Measures what must not grow with files, tables, tenants and history: each row at three sizes, with its exponent. */

import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { catalogList, catalogLoad } from './growth/catalog-tables.ts'
import { firstQueryByFiles, stretchByFiles } from './growth/data-files.ts'
import {
  bytesByCommits,
  bytesByQueries,
  depthOfQueue,
  listByDecisions,
  reconcileByCommits,
  totalsByRecords,
} from './growth/history.ts'
import { traversalOfHotNode } from './growth/hot-node.ts'
import { idleTenants } from './growth/idle-tenants.ts'
import { bytesByEvents, eventIntoHub, fiveHops } from './growth/lineage.ts'
import { exponentOf, type GrowthRow, growthOf, growths, type Sizes } from './growth/row.ts'
import { seenLists } from './growth/seen-lists.ts'
import { bytesByTenants } from './growth/tenants.ts'
import { seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

const rows: readonly GrowthRow[] = [
  firstQueryByFiles,
  stretchByFiles,
  catalogList,
  catalogLoad,
  traversalOfHotNode,
  reconcileByCommits,
  totalsByRecords,
  listByDecisions,
  seenLists,
  depthOfQueue,
  eventIntoHub,
  fiveHops,
  bytesByCommits,
  bytesByQueries,
  bytesByEvents,
  bytesByTenants,
  idleTenants,
]

export const growth: BenchEntry = {
  name: 'growth',
  about: 'cost at three sizes of what must not grow with files, tables, tenants and history',
  options: {
    ...storeOptions,
    rows: {
      type: 'string',
      value: 'NAME[,NAME…]',
      about: `rows to measure (default: all): ${rows.map(({ name }) => name).join(', ')}`,
    },
    sizes: {
      type: 'string',
      value: 'N,N,N',
      about: 'three ascending sizes instead of those of the row',
    },
  },
  run,
  conclude,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const names = run.flags.choices(
    'rows',
    rows.map(({ name }) => name),
  )
  for (const row of rows.filter(({ name }) => names?.includes(name) ?? true))
    for (const store of storesOf(row, run)) {
      const sizes = sizesOf(row, run)
      const points: { readonly size: number; readonly cost: number }[] = []
      const setting = { store, smoke: run.smoke, random: seededRandom(run.seed) }
      await using subject = await row.open(setting)
      for (const size of sizes) {
        run.smoke || run.note(`  ${row.name}: ${size} ${row.of}`)
        points.push({ size, cost: await subject.costAt(size) })
      }
      yield* resultsOf(row, store?.kind, points)
    }
}

/** Rows of PostgreSQL are left out where no server is named. */
function storesOf(row: GrowthRow, run: BenchRun) {
  if (row.store === undefined) return [undefined]
  const stores = chosenStores(run)
  if (row.store === 'any') return stores
  const servers = stores.filter(({ kind }) => kind === 'postgres')
  if (servers.length === 0 && !run.smoke) run.note(`  ${row.name}: left out, because it needs PostgreSQL`)
  return servers
}

function sizesOf(row: GrowthRow, { flags, smoke }: BenchRun): Sizes {
  const [first, second, third, ...more] = flags.numbers('sizes', 1, 100_000_000) ?? []
  if (first === undefined) return smoke ? row.smokeSizes : row.sizes
  if (second === undefined || third === undefined || more.length > 0 || first >= second || second >= third)
    throw new BenchUsageError('--sizes takes three ascending numbers.')
  return [first, second, third]
}

function* resultsOf(
  { name, of, unit, declared }: GrowthRow,
  store: string | undefined,
  points: readonly { readonly size: number; readonly cost: number }[],
): Generator<BenchResult> {
  const exponent = exponentOf(points)
  for (const { size, cost } of points)
    yield {
      bench: 'growth',
      case: { row: name, ...(store === undefined ? {} : { store }), size, of, cost_is: unit, declared },
      figures: { cost: rounded(cost), exponent: Number(exponent.toFixed(2)) },
      verdict: growthOf(exponent),
    }
}

function conclude(results: readonly BenchResult[]) {
  const rank = (growth: unknown) => growths.indexOf(growth as (typeof growths)[number])
  const broken = results.filter(({ verdict, case: { declared } }) => rank(verdict) > rank(declared))
  const named = [
    ...new Set(broken.map((one) => `${one.case.row} is ${one.verdict}, declared ${one.case.declared}`)),
  ]
  return {
    line: named.length === 0 ? 'Growth: as declared.' : `Growth: ${named.join('; ')}.`,
    failed: named.length > 0,
  }
}
