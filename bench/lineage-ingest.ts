/**
 * Measures lineage events through the receiver's route, without sockets: session look-up, parsing, inbox, cycle check
 * and merge. A larger graph has more clusters of the same size, so every neighbourhood is alike. Figures of an empty
 * and a large graph must therefore be about equal.
 */

import { createTenant } from '../src/store/tenant/tenants.ts'
import { openBenchStore } from './bench-store.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { edgesPerCluster, eventBody, eventSender, fillClusters } from './lineage-clusters.ts'
import { closedLoop, type Exchange } from './load.ts'
import { percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

const clients = 64

export const lineageIngest: BenchEntry = {
  name: 'lineage-ingest',
  about: 'lineage events of 2 inputs and 2 outputs, on an empty graph and on one of 100,000 edges',
  options: storeOptions,
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const events = run.smoke ? 2 * clients : run.full ? 40_000 : 10_000
  for (const kind of chosenStores(run))
    for (const edges of run.smoke ? [0, 2 * edgesPerCluster] : [0, 100_000]) {
      await using opened = await openBenchStore(kind)
      const { store, engine } = opened
      const { id: tenant } = await createTenant(store, { name: 'bench' })
      const clusters = Math.ceil(edges / edgesPerCluster)
      await fillClusters(store, tenant, clusters)
      const send = await eventSender(store, tenant)
      const random = seededRandom(run.seed)
      // There are as many clusters to write to as events, regardless of the size of the graph.
      const bodies = Array.from({ length: events + clients }, () =>
        eventBody(random, Math.max(clusters, 500)),
      )
      let next = 0
      const exchange: Exchange = async () => {
        const startMs = performance.now()
        await send(bodies[next++] ?? '')
        return performance.now() - startMs
      }
      const workers = Array.from({ length: clients }, () => exchange)
      await closedLoop(workers, 1)
      const startMs = performance.now()
      const times = await closedLoop(workers, Math.floor(events / clients))
      const seconds = (performance.now() - startMs) / 1000
      yield {
        bench: 'lineage-ingest',
        case: {
          store: engine,
          edges: clusters * edgesPerCluster,
          inputs: 2,
          outputs: 2,
          concurrency: clients,
        },
        figures: { events_per_s: rounded(times.length / seconds), p95_ms: rounded(percentile(times, 0.95)) },
      }
    }
}
