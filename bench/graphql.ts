/** Measures what a client waits for a contract page over GraphQL, and the store's bare round trip beside it. */

import { startLake } from '../test/support/lake.ts'
import { ordersTable } from '../test/support/lake-tables.ts'
import { licenseForAll } from '../test/support/license.ts'
import { openBenchStore } from './bench-store.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { interleavedTimes } from './interleave.ts'
import { percentile, seededRandom } from './statistics.ts'
import { rounded } from './table.ts'

/** Goal for the median above the store's bare round trip, in milliseconds. */
const addedMsMax = 15

export const graphql: BenchEntry = {
  name: 'graphql',
  about: 'a contract page in one query over HTTP, above a bare round trip to the store',
  options: storeOptions,
  run,
}

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const rounds = run.smoke ? 5 : run.full ? 2_000 : 500
  for (const kind of chosenStores(run)) {
    await using opened = await openBenchStore(kind)
    const { store, engine } = opened
    await using lake = await startLake({
      store,
      tables: [ordersTable],
      env: { SVC_LICENSE: licenseForAll() },
    })
    const roundTrip = async () => void (await store.tenantQuery(lake.tenant, 'select 1'))
    const endpoint = new URL('/graphql', lake.app.url)
    const ask = () => askPage(endpoint, lake.restricted.PGPASSWORD)
    const [bare = [], called = []] = await interleavedTimes([roundTrip, ask], rounds, seededRandom(run.seed))
    const added = percentile(called, 0.5) - percentile(bare, 0.5)
    yield {
      bench: 'graphql',
      case: { store: engine, query: 'contract page' },
      figures: {
        p50_ms: rounded(percentile(called, 0.5)),
        p95_ms: rounded(percentile(called, 0.95)),
        p50_round_trip_ms: rounded(percentile(bare, 0.5)),
        added_p50_ms: rounded(added),
      },
      ...(!run.smoke && { verdict: added <= addedMsMax ? 'kept' : 'broken' }),
    }
  }
}

const page = `query Page($namespace: [String!]!, $name: String!, $columns: Int!) {
  table(namespace: $namespace, name: $name) {
    id name description primaryKey pinnedSnapshotId
    contract { id name state documentVersion unverified }
    rowFilters { id columns }
    columns(first: $columns) { edges { node { name type required description tags { name } mask { action } } } }
    pins(first: 5) { edges { node { sequence kind snapshotId by at } } }
    lineage(first: 20, hops: 2) { totalCount edges { node { label hops from { kind name } to { kind name } } } }
  }
}`
const variables = { namespace: ['sales'], name: 'orders', columns: 50 }

async function askPage(endpoint: URL, secret: string): Promise<void> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-session': secret },
    body: JSON.stringify({ query: page, variables }),
  })
  const text = await response.text()
  if (!text.includes('"mask-alphanum"') || text.includes('"errors"'))
    throw new Error(`the contract page answered ${response.status}: ${text}`)
}
