/** Starts a measured gateway, and makes the tables of one case: each way to commit has tables of its own. */

import { join } from 'node:path'
import type { Policy } from '../src/core/policy.ts'
import { type OpenBenchStore, openBenchStore } from './bench-store.ts'
import type { OpenCatalog } from './catalogs.ts'
import { type Child, startChild } from './child.ts'
import { openLedger } from './durable.ts'
import type { BenchStore } from './entry.ts'
import { type GatewayChild, startGatewayChild } from './gateway-child.ts'
import type { GatewayResults } from './gateway-process.ts'
import type { LeastOrder, LeastResults } from './least-process.ts'
import { countSnapshots } from './measure-catalog.ts'
import { createTableBody, type TableSize } from './sample-table.ts'
import { gatewayRoutes, type Proxies, type Route, TableWriter } from './table-writer.ts'

export interface Place extends AsyncDisposable {
  readonly catalog: OpenCatalog
  readonly gateway: GatewayChild
  readonly url: string
  readonly engine: string
  /** What the gateway is compared with beside its upstream. */
  readonly yardsticks: Yardsticks | undefined
}

/** Need a database server, because an embedded database belongs to one process. */
export interface Yardsticks {
  /** For the durable transactions alone. It has its own database, so that no gateway scans what they record. */
  readonly durable: OpenBenchStore
  /** Base address of the least gateway. */
  readonly leastUrl: string
}

/**
 * Starts a gateway on an empty store in front of `catalog`.
 * @param withYardsticks whether to start the least gateway and the durable transactions too, if the store is on a
 *   server
 * @param gateway a process that was started otherwise, but not opened
 */
export async function openPlace(
  store: BenchStore,
  catalog: OpenCatalog,
  {
    withYardsticks = false,
    gateway: started,
  }: { readonly withYardsticks?: boolean; readonly gateway?: GatewayChild } = {},
): Promise<Place> {
  await using stack = new AsyncDisposableStack()
  const upstream = catalog.upstream.address
  const gateway = stack.use(started ?? startGatewayChild())
  const { url, engine, databaseUrl } = await gateway.ask({ kind: 'open', store, upstream })
  let yardsticks: Yardsticks | undefined
  if (withYardsticks && databaseUrl !== undefined) {
    const least = stack.use(startLeastChild())
    const { url: leastUrl } = await least.ask({ kind: 'open', upstream, databaseUrl })
    yardsticks = { leastUrl, durable: stack.use(await openBenchStore(store)) }
  }
  const opened = stack.move()
  return {
    ...{ catalog, gateway, url, engine, yardsticks },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

function startLeastChild(): Child<LeastOrder, LeastResults> {
  return startChild(join(import.meta.dir, 'least-process.ts'), "the least gateway's process")
}

export interface TablesOptions {
  readonly routes: readonly Route[]
  /** Number of tables of each route. */
  readonly count: number
  readonly size: TableSize
  readonly policies: readonly Policy[]
  /** Beside those of the place. */
  readonly proxies?: Proxies
}

export interface Tables extends AsyncDisposable {
  readonly writers: ReadonlyMap<Route, readonly TableWriter[]>
  /** The number of commits through the gateway so far, and what its process has used. */
  report(): Promise<GatewayResults['report'] & { readonly committed: number }>
  /** Throws an Error unless every commit through the gateway is audited and no intent is open. */
  check(): Promise<void>
  /** Snapshots that the catalog shows for the table with the most commits. */
  snapshotsEnd(): Promise<number>
}

/** Makes the tables, each with its first snapshots. */
export async function makeTables(place: Place, options: TablesOptions): Promise<Tables> {
  const { gateway, yardsticks, url } = place
  const { upstream, expires } = place.catalog
  const { count, size, policies } = options
  const proxies = { least: yardsticks?.leastUrl, ...options.proxies }
  const namespace = `bench_${crypto.randomUUID().slice(0, 8)}`
  const names = (route: Route) => Array.from({ length: count }, (_, index) => `${route}_${index}`)
  const governed = (...routes: readonly Route[]) => ({ namespace, tables: routes.flatMap(names), policies })
  const { tenant, secret } = await gateway.ask({ kind: 'prepare', ...governed(...gatewayRoutes) })
  const ledger =
    yardsticks && (await openLedger(yardsticks.durable.store, upstream.address, governed('durable')))

  await upstream.create('/namespaces', JSON.stringify({ namespace: [namespace] }))
  const writers = new Map<Route, readonly TableWriter[]>()
  for (const route of options.routes) {
    if (route === 'durable' && ledger === undefined) continue
    if (route === 'least' && proxies.least === undefined) continue
    const made = names(route).map(
      (table) =>
        new TableWriter(upstream, route, namespace, table, size, {
          ...{ url, secret, ledger, proxies, expires },
        }),
    )
    for (const writer of made) {
      await upstream.create(`/namespaces/${namespace}/tables`, createTableBody(writer.table, size))
      await writer.begin()
    }
    writers.set(route, made)
  }
  const committed = () =>
    gatewayRoutes
      .flatMap((route) => writers.get(route) ?? [])
      .reduce((sum, writer) => sum + writer.committedCount, 0)
  const report = async () => ({ ...(await gateway.ask({ kind: 'report', tenant })), committed: committed() })
  return {
    writers,
    report,
    async check() {
      const { approved, openIntents, committed } = await report()
      if (approved !== committed || openIntents !== 0)
        throw new Error(`${committed} commits, ${approved} audited, ${openIntents} intents open`)
    },
    async snapshotsEnd() {
      const all = [...writers.values()].flat()
      const most = all.reduce((a, b) => (b.committedCount > a.committedCount ? b : a))
      const response = await fetch(upstream.tableUrl(namespace, most.table), { headers: upstream.headers })
      return countSnapshots(await response.bytes())
    },
    async [Symbol.asyncDispose]() {
      await gateway.ask({ kind: 'suspend', tenant })
      for (const writer of [...writers.values()].flat())
        await upstream.drop(`/namespaces/${namespace}/tables/${writer.table}`)
      await upstream.drop(`/namespaces/${namespace}`)
    },
  }
}
