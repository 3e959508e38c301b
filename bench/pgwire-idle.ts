/** Measures the memory that idle connections of the PostgreSQL wire cost the service. docs/performance.md explains. */

import { join } from 'node:path'
import type { Socket } from 'bun'
import { ordersTable } from '../test/support/lake-tables.ts'
import { frames } from '../test/support/wire-client.ts'
import type { BareOrder, BareResults } from './bare-process.ts'
import { startChild } from './child.ts'
import { type BenchEntry, type BenchResult, type BenchRun, chosenStores, storeOptions } from './entry.ts'
import { RawClient } from './raw-client.ts'
import { percentile } from './statistics.ts'
import { rounded } from './table.ts'
import { startWireBench, type WireBench } from './wire-bench.ts'

/** The bound. */
const connectionKbMax = 20
/** Concurrent logins. The service limits connections that have not logged in. */
const atOnce = 50

export const pgwireIdle: BenchEntry = {
  name: 'pgwire-idle',
  about: 'memory of 1,000 idle connections to the PostgreSQL wire',
  options: {
    ...storeOptions,
    rounds: { type: 'string', value: 'N', about: 'times that the connections come (3, with --full 9)' },
  },
  run,
}

const statement = 'SELECT id, email FROM sales.orders WHERE id = 18'

const cases = {
  /** Logged in, without a statement. */
  fresh: async () => {},
  /** Has received one governed row. */
  used: async (client: RawClient) => {
    await client.ask(frames.query(statement))
  },
  /** The same as drivers do it. The connection then holds a prepared statement. */
  prepared: async (client: RawClient) => {
    const { parse, bind, describe, execute, sync } = frames
    await client.ask(parse(statement), bind(), describe('P'), execute(), sync())
  },
} as const

type State = keyof typeof cases

async function* run(run: BenchRun): AsyncGenerator<BenchResult> {
  const [store] = chosenStores(run)
  if (store === undefined) return
  const bareKb = await bareConnectionKb(run)
  const states = Object.keys(cases) as State[]
  // Each case has its own process, because memory that the allocator holds from another case would hide its cost.
  for (const together of run.smoke ? [states] : states.map((state) => [state])) {
    await using service = await startWireBench(store, [ordersTable])
    for (const state of together) yield await measure(run, service, state, bareKb)
  }
}

async function measure(
  run: BenchRun,
  service: WireBench,
  state: State,
  bareKb: number,
): Promise<BenchResult> {
  const connections = connectionCount(run)
  const rounds = run.flags.number('rounds', 1, 100) ?? (run.smoke ? 1 : run.full ? 9 : 3)
  await comeAndGo(service, connections, cases[state])
  const each: ConnectionKb[] = []
  for (let round = 0; round < rounds; round++) each.push(await connectionKb(run, service, cases[state]))
  const resident = each.map((kb) => kb.resident)
  const live = each.map((kb) => kb.live)
  const [first = 0] = resident
  const p50 = percentile(resident, 0.5)
  const kb = Math.max(first, p50)
  return {
    bench: 'pgwire-idle',
    case: { state, connections, store: service.store },
    figures: {
      kb_per_connection: rounded(kb),
      first_kb: rounded(first),
      p50_kb: rounded(p50),
      live_kb: rounded(percentile(live, 0.5)),
      bare_kb: rounded(bareKb),
    },
    ...(run.smoke ? {} : { verdict: kb <= connectionKbMax ? 'reached' : 'missed' }),
  }
}

function connectionCount({ smoke }: BenchRun): number {
  return smoke ? 20 : 1_000
}

type Use = (client: RawClient) => Promise<void>

/** Uses two principals, because one may not open as many connections. */
function connectSome({ all, restricted }: WireBench, count: number): Promise<RawClient[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => RawClient.connect(index % 2 === 0 ? restricted : all)),
  )
}

/** The same work by clients of which few are connected at once. It shows the memory that no connection holds. */
async function comeAndGo(service: WireBench, count: number, use: Use): Promise<void> {
  for (let left = count; left > 0; left -= atOnce) {
    const clients = await connectSome(service, Math.min(atOnce, left))
    for (const client of clients) await use(client)
    await Promise.all(clients.map((client) => client.close()))
  }
}

interface ConnectionKb {
  readonly resident: number
  readonly live: number
}

/** Measures the memory that each connection adds, and closes the connections. */
async function connectionKb(run: BenchRun, service: WireBench, use: Use): Promise<ConnectionKb> {
  const { child } = service
  const count = connectionCount(run)
  const settle = !run.smoke
  const before = await child.ask({ kind: 'memory', settle })
  const clients: RawClient[] = []
  while (clients.length < count)
    clients.push(...(await connectSome(service, Math.min(atOnce, count - clients.length))))
  for (const client of clients) await use(client)
  const after = await child.ask({ kind: 'memory', settle })
  await Promise.all(clients.map((client) => client.close()))
  return {
    resident: (after.rssBytes - before.rssBytes) / count / 1000,
    live: (after.liveBytes - before.liveBytes) / count / 1000,
  }
}

/** The same for a listener that only echoes. */
async function bareConnectionKb(run: BenchRun): Promise<number> {
  const count = connectionCount(run)
  const settle = !run.smoke
  await using child = startChild<BareOrder, BareResults>(
    join(import.meta.dir, 'bare-process.ts'),
    'the listener',
  )
  const { port } = await child.ask({ kind: 'open' })
  const before = await child.ask({ kind: 'memory', settle })
  const sockets = await Promise.all(Array.from({ length: count }, () => echoed(port)))
  const after = await child.ask({ kind: 'memory', settle })
  for (const socket of sockets) socket.end()
  return (after.rssBytes - before.rssBytes) / count / 1000
}

/** A connection that has received a reply. */
async function echoed(port: number): Promise<Socket<undefined>> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data: () => resolve() } })
  socket.write('a few bytes')
  await promise
  return socket
}
