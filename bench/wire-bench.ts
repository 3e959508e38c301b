/** What the benchmarks of the PostgreSQL wire share: the service, and a real PostgreSQL with the same rows. */

import { join } from 'node:path'
import { startOracle } from '../test/query/support/postgres.ts'
import { freePort } from '../test/support/free-port.ts'
import { type LakeTable, selectList } from '../test/support/lake-tables.ts'
import { type Child, startChild } from './child.ts'
import type { BenchStore } from './entry.ts'
import type { ServerAddress } from './raw-client.ts'
import { startCatalogProcess } from './upstream.ts'
import type { Login, WireOrder, WireResults } from './wire-process.ts'

export interface WireBench extends AsyncDisposable {
  readonly child: Child<WireOrder, WireResults>
  /** The store's name in a case. */
  readonly store: string
  /** Log-ins of two principals: one sees all rows; filters and masks apply to the other. */
  readonly all: ServerAddress
  readonly restricted: ServerAddress
}

/** Starts the development catalog and the service, each in a process of its own. */
export async function startWireBench(store: BenchStore, tables: readonly LakeTable[]): Promise<WireBench> {
  const stack = new AsyncDisposableStack()
  const { address, folder } = stack.use(await startCatalogProcess())
  const { endpoint: url, warehouse, credential } = address
  const child = stack.use(
    startChild<WireOrder, WireResults>(join(import.meta.dir, 'wire-process.ts'), 'the service'),
  )
  const catalog = { url, warehouse, credential, folder }
  const { port, database, engine, all, restricted } = await child.ask({
    kind: 'open',
    store,
    catalog,
    tables,
  })
  const target = (login: Login): ServerAddress => ({ port, database, ...login })
  return {
    child,
    store: engine,
    all: target(all),
    restricted: target(restricted),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export interface PostgresBench extends AsyncDisposable {
  readonly target: ServerAddress
}

/**
 * Starts a PostgreSQL 18 without TLS and without governance, its tables analysed and in memory.
 * @returns undefined when there is no package of its binaries for the platform
 */
export async function startPostgresBench(tables: readonly LakeTable[]): Promise<PostgresBench | undefined> {
  const port = freePort()
  const server = await startOracle({ port })
  if (server === undefined) return undefined
  await server.admin.unsafe('CREATE SCHEMA sales')
  for (const { name, columns, rowCount } of tables) {
    await server.admin.unsafe(
      `CREATE TABLE sales.${name} AS SELECT ${selectList(columns)} FROM generate_series(1, ${rowCount}) AS t(i)`,
    )
    await server.admin.unsafe(`CREATE INDEX ON sales.${name} (${columns[0]?.[0]})`)
    await server.admin.unsafe(`VACUUM ANALYZE sales.${name}`)
  }
  return {
    target: { port, database: 'postgres', user: 'postgres', password: '' },
    [Symbol.asyncDispose]: server.stop,
  }
}
