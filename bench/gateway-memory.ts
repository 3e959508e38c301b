/**
 * Checks that the gateway's memory does not grow with the number of commits: neither live objects after a collection
 * nor resident memory in between.
 */

import { openDevelopment } from './catalogs.ts'
import {
  type BenchEntry,
  type BenchResult,
  type BenchRun,
  BenchUsageError,
  chosenStores,
  storeOptions,
} from './entry.ts'
import { makeTables, openPlace, type Place } from './gateway-tables.ts'
import { enforcedPolicies } from './sample-policies.ts'
import { tableSizes } from './sample-table.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'
import type { TableWriter } from './table-writer.ts'

const commitsDefault = 100_000
const clients = 16
const policyCount = 10
const samplesMin = 20
/** The first part of the run is not judged, because caches fill and the heap finds its size. */
const settledShare = 0.3
/** Between collections the heap grows to about twice its live size, so resident memory rises and falls. */
const growthMax = { live: 1.1, resident: 1.25 } as const
const teeth = 0.9
const mebibyte = 1024 * 1024

export const gatewayMemory: BenchEntry = {
  name: 'gateway-memory',
  about: 'resident memory of the gateway over 100,000 commits; exit code 1 where it grows',
  options: {
    ...storeOptions,
    commits: { type: 'string', value: 'N', about: `how many (${commitsDefault}; at least 1,000)` },
  },
  run,
  conclude,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const given = run.flags.number('commits', 1_000, 1e8)
  if (given !== undefined && run.smoke) throw new BenchUsageError('--commits and --smoke exclude each other.')
  await using catalog = await openDevelopment()
  for (const store of chosenStores(run)) {
    await using place = await openPlace(store, catalog)
    yield await measure(run, place, run.smoke ? 200 : (given ?? commitsDefault))
  }
}

async function measure(run: BenchRun, place: Place, commits: number): Promise<BenchResult> {
  const size = tableSizes.small
  await using tables = await makeTables(place, {
    routes: ['gateway'],
    count: clients,
    size,
    policies: enforcedPolicies(policyCount, 0),
  })
  const writers = tables.writers.get('gateway') ?? []
  const collect = async () => (await place.gateway.ask({ kind: 'collect' })).liveBytes
  const resident: number[] = []
  const step = Math.ceil(commits / Math.max(samplesMin, Math.floor(commits / 1_000)))
  const settledAt = commits * settledShare
  let settledLive = 0
  for (let done = 0; done < commits; done += step) {
    await commitAll(writers, Math.min(step, commits - done))
    if (done >= settledAt) resident.push((await tables.report()).rssBytes)
    else if (done + step >= settledAt) settledLive = await collect()
    if (!run.smoke && resident.length % 10 === 1)
      run.note(`  ${done + step} commits, ${mebibytes(resident.at(-1) ?? 0)} MiB resident`)
  }
  await tables.check()
  const live = { settled: settledLive, end: await collect() }
  const half = Math.floor(resident.length / 2)
  const high = (samples: readonly number[]) => percentile(samples, teeth)
  const growth = {
    live: live.end / live.settled,
    resident: high(resident.slice(half)) / high(resident.slice(0, half)),
  }
  const steady = growth.live <= growthMax.live && growth.resident <= growthMax.resident
  return {
    bench: 'gateway-memory',
    case: { store: place.engine, clients, policies: policyCount, ...size },
    figures: {
      commits: (await tables.report()).committed,
      live_settled_mib: mebibytes(live.settled),
      live_end_mib: mebibytes(live.end),
      live_growth_ratio: rounded(growth.live),
      rss_first_half_mib: mebibytes(high(resident.slice(0, half))),
      rss_second_half_mib: mebibytes(high(resident.slice(half))),
      rss_growth_ratio: rounded(growth.resident),
      samples: resident.length,
    },
    verdict: run.smoke ? 'not judged' : steady ? 'steady' : 'grows',
  }
}

/** Divides the commits among the clients, and then brings their tables back to size. */
async function commitAll(writers: readonly TableWriter[], count: number): Promise<void> {
  let left = count
  await Promise.all(
    writers.map(async (writer) => {
      while (left-- > 0) {
        await writer.append()
        await writer.trim()
      }
    }),
  )
}

function mebibytes(bytes: number): number {
  return rounded(bytes / mebibyte)
}

function conclude(results: readonly BenchResult[]): { readonly line: string; readonly failed: boolean } {
  const failed = results.some(({ verdict }) => verdict === 'grows')
  return {
    line: `Memory over many commits: ${failed ? 'GROWS' : 'STEADY'} (at most ${growthMax.live} times what was live once settled, and ${growthMax.resident} times what was resident).`,
    failed,
  }
}
