/**
 * Measures the memory of the service over hours of commits, queries and lineage events, with jobs running: resident
 * and live bytes, and live objects by class at both ends. Each figure is taken after memory has settled.
 */

import { type BenchResult, type BenchRun, chosenStores } from './entry.ts'
import type { MemoryProfile } from './settled-memory.ts'
import { type Installation, openInstallation, type Request } from './soak-installation.ts'
import { seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

const requests = ['commit', 'query', 'lineage'] as const satisfies readonly Request[]
const tenants = 12
const tables = 5
/** Figures over the whole time. The first share of it is not judged, because caches fill and the heap finds its size. */
const samples = 12
const settledShare = 0.5
/** MiB a minute over the time that is judged. Resident memory varies by some MiB from one settled sample to the next. */
const growthMax = { live: 0.1, resident: 0.5 } as const
/** Classes that are listed: those of which most were added. */
const listedClasses = 12
const mebibyte = 1024 * 1024

interface Sample {
  readonly minutes: number
  readonly served: number
  readonly refused: number
  readonly profile: MemoryProfile
}

export async function* measureMemory(run: BenchRun, hours: number): AsyncGenerator<BenchResult> {
  for (const store of chosenStores(run)) {
    const random = seededRandom(run.seed)
    const size = { tenants, tables, 'audit-rows': 0, 'usage-rows': 0, 'upstream-ms': 0 }
    await using installation = await openInstallation(store, { ...size, requests, jobs: true }, random)
    for (const request of requests) await installation.warm(request)
    const taken = await takeSamples(run, installation, hours)
    const measured = { store: store.kind, hours, tenants }
    yield overTime(measured, taken)
    yield* byClass(measured, taken)
  }
}

async function takeSamples(run: BenchRun, installation: Installation, hours: number): Promise<Sample[]> {
  const startMs = performance.now()
  const partMs = (hours * 3_600_000) / samples
  const taken: Sample[] = []
  let served = 0
  let refused = 0
  const sample = async () => {
    const profile = await installation.profile(!run.smoke)
    const minutes = (performance.now() - startMs) / 60_000
    taken.push({ minutes, served, refused, profile })
    const { rssBytes, liveBytes } = profile
    run.note(
      `  soak: ${rounded(minutes)} min, ${served} served, ${refused} refused, ${mebibytes(rssBytes)} MiB resident, ${mebibytes(liveBytes)} live`,
    )
  }
  await sample()
  for (let part = 1; part <= samples; part++) {
    const untilMs = performance.now() + partMs
    await Promise.all(
      requests.map(async (request) => {
        while (performance.now() < untilMs) {
          // On the embedded store a request may find the database busy; that it was asked is what counts.
          await installation.ask(request).then(
            () => served++,
            () => refused++,
          )
        }
      }),
    )
    await sample()
  }
  return taken
}

function overTime(measured: BenchResult['case'], taken: readonly Sample[]): BenchResult {
  const judged = taken.slice(Math.floor(taken.length * settledShare))
  const [start, half, end] = [taken[0], judged[0], taken.at(-1)] as [Sample, Sample, Sample]
  const growth = slope(judged.map(({ minutes, profile }) => [minutes, profile.rssBytes / mebibyte]))
  const liveGrowth = slope(judged.map(({ minutes, profile }) => [minutes, profile.liveBytes / mebibyte]))
  return {
    bench: 'soak',
    case: { ...measured, of: 'memory' },
    figures: {
      served: end.served,
      refused: end.refused,
      start_rss_mib: mebibytes(start.profile.rssBytes),
      half_rss_mib: mebibytes(half.profile.rssBytes),
      end_rss_mib: mebibytes(end.profile.rssBytes),
      second_half_mib_per_min: rounded(growth),
      start_live_mib: mebibytes(start.profile.liveBytes),
      half_live_mib: mebibytes(half.profile.liveBytes),
      end_live_mib: mebibytes(end.profile.liveBytes),
      second_half_live_mib_per_min: rounded(liveGrowth),
    },
    verdict: growth <= growthMax.resident && liveGrowth <= growthMax.live ? 'plateau' : 'grows',
  }
}

/** Classes of which most live objects were added in the time that is judged. */
function byClass(measured: BenchResult['case'], taken: readonly Sample[]): readonly BenchResult[] {
  const counts = [taken[0], taken[Math.floor(taken.length * settledShare)], taken.at(-1)].map(
    (sample) => sample?.profile.objects ?? {},
  )
  const [start = {}, half = {}, end = {}] = counts
  const added = (name: string) => (end[name] ?? 0) - (half[name] ?? 0)
  return Object.keys(end)
    .sort((a, b) => added(b) - added(a))
    .slice(0, listedClasses)
    .map((name) => ({
      bench: 'soak',
      case: { ...measured, of: name },
      figures: { start: start[name] ?? 0, half: half[name] ?? 0, end: end[name] ?? 0, added: added(name) },
    }))
}

/** Of the straight line that fits best. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}

function mebibytes(bytes: number): number {
  return rounded(bytes / mebibyte)
}
