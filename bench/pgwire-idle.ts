/** What connections to the PostgreSQL wire that do nothing cost the service in memory. docs/performance.md explains. */

import { ordersTable } from '../test/support/lake-tables.ts'
import { frames } from '../test/support/wire-client.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { RawClient } from './raw-client.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'
import { startWireBench, type WireBench } from './wire-bench.ts'

/** The goal. */
const connectionKbMax = 20
/** Logins under way at once: strangers are bounded. */
const atOnce = 50

export const pgwireIdle: BenchEntry = {
  name: 'pgwire-idle',
  about: 'memory of 1,000 idle connections to the PostgreSQL wire',
  options: storeOptions,
  run,
}

const cases = {
  /** Logged in, nothing asked. */
  fresh: async () => {},
  /** Has had one governed row. */
  used: async (client: RawClient) => {
    await client.ask(frames.query('SELECT id, email FROM sales.orders WHERE id = 18'))
  },
} as const

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const count = run.smoke ? 20 : 1_000
  const rounds = run.smoke ? 1 : run.full ? 9 : 3
  const [store] = chosenStores(run)
  if (store === undefined) return
  for (const state of Object.keys(cases) as (keyof typeof cases)[]) {
    // A process of its own for each: what the allocator kept of the case before would hide what this one takes.
    await using service = await startWireBench(store, [ordersTable])
    const each: number[] = []
    let firstKb = 0
    for (let round = -1; round < rounds; round++) {
      const kb = await connectionKb(service, count, cases[state])
      if (round === -1) firstKb = kb
      else each.push(kb)
    }
    const kb = Math.max(firstKb, percentile(each, 0.5))
    yield {
      bench: 'pgwire-idle',
      case: { state, connections: count, store: service.store },
      figures: {
        kb_per_connection: rounded(kb),
        first_kb: rounded(firstKb),
        again_p50_kb: rounded(percentile(each, 0.5)),
      },
      ...(run.smoke ? {} : { verdict: kb <= connectionKbMax ? 'reached' : 'missed' }),
    }
  }
}

/** Resident memory that `count` connections add, a connection; they are closed again. */
async function connectionKb(
  { child, all, restricted }: WireBench,
  count: number,
  use: (client: RawClient) => Promise<void>,
): Promise<number> {
  // What is loaded with the first connection is not its own.
  const first = await RawClient.connect(restricted)
  await use(first)
  const before = await child.ask({ kind: 'memory' })
  const clients: RawClient[] = []
  while (clients.length < count) {
    // A principal alone may not have as many.
    const batch = Array.from({ length: Math.min(atOnce, count - clients.length) }, (_, index) =>
      RawClient.connect(index % 2 === 0 ? restricted : all),
    )
    clients.push(...(await Promise.all(batch)))
  }
  for (const client of clients) await use(client)
  const after = await child.ask({ kind: 'memory' })
  await Promise.all([first, ...clients].map((client) => client.close()))
  return (after.rssBytes - before.rssBytes) / count / 1000
}
