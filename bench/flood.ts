/**
 * Compares requests of one tenant beside a flood by another with the same alone, by turns: the program itself in 1 GiB.
 * The floods are lineage events of 50 × 50 edges, answers of a catalog of 5 MB of `[`, and commits of 15 MB.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ContainedService, commitOf, serveContained } from '../test/support/contained-service.ts'
import { makeMemoryGroup } from '../test/support/memory-group.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import {
  type FloodTenants,
  floodRequests,
  prepareFlood,
  type QuietRequest,
  quietRequests,
} from './flood-tenants.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'

const ratioMax = 2
const containerBytes = 1024 ** 3
/** Clients of the flood, without a pause. */
const clients = 10
const windowMs = 5_000
const probeMs = 50
const commitBytes = 15 * 1_000_000
const smallBytes = 1_000

export const flood: BenchEntry = {
  name: 'flood',
  about: 'requests of a tenant beside a flood by another in 1 GiB, by turns with the same alone',
  options: {
    ...storeOptions,
    rounds: { type: 'string', value: 'N', about: 'windows of 5 s each, alone and flooded (default 6)' },
  },
  run,
  conclude,
}

const floods = ['lineage', 'answers', 'commits'] as const

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const rounds = run.flags.number('rounds', 1, 1_000) ?? (run.smoke ? 1 : 6)
  for (const store of chosenStores(run)) {
    using container = makeMemoryGroup(containerBytes)
    if (container === undefined && !run.smoke)
      run.note('  flood: no control group can be made, so nothing bounds memory but a setting')
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'covenant-flood-'))
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const tenants = stack.use(await prepareFlood(store, folder))
    const service = stack.use(
      await serveContained(container, {
        folder,
        dataDirectory: join(folder, 'data'),
        env: { ...tenants.env, SVC_MEMORY_MB: String(containerBytes / 1024 ** 2) },
      }),
    )
    await tenants.connect(service)
    for (const name of floods) yield* besideFlood(run, { service, tenants, rounds, store: store.kind }, name)
    if (!service.isAlive() || (container?.kills() ?? 0) > 0) throw new Error('the service was killed')
  }
}

interface Place {
  readonly service: ContainedService
  readonly tenants: FloodTenants
  readonly rounds: number
  readonly store: string
}

type Times = Record<QuietRequest | 'livez' | 'healthz', number[]>
interface Window {
  readonly times: Times
  readonly refused: Record<string, number>
}

const nothing = (): Window => ({
  times: { commit: [], read: [], event: [], livez: [], healthz: [] },
  refused: {},
})

async function* besideFlood(
  run: BenchRun,
  place: Place,
  name: (typeof floods)[number],
): AsyncGenerator<BenchResult> {
  const { tenants, rounds } = place
  const alone = nothing()
  const flooded = nothing()
  const loud = { served: 0, refused: 0 }
  await visit(place, nothing(), run.smoke ? 1 : 1_000)
  const send = floodRequests[name]
  for (let round = 0; round < rounds; round++) {
    await visit(place, alone, run.smoke ? 100 : windowMs)
    let ended = false
    const flooding = Array.from({ length: run.smoke ? 1 : clients }, async () => {
      while (!ended) {
        const answered = await send(
          tenants,
          name === 'commits' ? commitOf(run.smoke ? smallBytes : commitBytes) : undefined,
        )
        if (answered) loud.served++
        else {
          loud.refused++
          // As its answer says: Retry-After.
          await Bun.sleep(run.smoke ? 1 : 100)
        }
      }
    })
    await visit(place, flooded, run.smoke ? 100 : windowMs)
    ended = true
    await Promise.all(flooding)
  }
  for (const request of [...quietRequests, 'livez', 'healthz'] as const) {
    const at = (window: Window, quantile: number) => percentile(window.times[request], quantile)
    const ratio = at(flooded, 0.95) / at(alone, 0.95)
    const refused = flooded.refused[request] ?? 0
    const isProbe = request === 'livez' || request === 'healthz'
    yield {
      bench: 'flood',
      case: { store: place.store, flood: name, request },
      figures: {
        served: flooded.times[request].length,
        alone_p50_ms: rounded(at(alone, 0.5)),
        flooded_p50_ms: rounded(at(flooded, 0.5)),
        alone_p95_ms: rounded(at(alone, 0.95)),
        flooded_p95_ms: rounded(at(flooded, 0.95)),
        ratio: rounded(ratio),
        ...{ refused, refused_alone: alone.refused[request] ?? 0 },
        ...{ flood_served: loud.served, flood_refused: loud.refused },
      },
      verdict: isProbe
        ? refused === 0
          ? 'answered'
          : 'refused'
        : ratio <= ratioMax && refused === 0
          ? `within ${ratioMax}`
          : `above ${ratioMax}`,
    }
  }
  run.smoke || run.note(`  flood: ${Math.round(place.service.peakMiB())} MiB resident at most`)
}

/** The quiet tenant's client, one request after another, and probes beside it. */
async function visit({ tenants, service }: Place, { times, refused }: Window, ms: number): Promise<void> {
  const untilMs = performance.now() + ms
  const timed = async (name: keyof Times, ask: () => Promise<boolean>) => {
    const startMs = performance.now()
    if (await ask()) times[name].push(performance.now() - startMs)
    else refused[name] = (refused[name] ?? 0) + 1
  }
  const probing = (['livez', 'healthz'] as const).map(async (probe) => {
    do {
      await timed(probe, async () => {
        const response = await fetch(new URL(`/${probe}`, service.url))
        await response.bytes()
        return response.ok
      })
      await Bun.sleep(probeMs)
    } while (performance.now() < untilMs)
  })
  do for (const request of quietRequests) await timed(request, () => tenants.ask(request))
  while (performance.now() < untilMs)
  await Promise.all(probing)
}

function conclude(results: readonly BenchResult[]) {
  const above = results.filter(({ verdict }) => verdict?.startsWith('above') || verdict === 'refused')
  const named = above.map(
    (one) =>
      `${one.case.request} beside ${one.case.flood} ${one.figures.ratio} times, ${one.figures.refused} refused`,
  )
  return {
    line:
      above.length === 0
        ? `Flood: the 95th percentiles of others are within ${ratioMax} times, and nothing of theirs is refused.`
        : `Flood: ${named.join('; ')}.`,
    failed: above.length > 0,
  }
}
