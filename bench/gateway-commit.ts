/**
 * The gateway's overhead contract (SPEC 8): P95 commit latency at most 5% above a direct upstream commit. Catalog,
 * gateway and load are three processes; the ways to commit take turns in one run. docs/performance.md explains.
 */

import { type Arrival, type CommitCase, chosenCases } from './commit-cases.ts'
import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { makeTables, openPlace, type Place } from './gateway-tables.ts'
import { closedLoop, openLoop } from './load.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { tableSizes } from './sample-table.ts'
import { bootstrapRatio, judgeBound, percentile, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'
import type { Route, TableWriter } from './table-writer.ts'
import {
  type CatalogProcess,
  connectUpstream,
  readCredential,
  type ServiceTimes,
  startCatalogProcess,
  type UpstreamAddress,
} from './upstream.ts'

/** SPEC 8. */
const ratioMax = 1.05
/** A case goes on beyond its time until it has as many. */
const roundsMin = 10
/** Commits that each worker makes before the next way to commit has its turn. */
const commitsEach = 6
/** The share of a case's time that is not counted. */
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
    concurrency: { type: 'string', value: 'N[,N…]', about: 'closed loop: clients (1,8,32)' },
    rate: { type: 'string', value: 'N[,N…]', about: 'open loop: commits a second (20)' },
    policies: { type: 'string', value: 'N[,N…]', about: 'policies on each table (1,10,100)' },
    table: {
      type: 'string',
      value: 'small,large',
      about: '10 columns, 5 snapshots; 200 columns, 1,000 snapshots',
    },
    seconds: { type: 'string', value: 'N', about: 'for each case (20, with --full 40)' },
    upstream: {
      type: 'string',
      value: 'URL',
      about: 'a real Iceberg REST catalog instead of the development one',
    },
    'upstream-kind': { type: 'string', value: 'alpha|beta', about: 'what it speaks like (alpha)' },
    warehouse: { type: 'string', value: 'NAME', about: 'its warehouse' },
    'credential-file': { type: 'string', value: 'FILE', about: 'file with id:secret for it' },
    'oauth2-server-uri': { type: 'string', value: 'URL', about: 'its token endpoint, where it has another' },
  },
  run,
  conclude,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const real = await realUpstream(run)
  const cases = chosenCases(run.flags, { ...run, real: real !== undefined })
  const seconds = run.smoke ? 0.3 : (run.flags.number('seconds', 0.1, 3_600) ?? (run.full ? 40 : 20))
  const stores = chosenStores(run)
  await using catalog = real === undefined ? await startCatalogProcess() : undefined
  const upstream = await connectUpstream(real ?? (catalog as CatalogProcess).address)
  for (const store of stores) {
    await using place = await openPlace(store, upstream, catalog)
    if (!run.smoke) await warmUp(run, place)
    for (const one of cases) yield await measure(run, place, one, seconds)
  }
}

/** A gateway that has just started compiles as it goes; nothing of that is measured. */
async function warmUp(run: BenchRun, place: Place): Promise<void> {
  const upstreamMs = place.catalog === undefined ? undefined : 0
  await measure(
    run,
    place,
    { upstreamMs, arrival: { kind: 'closed', concurrency: 8 }, policies: 10, table: 'small' },
    4,
  )
}

async function measure(run: BenchRun, place: Place, one: CommitCase, seconds: number): Promise<BenchResult> {
  await place.catalog?.setServiceTimes(serviceTimes(run, one.upstreamMs ?? 0))
  const workers = openLoopWorkers[run.smoke ? 'smoke' : 'measured']
  await using tables = await makeTables(place, {
    routes: ['direct', 'bare', 'durable', 'gateway'],
    count: one.arrival.kind === 'closed' ? one.arrival.concurrency : workers,
    size: tableSizes[one.table],
    policies: enforcedPolicies(one.policies, 0),
  })
  const before = await tables.report()
  const rounds = await takeTurns(tables.writers, one.arrival, seconds, run)
  const after = await tables.report()
  // A benchmark of commits that were lost or not audited would measure nothing.
  await tables.check()
  const cpuMs = (after.cpuMs - before.cpuMs) / (after.committed - before.committed)
  return resultOf(run, place, one, rounds, cpuMs)
}

type RouteTimes = Record<Route, readonly number[]>

interface CommitRound {
  readonly times: Readonly<RouteTimes>
  readonly lateness: readonly number[]
}

/** Rounds, each with a turn of every way to commit, in random order, until the time is over. */
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
    const times: RouteTimes = { direct: [], bare: [], durable: [], gateway: [], nginx: [] }
    const lateness: number[] = []
    for (const route of shuffled([...writers.keys()], random)) {
      const exchanges = (writers.get(route) ?? []).map((writer) => () => writer.append())
      if (arrival.kind === 'closed')
        times[route] = await closedLoop(exchanges, arrival.concurrency === 1 ? 1 : commitsEach, spreadMs)
      else {
        // A second's worth: long enough for a queue to build up if one will.
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
  { engine, upstream, second }: Place,
  one: CommitCase,
  rounds: readonly CommitRound[],
  cpuMs: number,
): BenchResult {
  const samples = (route: Route) => rounds.flatMap(({ times }) => times[route])
  const p = (route: Route, quantile: number) => percentile(samples(route), quantile)
  const against = (base: Route) =>
    bootstrapRatio(
      rounds.map(({ times }) => ({ base: times[base], target: times.gateway })),
      { quantile: 0.95, seed: run.seed },
    )
  const ratio = against('direct')
  const figures = {
    p50_direct_ms: p('direct', 0.5),
    p95_direct_ms: p('direct', 0.95),
    p99_direct_ms: p('direct', 0.99),
    p50_bare_ms: p('bare', 0.5),
    p95_bare_ms: p('bare', 0.95),
    ...(second && { p50_durable_ms: p('durable', 0.5), p95_durable_ms: p('durable', 0.95) }),
    p50_ms: p('gateway', 0.5),
    p95_ms: p('gateway', 0.95),
    p99_ms: p('gateway', 0.99),
    p95_ratio: ratio.value,
    p95_ratio_low: ratio.low,
    p95_ratio_high: ratio.high,
    p95_bare_ratio: against('bare').value,
    added_p50_ms: p('gateway', 0.5) - p('direct', 0.5),
    ...(second && { added_over_durable_p50_ms: p('gateway', 0.5) - p('durable', 0.5) }),
    gateway_cpu_ms: cpuMs,
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
      ...(one.upstreamMs === undefined
        ? { upstream: new URL(upstream.address.endpoint).host }
        : { upstream_ms: one.upstreamMs }),
      ...(one.arrival.kind === 'closed'
        ? { loop: 'closed', concurrency: one.arrival.concurrency }
        : { loop: 'open', rate_per_s: one.arrival.ratePerSecond }),
      policies: one.policies,
      ...tableSizes[one.table],
    },
    figures: Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)])),
    // A catalog that takes no time does not exist: its cases show what is added, not whether the contract holds.
    verdict: run.smoke || one.upstreamMs === 0 ? 'not judged' : judgeBound(ratio, ratioMax),
  }
}

function conclude(results: readonly BenchResult[]): { readonly line: string; readonly failed: boolean } {
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length
  const [proven, broken, inconclusive] = [count('proven'), count('broken'), count('inconclusive')]
  const overall =
    broken > 0
      ? 'BROKEN'
      : proven > 0 && inconclusive === 0
        ? 'PROVEN'
        : proven + inconclusive > 0
          ? 'INCONCLUSIVE'
          : 'NOT JUDGED'
  return {
    line: `Contract, P95 at most 5% above a direct commit: ${overall} (${proven} cases proven, ${broken} broken, ${inconclusive} inconclusive, by 95% confidence intervals).`,
    failed: broken > 0,
  }
}

function serviceTimes({ flags }: BenchRun, commitMs: number): ServiceTimes {
  return {
    load: flags.numbers('load-ms', 0, 60_000) ?? [commitMs / 2],
    conditionalLoad: flags.numbers('conditional-load-ms', 0, 60_000) ?? [commitMs === 0 ? 0 : 1],
    commit: [commitMs],
  }
}

const realOptions = ['upstream-kind', 'warehouse', 'credential-file', 'oauth2-server-uri'] as const
const developmentOptions = ['upstream-ms', 'load-ms', 'conditional-load-ms'] as const

/** @throws BenchUsageError */
async function realUpstream({ flags, smoke }: BenchRun): Promise<UpstreamAddress | undefined> {
  const endpoint = flags.text('upstream')
  if (endpoint === undefined) {
    for (const name of realOptions)
      if (flags.text(name) !== undefined) throw new BenchUsageError(`--${name} needs --upstream.`)
    return undefined
  }
  for (const name of developmentOptions)
    if (flags.text(name) !== undefined)
      throw new BenchUsageError(`--${name} is for the development catalog; not together with --upstream.`)
  if (smoke)
    throw new BenchUsageError('--smoke runs on the development catalog; not together with --upstream.')
  const url = URL.parse(endpoint)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
    throw new BenchUsageError('--upstream must be an http or https URL without user and query.')
  const warehouse = flags.text('warehouse')
  if (warehouse === undefined) throw new BenchUsageError('--upstream needs --warehouse.')
  const credentialFile = flags.text('credential-file')
  return {
    kind: flags.choices('upstream-kind', ['alpha', 'beta'])?.[0] ?? 'alpha',
    endpoint: url.href.replace(/\/$/, ''),
    warehouse,
    credential: credentialFile === undefined ? undefined : await readCredential(credentialFile),
    tokenUrl: flags.text('oauth2-server-uri'),
  }
}
