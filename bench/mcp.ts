/** Measures what an agent waits for explain_contract over HTTP, and the store's bare round trip beside it. */

import type { Lake } from '../test/support/lake.ts'
import { type BenchEntry, storeOptions } from './entry.ts'
import { overRoundTrip } from './over-round-trip.ts'

export const mcp: BenchEntry = {
  name: 'mcp',
  about: 'explain_contract of one table over HTTP, above a bare round trip to the store',
  options: storeOptions,
  run: (run) => overRoundTrip(run, { bench: 'mcp', asks: { tool: 'explain_contract' }, ask: call }),
}

const message = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'explain_contract', arguments: { table: 'sales.orders' } },
})

async function call({ app, restricted }: Lake): Promise<void> {
  const response = await fetch(new URL('/mcp', app.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${restricted.PGPASSWORD}`,
    },
    body: message,
  })
  const text = await response.text()
  if (!text.includes('"applies_to_you"'))
    throw new Error(`explain_contract answered ${response.status}: ${text}`)
}
