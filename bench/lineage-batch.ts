/**
 * Measures a batch of 1,000 lineage events beside the same number of single ones, 64 at once, by turns, on a graph of
 * 500,000 edges: through the receiver's routes, without sockets.
 */

import { createTenant } from '../src/store/tenant/tenants.ts'
import { openBenchStore } from './bench-store.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { edgesPerCluster, eventBody, eventSender, fillClusters } from './lineage-clusters.ts'
import { closedLoop } from './load.ts'
import { percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

const clients = 64

export const lineageBatch: BenchEntry = {
  name: 'lineage-batch',
  about: 'a batch of 1,000 lineage events beside 1,000 single ones, on a graph of 500,000 edges',
  options: storeOptions,
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const events = run.smoke ? 2 * clients : 1_000
  const clusters = run.smoke ? 2 : Math.ceil(500_000 / edgesPerCluster)
  for (const kind of chosenStores(run)) {
    await using opened = await openBenchStore(kind)
    const { store, engine } = opened
    const { id: tenant } = await createTenant(store, { name: 'bench' })
    await fillClusters(store, tenant, clusters)
    const send = await eventSender(store, tenant)
    const random = seededRandom(run.seed)
    const bodies = () => Array.from({ length: events }, () => eventBody(random, Math.max(clusters, 500)))
    const single = async () => {
      const waiting = bodies()
      const exchange = async () => {
        await send(waiting.pop() ?? '')
        return 0
      }
      await closedLoop(
        Array.from({ length: clients }, () => exchange),
        Math.floor(events / clients),
      )
    }
    const batch = () => send(`[${bodies().join(',')}]`, '/v1/lineage/batch')
    const rounds = run.smoke ? 1 : run.full ? 20 : 8
    const [ofBatch = [], ofSingle = []] = await interleavedTimes([batch, single], rounds, random)
    const perSecond = (count: number, times: readonly number[]) =>
      rounded((count * 1000) / percentile(times, 0.5))
    yield {
      bench: 'lineage-batch',
      case: { store: engine, edges: clusters * edgesPerCluster, events, concurrency: clients },
      figures: {
        batch_events_per_s: perSecond(events, ofBatch),
        single_events_per_s: perSecond(Math.floor(events / clients) * clients, ofSingle),
        p50_batch_ms: rounded(percentile(ofBatch, 0.5)),
        p95_batch_ms: rounded(percentile(ofBatch, 0.95)),
      },
    }
  }
}
