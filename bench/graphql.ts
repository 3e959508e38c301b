/** Measures what a client waits for a contract page over GraphQL, and the store's bare round trip beside it. */

import type { Lake } from '../test/support/lake.ts'
import { type BenchEntry, storeOptions } from './entry.ts'
import { overRoundTrip } from './over-round-trip.ts'

export const graphql: BenchEntry = {
  name: 'graphql',
  about: 'a contract page in one query over HTTP, above a bare round trip to the store',
  options: storeOptions,
  run: (run) => overRoundTrip(run, { bench: 'graphql', asks: { query: 'contract page' }, ask: askPage }),
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

async function askPage({ app, restricted }: Lake): Promise<void> {
  const response = await fetch(new URL('/graphql', app.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-session': restricted.PGPASSWORD },
    body: JSON.stringify({ query: page, variables }),
  })
  const text = await response.text()
  if (!text.includes('"mask-alphanum"') || text.includes('"errors"'))
    throw new Error(`the contract page answered ${response.status}: ${text}`)
}
