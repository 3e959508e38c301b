/**
 * Measures what tracing costs a commit: gateways with tracing off and on, and one from another tree (`--tree`), take
 * turns in one run. Off a second time shows by how much two equal gateways differ on this machine. All gateways share
 * the catalog, and each has a store of its own. docs/performance.md explains.
 */

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openDevelopment } from './catalogs.ts'
import { startChild } from './child.ts'
import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  type BenchStore,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { startGatewayChild } from './gateway-child.ts'
import { makeTables, openPlace, type Place, type Tables } from './gateway-tables.ts'
import { closedLoop } from './load.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { tableSizes } from './sample-table.ts'
import { timesSetter } from './service-times.ts'
import { bootstrapRatio, judgeBound, percentile, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'
import type { SinkOrder, SinkResults } from './trace-sink-process.ts'

/** At most 2% more with tracing on; and as much as two equal gateways may differ with it off. */
const ratioMax = 1.02
const policyCount = 10
/** Commits of each client before the next gateway takes its turn. */
const commitsEach = 6
/** Share of a case's time that is discarded. */
const warmUpShare = 0.2
const roundsMin = 10

/** `off` is what the others are compared with; `tenth` is on for a tenth of the traces. */
type Way = 'off' | 'off_again' | 'on' | 'tenth' | 'tree'

export const tracing: BenchEntry = {
  name: 'tracing',
  about:
    'a commit with tracing on, off and, with --tree, by another tree; exit code 1 where on costs over 2%',
  options: {
    ...storeOptions,
    tree: {
      type: 'string',
      value: 'FOLDER',
      about: 'another checkout with its dependencies, such as one from before tracing',
    },
    'upstream-ms': { type: 'string', value: 'MS[,MS…]', about: 'service times of a commit upstream (0,60)' },
    concurrency: { type: 'string', value: 'N[,N…]', about: 'clients (1,8)' },
    seconds: { type: 'string', value: 'N', about: 'for each case (60)' },
  },
  run,
  conclude,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const tree = run.flags.text('tree')
  if (tree !== undefined && !existsSync(join(tree, 'bench/gateway-process.ts')))
    throw new BenchUsageError('--tree must name a checkout of this repository.')
  const upstreamTimes = run.flags.numbers('upstream-ms', 0, 60_000) ?? (run.smoke ? [0] : [0, 60])
  const clients = run.flags.numbers('concurrency', 1, 1_000) ?? (run.smoke ? [1] : [1, 8])
  for (const store of chosenStores(run)) {
    await using stack = new AsyncDisposableStack()
    const catalog = stack.use(await openDevelopment())
    const setTimes = timesSetter(run.flags, catalog, { profile: undefined, storage: undefined })
    const sink = stack.use(startSink())
    const { url } = await sink.ask({ kind: 'open' })
    const places = new Map<Way, Place>()
    for (const [way, settings] of waysOf(url, tree)) {
      const gateway = startGatewayChild(settings)
      places.set(way, stack.use(await openPlace(store, catalog, { gateway })))
    }
    let isWarm = run.smoke
    for (const upstreamMs of upstreamTimes)
      for (const count of clients) {
        await setTimes('small', upstreamMs, 0)
        const one = { upstreamMs, count, store }
        // A gateway that has just started still compiles.
        if (!isWarm) await measure(run, places, one, 5)
        isWarm = true
        const seconds = run.smoke ? 0.3 : (run.flags.number('seconds', 0.1, 3_600) ?? 60)
        const result = await measure(run, places, one, seconds)
        const { bytes } = await sink.ask({ kind: 'report' })
        if (bytes === 0 && !run.smoke) throw new Error('no span reached the receiver: tracing was not on')
        yield result
      }
  }
}

const startSink = () =>
  startChild<SinkOrder, SinkResults>(join(import.meta.dir, 'trace-sink-process.ts'), "the receiver's process")

function waysOf(url: string, tree: string | undefined): [Way, Parameters<typeof startGatewayChild>[0]][] {
  // Settings of the caller would turn tracing on everywhere.
  const named = Object.keys(process.env).filter((name) => name.startsWith('OTEL_'))
  const off = Object.fromEntries(named.map((name) => [name, undefined]))
  const ways: [Way, Parameters<typeof startGatewayChild>[0]][] = [
    ['off', { env: off }],
    ['off_again', { env: off }],
    ['on', { env: { ...off, OTEL_EXPORTER_OTLP_ENDPOINT: url } }],
    ['tenth', { env: { ...off, OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: '0.1' } }],
  ]
  if (tree !== undefined) ways.push(['tree', { env: off, tree: resolve(tree) }])
  return ways
}

interface Case {
  readonly upstreamMs: number
  readonly count: number
  readonly store: BenchStore
}

async function measure(
  run: BenchRun,
  places: ReadonlyMap<Way, Place>,
  { upstreamMs, count }: Case,
  seconds: number,
): Promise<BenchResult> {
  await using stack = new AsyncDisposableStack()
  const tables = new Map<Way, Tables>()
  const policies = enforcedPolicies(policyCount, 0)
  const wanted = { routes: ['gateway'] as const, count, size: tableSizes.small, policies }
  for (const [way, place] of places) tables.set(way, stack.use(await makeTables(place, wanted)))

  const random = seededRandom(run.seed)
  const rounds: ReadonlyMap<Way, readonly number[]>[] = []
  const startMs = performance.now()
  const before = await cpuOf(tables)
  let spreadMs = 0
  for (;;) {
    const times = new Map<Way, readonly number[]>()
    for (const way of shuffled([...tables.keys()], random)) {
      const writers = tables.get(way)?.writers.get('gateway') ?? []
      const exchanges = writers.map((writer) => () => writer.append())
      times.set(way, await closedLoop(exchanges, count === 1 ? 1 : commitsEach, spreadMs))
      for (const writer of writers) await writer.trim()
    }
    spreadMs = percentile(times.get('off') ?? [], 0.5)
    const elapsed = (performance.now() - startMs) / 1_000
    if (elapsed >= seconds * warmUpShare) rounds.push(times)
    if (elapsed >= seconds && rounds.length >= (run.smoke ? 2 : roundsMin)) break
  }
  const after = await cpuOf(tables)
  for (const one of tables.values()) await one.check()

  const samples = (way: Way) => rounds.flatMap((round) => round.get(way) ?? [])
  const ratio = (way: Way, quantile: number) =>
    bootstrapRatio(
      rounds.map((round) => ({ base: round.get('off') ?? [], target: round.get(way) ?? [] })),
      { quantile, seed: run.seed },
    )
  const cpu = (way: Way) => {
    const [from, to] = [before.get(way), after.get(way)]
    return ((to?.cpuMs ?? 0) - (from?.cpuMs ?? 0)) / ((to?.committed ?? 0) - (from?.committed ?? 0))
  }
  const others = [...places.keys()].filter((way) => way !== 'off')
  const figures: Record<string, number> = { p50_ms: percentile(samples('off'), 0.5), cpu_ms: cpu('off') }
  for (const way of others)
    for (const [name, quantile] of [
      ['p50', 0.5],
      ['p95', 0.95],
    ] as const) {
      const { value, low, high } = ratio(way, quantile)
      figures[`${way}_${name}_ratio`] = value
      figures[`${way}_${name}_low`] = low
      figures[`${way}_${name}_high`] = high
      figures[`${way}_cpu_ratio`] = cpu(way) / cpu('off')
    }
  const [first] = places.values()
  return {
    bench: 'tracing',
    case: { store: first?.engine ?? '', upstream_ms: upstreamMs, concurrency: count, policies: policyCount },
    figures: {
      ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(4))])),
      p50_ms: rounded(figures.p50_ms ?? 0),
      rounds: rounds.length,
      samples: samples('off').length,
    },
    verdict: run.smoke ? 'not judged' : judgeBound(ratio('on', 0.5), ratioMax),
  }
}

async function cpuOf(tables: ReadonlyMap<Way, Tables>) {
  const reports = new Map<Way, Awaited<ReturnType<Tables['report']>>>()
  for (const [way, one] of tables) reports.set(way, await one.report())
  return reports
}

function conclude(results: readonly BenchResult[]) {
  const broken = results.filter(({ verdict }) => verdict === 'broken')
  const shown = results.map(({ case: { store, upstream_ms, concurrency }, figures, verdict }) => {
    const parts = ['on', 'tenth', 'off_again', 'tree'].flatMap((way) => {
      const [value, low, high] = ['ratio', 'low', 'high'].map((name) => figures[`${way}_p50_${name}`])
      return value === undefined ? [] : [`${way} ${value} (${low} to ${high})`]
    })
    return `${store}, ${upstream_ms} ms, ${concurrency} clients: ${parts.join(', ')}: ${verdict}`
  })
  return {
    line: `Median of a commit over that with tracing off, at most ${ratioMax} with it on:\n${shown.join('\n')}`,
    failed: broken.length > 0,
  }
}
