/** Measures what an agent waits for explain_contract over HTTP, and the store's bare round trip beside it. */

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

export const mcp: BenchEntry = {
  name: 'mcp',
  about: 'explain_contract of one table over HTTP, above a bare round trip to the store',
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
    const endpoint = new URL('/mcp', lake.app.url)
    const explain = () => call(endpoint, lake.restricted.PGPASSWORD)
    const [bare = [], called = []] = await interleavedTimes(
      [roundTrip, explain],
      rounds,
      seededRandom(run.seed),
    )
    const added = percentile(called, 0.5) - percentile(bare, 0.5)
    yield {
      bench: 'mcp',
      case: { store: engine, tool: 'explain_contract' },
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

const message = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'explain_contract', arguments: { table: 'sales.orders' } },
})

async function call(endpoint: URL, secret: string): Promise<void> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${secret}`,
    },
    body: message,
  })
  const text = await response.text()
  if (!text.includes('"applies_to_you"'))
    throw new Error(`explain_contract answered ${response.status}: ${text}`)
}
