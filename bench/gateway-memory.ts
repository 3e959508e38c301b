/** The gateway's memory over many commits: what is resident must not grow with their number. */

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
import { connectUpstream, startCatalogProcess } from './upstream.ts'

const commitsDefault = 100_000
const clients = 16
const policyCount = 10
const samplesMin = 20
/** The caches fill and the heap finds its size in the first part of the run, which is not judged. */
const settledShare = 0.3
/** The median of the last samples over that of the first settled ones; allocators keep what they once had. */
const growthMax = 1.1
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
  await using catalog = await startCatalogProcess()
  const upstream = await connectUpstream(catalog.address)
  for (const store of chosenStores(run)) {
    await using place = await openPlace(store, upstream, catalog)
    yield await measure(run, place, run.smoke ? 200 : (given ?? commitsDefault))
  }
}

interface MemorySample {
  readonly rssBytes: number
  readonly heapBytes: number
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
  const samples: MemorySample[] = []
  const step = Math.ceil(commits / Math.max(samplesMin, Math.floor(commits / 1_000)))
  for (let done = 0; done < commits; done += step) {
    await commitAll(writers, Math.min(step, commits - done))
    samples.push(await tables.report())
    if (samples.length % 10 === 0 && !run.smoke)
      run.note(`  ${done + step} commits, ${megabytes(samples.at(-1)?.rssBytes ?? 0)} MiB`)
  }
  await tables.check()
  const { committed } = await tables.report()
  const settled = samples.slice(Math.floor(samples.length * settledShare))
  const part = Math.max(1, Math.floor(settled.length / 4))
  const median = (some: readonly MemorySample[], key: keyof MemorySample) =>
    percentile(
      some.map((sample) => sample[key]),
      0.5,
    )
  const growth = median(settled.slice(-part), 'rssBytes') / median(settled.slice(0, part), 'rssBytes')
  return {
    bench: 'gateway-memory',
    case: { store: place.engine, clients, policies: policyCount, ...size },
    figures: {
      commits: committed,
      rss_settled_mib: megabytes(median(settled.slice(0, part), 'rssBytes')),
      rss_end_mib: megabytes(median(settled.slice(-part), 'rssBytes')),
      rss_max_mib: megabytes(Math.max(...samples.map(({ rssBytes }) => rssBytes))),
      heap_settled_mib: megabytes(median(settled.slice(0, part), 'heapBytes')),
      heap_end_mib: megabytes(median(settled.slice(-part), 'heapBytes')),
      growth_ratio: rounded(growth),
      samples: samples.length,
    },
    verdict: run.smoke ? 'not judged' : growth <= growthMax ? 'steady' : 'grows',
  }
}

/** Shares so many commits among the clients, and brings their tables back to size. */
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

function megabytes(bytes: number): number {
  return rounded(bytes / mebibyte)
}

function conclude(results: readonly BenchResult[]): { readonly line: string; readonly failed: boolean } {
  const failed = results.some(({ verdict }) => verdict === 'grows')
  return {
    line: `Memory over many commits: ${failed ? 'GROWS' : 'STEADY'} (at most ${growthMax} times what it was once settled).`,
    failed,
  }
}
