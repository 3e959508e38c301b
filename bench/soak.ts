/**
 * Compares requests to an installation with many tenants and a long history with those to an empty one of two tenants, by
 * turns; and to one with as many tenants and no history, which tells the two apart. Half of the tenants commit through
 * the gateway, and half send governed queries over the PostgreSQL wire. Jobs do not run. With `--hours` it measures
 * memory over that time instead (soak-memory.ts).
 */

import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { openInstallation } from './soak-installation.ts'
import { measureMemory } from './soak-memory.ts'
import { percentile, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'

const ratioMax = 1.2
const sizes = {
  tenants: { min: 2, default: 200, smoke: 2, about: 'tenants (default 200)' },
  tables: { min: 1, default: 50, smoke: 2, about: 'tables of each tenant (default 50)' },
  'audit-rows': {
    min: 1,
    default: 1_000_000,
    smoke: 50,
    about: 'rows of the audit log in all (default 1,000,000)',
  },
  'usage-rows': { min: 1, default: 5_000_000, smoke: 50, about: 'usage records in all (default 5,000,000)' },
  'upstream-ms': { min: 0, default: 20, smoke: 0, about: 'service time of a commit upstream (default 20)' },
  rounds: { min: 1, default: 1_000, smoke: 3, about: 'turns that are measured (default 1,000)' },
} as const
type Sizes = Readonly<Record<keyof typeof sizes, number>>

export const soak: BenchEntry = {
  name: 'soak',
  about: 'commits and queries with many tenants and a long history, by turns with an empty installation',
  options: {
    ...storeOptions,
    ...Object.fromEntries(
      Object.entries(sizes).map(([name, { about }]) => [
        name,
        { type: 'string' as const, value: 'N', about },
      ]),
    ),
    hours: {
      type: 'string',
      value: 'H',
      about: 'measure memory over so many hours of commits, queries and lineage events instead',
    },
  },
  run,
  conclude,
}

const requests = ['commit', 'query'] as const

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const hours = run.flags.number('hours', 0.001, 1_000)
  if (hours !== undefined) return yield* measureMemory(run, hours)
  const [store] = chosenStores(run).filter(({ kind }) => kind === 'postgres')
  if (store === undefined) {
    if (run.smoke) return
    throw new BenchUsageError('soak needs PostgreSQL: --database-url or SVC_TEST_DATABASE_URL.')
  }
  const size = Object.fromEntries(
    Object.entries(sizes).map(([name, each]) => [
      name,
      run.flags.number(name, each.min, 1_000_000_000) ?? (run.smoke ? each.smoke : each.default),
    ]),
  ) as Sizes
  const random = seededRandom(run.seed)
  await using stack = new AsyncDisposableStack()
  const open = async (tenants: number) =>
    stack.use(await openInstallation(store, { ...size, tenants, requests }, random))
  run.smoke || run.note('  soak: making tenants')
  const all = [await open(requests.length), await open(size.tenants), await open(size.tenants)]
  run.smoke || run.note('  soak: loading')
  await all[2]?.addHistory()
  run.smoke || run.note('  soak: measuring')
  for (const request of requests) {
    for (const one of all) await one.warm(request)
    const times: number[][] = all.map(() => [])
    for (let round = 0; round < size.rounds; round++)
      for (const index of shuffled([...all.keys()], random)) {
        const taken = await all[index]?.ask(request)
        if (taken !== undefined) times[index]?.push(taken)
      }
    yield resultOf(request, size, times)
  }
}

function resultOf(
  request: (typeof requests)[number],
  size: Sizes,
  times: readonly (readonly number[])[],
): BenchResult {
  const at = (quantile: number) => times.map((each) => percentile(each, quantile))
  const [[emptyP50 = 0, , p50 = 0], [empty = 0, young = 0, p95 = 0]] = [at(0.5), at(0.95)]
  const ratio = p95 / empty
  return {
    bench: 'soak',
    case: {
      ...{ request, tenants: size.tenants, tables: size.tables, upstream_ms: size['upstream-ms'] },
      ...{ audit_rows: size['audit-rows'], usage_rows: size['usage-rows'] },
    },
    figures: {
      ...{ empty_p50_ms: rounded(emptyP50), p50_ms: rounded(p50) },
      ...{ empty_p95_ms: rounded(empty), no_history_p95_ms: rounded(young), p95_ms: rounded(p95) },
      ...{ ratio: rounded(ratio), history_ratio: rounded(p95 / young) },
    },
    verdict: ratio <= ratioMax ? `within ${ratioMax}` : `above ${ratioMax}`,
  }
}

function conclude(results: readonly BenchResult[]) {
  const memory = results.filter(({ case: { of } }) => of === 'memory')
  if (memory.length > 0) {
    const said = memory.map(
      ({ case: { store }, figures, verdict }) =>
        `${store} ${verdict}, ${figures.second_half_mib_per_min} MiB a minute in the second half`,
    )
    return {
      line: `Memory over hours: ${said.join('; ')}.`,
      failed: memory.some(({ verdict }) => verdict === 'grows'),
    }
  }
  const above = results.filter(({ verdict }) => verdict?.startsWith('above'))
  return {
    line:
      above.length === 0
        ? `Soak: the 95th percentiles are within ${ratioMax} times of an empty installation.`
        : `Soak: ${above.map((one) => `${one.case.request} is ${one.figures.ratio} times`).join(', ')} of an empty installation.`,
    failed: above.length > 0,
  }
}
