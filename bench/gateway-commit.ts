/**
 * Measures the gateway's overhead contract (docs/reference/operations.md 5.1): P95 commit latency at most 5% above a
 * direct upstream commit. Catalog, gateway and load are three processes; the ways to commit take turns in one run.
 * docs/performance.md explains.
 */

import { catalogOptions, type OpenCatalog } from './catalogs.ts'
import type { Arrival, CommitCase } from './commit-cases.ts'
import { type CommitLeg, chosenPlan, type OtherWay, otherWays, type PlacedCase } from './commit-legs.ts'
import { concludeContract, ratioMax } from './commit-verdict.ts'
import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  type BenchStore,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { makeTables, openPlace, type Place } from './gateway-tables.ts'
import { closedLoop, openLoop } from './load.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { tableSizes } from './sample-table.ts'
import { profileOption, timesSetter } from './service-times.ts'
import { bootstrapRatio, judgeBound, percentile, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'
import type { Route, TableWriter } from './table-writer.ts'

/** A case exceeds its time until it has this many rounds. */
const roundsMin = 10
/** Commits of each worker before the next way to commit takes its turn. */
const commitsEach = 6
/** Share of a case's time that is discarded. */
const warmUpShare = 0.2
const openLoopWorkers = { smoke: 8, measured: 64 } as const

export const gatewayCommit: BenchEntry = {
  name: 'gateway-commit',
  about: 'a commit through the gateway against a direct one; exit code 1 where the contract is broken',
  options: {
    ...storeOptions,
    'upstream-ms': {
      type: 'string',
      value: 'MS[,MS…]',
      about: 'service times of a commit upstream (0,20,60)',
    },
    'load-ms': {
      type: 'string',
      value: 'MS[,MS…]',
      about: 'of a load; of several one is drawn (half a commit)',
    },
    'conditional-load-ms': {
      type: 'string',
      value: 'MS[,MS…]',
      about: 'of a load answered 304; of several one is drawn (1, or 0 where a commit takes 0)',
    },
    'round-trip-ms': {
      type: 'string',
      value: 'MS[,MS…]',
      about: 'network between gateway and catalog, added to loads and commits alike (0)',
    },
    concurrency: { type: 'string', value: 'N[,N…]', about: 'closed loop: clients (1,8,32)' },
    rate: { type: 'string', value: 'N[,N…]', about: 'open loop: commits a second (20)' },
    policies: { type: 'string', value: 'N[,N…]', about: 'policies on each table (1,10,100)' },
    table: {
      type: 'string',
      value: 'small,large',
      about: '10 columns, 5 snapshots; 200 columns, 1,000 snapshots',
    },
    ways: {
      type: 'string',
      value: 'WAY[,WAY…]',
      about: `beside direct and gateway: ${otherWays.join(', ')} (all)`,
    },
    seconds: { type: 'string', value: 'N', about: 'for each case (20, with --full 40)' },
    ...catalogOptions,
    profile: profileOption,
  },
  run,
  conclude: concludeContract,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const stores = chosenStores(run)
  const { legs, ways, seconds } = await chosenPlan(run, stores.length)
  for (const leg of legs) {
    await using catalog = await openCatalog(leg, run)
    if (catalog === undefined) continue
    for (const store of stores) yield* measureOn(run, { leg, catalog, store, ways, seconds })
  }
}

async function openCatalog(
  { catalog, isOptional }: CommitLeg,
  run: BenchRun,
): Promise<OpenCatalog | undefined> {
  try {
    return await catalog.open(run)
  } catch (error) {
    if (!isOptional || !(error instanceof BenchUsageError)) throw error
    run.note(`Not measured: ${error.message}`)
    return undefined
  }
}

interface Measured {
  readonly leg: CommitLeg
  readonly catalog: OpenCatalog
  readonly store: BenchStore
  readonly ways: readonly OtherWay[]
  readonly seconds: number
}

async function* measureOn(
  run: BenchRun,
  { leg, catalog, store, ways, seconds }: Measured,
): AsyncGenerator<BenchResult> {
  const { storage } = leg.catalog
  const upstream: MeasuredUpstream = {
    setTimes: timesSetter(run.flags, catalog, { profile: leg.profile, storage }),
    name: upstreamName(leg),
  }
  await using place = await openPlace(store, catalog, { withYardsticks: true })
  if (!run.smoke) await measure(run, place, upstream, warmUpCase, { ways, seconds: warmUpSeconds })
  for (const one of leg.cases) yield await measure(run, place, upstream, one, { ways, seconds })
}

/** Runs before the cases and is discarded, because a gateway that has just started still compiles. */
const warmUpCase: PlacedCase = {
  upstreamMs: 0,
  roundTripMs: 0,
  arrival: { kind: 'closed', concurrency: 8 },
  policies: 10,
  table: 'small',
}
const warmUpSeconds = 4

interface MeasuredUpstream {
  /** Describes the catalog in a result's case. */
  readonly name: BenchResult['case']
  readonly setTimes: ReturnType<typeof timesSetter>
}

function upstreamName({ catalog, profile }: CommitLeg): BenchResult['case'] {
  return {
    ...(!catalog.isDevelopment && { upstream: catalog.title }),
    ...(profile !== undefined && { profile: profile.title }),
    ...(catalog.storage !== undefined && { storage: catalog.storage }),
  }
}

async function measure(
  run: BenchRun,
  place: Place,
  upstream: MeasuredUpstream,
  one: PlacedCase,
  { ways, seconds }: Pick<Measured, 'ways' | 'seconds'>,
): Promise<BenchResult> {
  await upstream.setTimes(one.table, one.upstreamMs, one.roundTripMs)
  const workers = openLoopWorkers[run.smoke ? 'smoke' : 'measured']
  await using tables = await makeTables(place, {
    routes: ['direct', 'gateway', ...ways],
    count: one.arrival.kind === 'closed' ? one.arrival.concurrency : workers,
    size: tableSizes[one.table],
    policies: enforcedPolicies(one.policies, 0),
  })
  const before = await tables.report()
  const rounds = await takeTurns(tables.writers, one.arrival, seconds, run)
  const after = await tables.report()
  // Commits that were lost or not audited would make the figures meaningless.
  await tables.check()
  const cpuMs = (after.cpuMs - before.cpuMs) / (after.committed - before.committed)
  const grown = place.catalog.expires ? {} : { snapshots_end: await tables.snapshotsEnd() }
  return resultOf(run, place, { ...one, upstreamName: upstream.name }, rounds, {
    gateway_cpu_ms: cpuMs,
    ...grown,
  })
}

type RouteTimes = Record<Route, readonly number[]>

interface CommitRound {
  readonly times: Readonly<RouteTimes>
  readonly lateness: readonly number[]
}

/** Runs rounds until the time is over. Each has a turn of every way to commit, in random order. */
async function takeTurns(
  writers: ReadonlyMap<Route, readonly TableWriter[]>,
  arrival: Arrival,
  seconds: number,
  { smoke, seed }: BenchRun,
): Promise<readonly CommitRound[]> {
  const random = seededRandom(seed)
  const startMs = performance.now()
  const rounds: CommitRound[] = []
  let spreadMs = 0
  for (;;) {
    const times: RouteTimes = {
      ...{ direct: [], bare: [], least: [], durable: [], nginx: [] },
      ...{ gateway: [], loaded: [] },
    }
    const lateness: number[] = []
    for (const route of shuffled([...writers.keys()], random)) {
      const exchanges = (writers.get(route) ?? []).map((writer) => () => writer.append())
      if (arrival.kind === 'closed')
        times[route] = await closedLoop(exchanges, arrival.concurrency === 1 ? 1 : commitsEach, spreadMs)
      else {
        // A second's worth: long enough for a queue to build up.
        const taken = await openLoop(
          exchanges,
          arrival.ratePerSecond,
          Math.ceil(arrival.ratePerSecond * (smoke ? 0.1 : 1)),
        )
        times[route] = taken.times
        lateness.push(...taken.lateness)
      }
    }
    for (const writer of [...writers.values()].flat()) await writer.trim()
    spreadMs = percentile(times.direct, 0.5)
    const elapsed = (performance.now() - startMs) / 1000
    if (elapsed >= seconds * warmUpShare) rounds.push({ times, lateness })
    if (elapsed >= seconds && rounds.length >= (smoke ? 2 : roundsMin)) return rounds
  }
}

function resultOf(
  run: BenchRun,
  { engine }: Place,
  one: CommitCase & { readonly upstreamName: BenchResult['case']; readonly roundTripMs: number },
  rounds: readonly CommitRound[],
  others: BenchResult['figures'],
): BenchResult {
  const samples = (route: Route) => rounds.flatMap(({ times }) => times[route])
  const p = (route: Route, quantile: number) => percentile(samples(route), quantile)
  const ratioOf = (target: Route, base: Route) =>
    bootstrapRatio(
      rounds.map(({ times }) => ({ base: times[base], target: times[target] })),
      { quantile: 0.95, seed: run.seed },
    )
  const ratio = ratioOf('gateway', 'direct')
  const has = (route: Route) => samples(route).length > 0
  const least = has('least') ? ratioOf('least', 'direct') : undefined
  const figures = {
    p50_direct_ms: p('direct', 0.5),
    p95_direct_ms: p('direct', 0.95),
    p99_direct_ms: p('direct', 0.99),
    ...(has('bare') && { p50_bare_ms: p('bare', 0.5), p95_bare_ms: p('bare', 0.95) }),
    ...(least && {
      p50_least_ms: p('least', 0.5),
      p95_least_ms: p('least', 0.95),
      p95_least_ratio: least.value,
      p95_least_ratio_low: least.low,
      p95_least_ratio_high: least.high,
      p95_over_least_ratio: ratioOf('gateway', 'least').value,
    }),
    ...(has('durable') && { p50_durable_ms: p('durable', 0.5), p95_durable_ms: p('durable', 0.95) }),
    p50_ms: p('gateway', 0.5),
    p95_ms: p('gateway', 0.95),
    p99_ms: p('gateway', 0.99),
    p95_ratio: ratio.value,
    p95_ratio_low: ratio.low,
    p95_ratio_high: ratio.high,
    ...(has('bare') && { p95_bare_ratio: ratioOf('gateway', 'bare').value }),
    added_p50_ms: p('gateway', 0.5) - p('direct', 0.5),
    ...(has('loaded') && {
      p50_loaded_ms: p('loaded', 0.5),
      p95_loaded_ms: p('loaded', 0.95),
      p95_loaded_ratio: ratioOf('loaded', 'direct').value,
      added_loaded_p50_ms: p('loaded', 0.5) - p('direct', 0.5),
    }),
    ...(has('durable') && { added_over_durable_p50_ms: p('gateway', 0.5) - p('durable', 0.5) }),
    ...others,
    rounds: rounds.length,
    samples: samples('gateway').length,
    ...(one.arrival.kind === 'open'
      ? {
          late_p95_ms: percentile(
            rounds.flatMap((round) => round.lateness),
            0.95,
          ),
        }
      : {}),
  }
  return {
    bench: 'gateway-commit',
    case: {
      store: engine,
      ...one.upstreamName,
      ...(one.upstreamMs !== undefined && { upstream_ms: one.upstreamMs }),
      ...(one.roundTripMs > 0 && { round_trip_ms: one.roundTripMs }),
      ...(one.arrival.kind === 'closed'
        ? { loop: 'closed', concurrency: one.arrival.concurrency }
        : { loop: 'open', rate_per_s: one.arrival.ratePerSecond }),
      policies: one.policies,
      ...tableSizes[one.table],
    },
    figures: Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)])),
    // No real catalog takes no time: such cases show the overhead, not whether the contract holds.
    verdict: run.smoke || one.upstreamMs === 0 ? 'not judged' : judgeBound(ratio, ratioMax),
  }
}
