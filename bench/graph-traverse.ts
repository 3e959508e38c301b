/** Measures the bounded traversal of a tenant's lineage graph, and the store's bare round trip. */

import type { TenantId } from '../src/core/tenant.ts'
import { traverse } from '../src/store/graph/graph.ts'
import type { Store } from '../src/store/store.ts'
import { createTenant } from '../src/store/tenant/tenants.ts'
import { openBenchStore } from './bench-store.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { percentile, type Random, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

const hopsMax = 5
export const edgesOfNode = 5

export const graphTraverse: BenchEntry = {
  name: 'graph-traverse',
  about: '1 to 5 hops through 10,000 datasets and 50,000 lineage edges',
  options: storeOptions,
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const nodes = run.smoke ? 200 : 10_000
  const edges = nodes * edgesOfNode
  const rounds = run.smoke ? 3 : run.full ? 400 : 100
  for (const kind of chosenStores(run)) {
    await using opened = await openBenchStore(kind)
    const { store, engine } = opened
    const { id: tenant } = await createTenant(store, { name: 'bench' })
    const random = seededRandom(run.seed)
    await fillLineage(store, tenant, { from: 0, to: nodes, random })
    const walks = Array.from({ length: hopsMax }, (_, index) => async () => {
      const id = datasetId(Math.floor(random() * nodes))
      const page = await traverse(store, tenant, {
        label: 'Dataset',
        id,
        direction: 'out',
        edgeLabels: ['LINEAGE_OF'],
        hops: index + 1,
        limit: 100,
      })
      if (page.items.length === 0) throw new Error('a traversal reached nothing')
    })
    const roundTrip = async () => void (await store.tenantQuery(tenant, 'select 1'))
    const times = await interleavedTimes([roundTrip, ...walks], rounds, random)
    const roundTripMs = percentile(times[0] ?? [], 0.5)
    for (let hops = 1; hops <= hopsMax; hops++)
      yield {
        bench: 'graph-traverse',
        case: { store: engine, nodes, edges, hops, page: 100 },
        figures: {
          p50_ms: rounded(percentile(times[hops] ?? [], 0.5)),
          p95_ms: rounded(percentile(times[hops] ?? [], 0.95)),
          p50_round_trip_ms: rounded(roundTripMs),
        },
      }
  }
}

export const datasetId = (index: number) => `dataset-${index}`
const chunkCount = 5_000

/** Adds datasets `from` to `to`, each with the same number of outgoing edges to randomly drawn datasets below `to`. */
export async function fillLineage(
  store: Store,
  tenant: TenantId,
  { from: first, to: nodes, random }: { readonly from: number; readonly to: number; readonly random: Random },
): Promise<void> {
  const [firstEdge, edges] = [first * edgesOfNode, nodes * edgesOfNode]
  const idOf = (alias: string) =>
    `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`
  const id = (key: string) => `to_jsonb(item ->> '${key}')::text::agtype`
  for (let from = first; from < nodes; from += chunkCount) {
    const items = Array.from({ length: Math.min(chunkCount, nodes - from) }, (_, index) => ({
      id: datasetId(from + index),
      tenant_id: tenant,
      name: `table_${from + index}`,
    }))
    await store.tenantQuery(
      tenant,
      'insert into "Dataset" (properties) select item::text::agtype from jsonb_array_elements($1::text::jsonb) item',
      [JSON.stringify(items)],
      { statementMs: 60_000 },
    )
  }
  for (let from = firstEdge; from < edges; from += chunkCount) {
    const items = Array.from({ length: Math.min(chunkCount, edges - from) }, (_, index) => ({
      from: datasetId(Math.floor((from + index) / edgesOfNode)),
      to: datasetId(Math.floor(random() * nodes)),
      properties: { id: `edge-${from + index}`, tenant_id: tenant },
    }))
    const inserted = await store.tenantQuery(
      tenant,
      `insert into "LINEAGE_OF" (start_id, end_id, properties)
       select a.id, b.id, (item -> 'properties')::text::agtype from jsonb_array_elements($1::text::jsonb) item
       join "Dataset" a on ${idOf('a')} = ${id('from')} join "Dataset" b on ${idOf('b')} = ${id('to')} returning 1`,
      [JSON.stringify(items)],
      { statementMs: 60_000 },
    )
    if (inserted.length !== items.length) throw new Error('some edges were not inserted')
  }
  // A server's autovacuum would do this later; the embedded database has none.
  if (store.backend === 'postgres')
    await store.ownerTransaction(tenant, (tx) => tx.script('analyze "Dataset"; analyze "LINEAGE_OF"'))
}
