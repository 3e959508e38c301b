/**
 * Measures the commits per second of one gateway process with an upstream that takes no time. It compares them with
 * the same upstream direct, and behind nginx as a plain reverse proxy. All processes share this machine.
 */

import { openDevelopment } from './catalogs.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { makeTables, openPlace, type Place } from './gateway-tables.ts'
import { findNginx, startNginx } from './nginx.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { tableSizes } from './sample-table.ts'
import { percentile, seededRandom, shuffled } from './statistics.ts'
import { rounded } from './table.ts'
import type { Route, TableWriter } from './table-writer.ts'

const concurrencyDefault = 32
const policyCount = 10
/** The first round of each way is not counted. */
const warmUpRounds = 1

export const gatewayThroughput: BenchEntry = {
  name: 'gateway-throughput',
  about: 'commits per second of one gateway process, of its upstream, and of that behind nginx',
  options: {
    ...storeOptions,
    clients: {
      type: 'string',
      value: 'N[,N…]',
      about: `clients that commit at once, each to a table of its own (${concurrencyDefault})`,
    },
    'turn-seconds': { type: 'string', value: 'N', about: 'how long each way has its turn (3)' },
    rounds: { type: 'string', value: 'N', about: 'turns of each way that count (5)' },
  },
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const path = findNginx()
  if (path === undefined)
    run.note('gateway-throughput: nginx is not installed (Debian: nginx-light), so it is left out.')
  await using catalog = await openDevelopment()
  await using nginx =
    path === undefined ? undefined : await startNginx(path, new URL(catalog.upstream.address.endpoint))
  const clients = run.flags.numbers('clients', 1, 1_000) ?? [run.smoke ? 4 : concurrencyDefault]
  for (const store of chosenStores(run)) {
    await using place = await openPlace(store, catalog)
    for (const count of clients) yield await measure(run, place, count, nginx?.url)
  }
}

async function measure(
  run: BenchRun,
  place: Place,
  count: number,
  proxyUrl: string | undefined,
): Promise<BenchResult> {
  const routes: readonly Route[] =
    proxyUrl === undefined ? ['direct', 'gateway'] : ['direct', 'nginx', 'gateway']
  const size = tableSizes.small
  const policies = enforcedPolicies(policyCount, 0)
  await using tables = await makeTables(place, {
    routes,
    count,
    size,
    policies,
    proxies: { nginx: proxyUrl },
  })
  const turnMs = run.smoke ? 100 : (run.flags.number('turn-seconds', 0.1, 600) ?? 3) * 1_000
  const rounds = run.smoke ? 1 : (run.flags.number('rounds', 1, 1_000) ?? 5)
  const random = seededRandom(run.seed)
  const rates = new Map<Route, number[]>(routes.map((route) => [route, []]))
  let cpuMs = 0
  let commits = 0
  for (let round = 0; round < rounds + warmUpRounds; round++)
    for (const route of shuffled(routes, random)) {
      const before = await tables.report()
      const rate = await commitsPerSecond(tables.writers.get(route) ?? [], turnMs)
      const after = await tables.report()
      if (round < warmUpRounds) continue
      rates.get(route)?.push(rate)
      if (route !== 'gateway') continue
      cpuMs += after.cpuMs - before.cpuMs
      commits += after.committed - before.committed
    }
  await tables.check()
  const median = (route: Route) => percentile(rates.get(route) ?? [], 0.5)
  return {
    bench: 'gateway-throughput',
    case: { store: place.engine, clients: count, policies: policyCount, ...size },
    figures: {
      commits_per_s: rounded(median('gateway')),
      direct_commits_per_s: rounded(median('direct')),
      ...(proxyUrl !== undefined && {
        nginx_commits_per_s: rounded(median('nginx')),
        ratio_vs_nginx: rounded(median('gateway') / median('nginx')),
      }),
      ratio_vs_direct: rounded(median('gateway') / median('direct')),
      gateway_cpu_ms: rounded(cpuMs / commits),
      rounds,
    },
  }
}

/** Each client sends one commit after another until the time is over. A commit in flight is finished and counted. */
async function commitsPerSecond(writers: readonly TableWriter[], turnMs: number): Promise<number> {
  const startMs = performance.now()
  let count = 0
  await Promise.all(
    writers.map(async (writer) => {
      while (performance.now() - startMs < turnMs) {
        await writer.append()
        count++
      }
    }),
  )
  const rate = (count / (performance.now() - startMs)) * 1_000
  for (const writer of writers) await writer.trim()
  return rate
}
