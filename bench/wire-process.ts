/**
 * Runs the whole service with governed tables in a process of its own. It serves the PostgreSQL wire to the parent,
 * and on order runs the parts of a query alone and times them.
 */

import type { Cidr } from '../src/base/cidr.ts'
import { systemClock } from '../src/base/clock.ts'
import { addressRules } from '../src/catalog/address.ts'
import { OpenCatalogs } from '../src/catalog/open-catalog.ts'
import { TableStates } from '../src/catalog/table-states.ts'
import type { ResultBatch } from '../src/core/result-batch.ts'
import { tableKey } from '../src/core/table-ref.ts'
import type { ComputeEngine, TableSnapshot } from '../src/engine/engine.ts'
import { type EngineKinds, engineOf } from '../src/engine/engine-kinds.ts'
import { openEngines } from '../src/engine/open-engines.ts'
import { limits } from '../src/limits.ts'
import type { CompiledQuery } from '../src/query/compile/compile.ts'
import { renderSql } from '../src/query/compile/emit/render.ts'
import { fingerprintStatement } from '../src/query/compile/parse/fingerprint.ts'
import { namedRefs } from '../src/query/compile/parse/named-refs.ts'
import type { QueryContext } from '../src/query/query-service.ts'
import { type LoadedTables, loadTables } from '../src/query/run/load/load-tables.ts'
import { CompileCache } from '../src/query/run/prepare/compile-cache.ts'
import { usageOf } from '../src/query/run/record/usage-of.ts'
import { loadRead } from '../src/store/governance/read-call.ts'
import { recordUsage } from '../src/store/query/usage.ts'
import type { Store } from '../src/store/store.ts'
import { createLogger } from '../src/telemetry/log.ts'
import { type Lake, type LakeCatalog, startLake } from '../test/support/lake.ts'
import type { LakeTable } from '../test/support/lake-tables.ts'
import { openBenchStore } from './bench-store.ts'
import { type Opened, obeyParent } from './child.ts'
import type { BenchStore } from './entry.ts'
import { listenLeast } from './least-wire.ts'
import { type Memory, type MemoryOrder, settledMemory } from './settled-memory.ts'

/**
 * The parts of a query that can run alone. `governance` is the store's one call, with the credential; `store` is its
 * cheapest call; `engine` opens the snapshot, runs the compiled SQL and decodes.
 */
export const stages = ['engine', 'governance', 'store', 'upstream', 'compile', 'usage'] as const
export type Stage = (typeof stages)[number]
export type QueryStageTimes = Readonly<Record<Stage, readonly number[]>>

/** The orders of the parent. Each gets one result, in order. */
export type WireOrder =
  | {
      readonly kind: 'open'
      readonly store: BenchStore
      readonly catalog: LakeCatalog
      readonly tables: readonly LakeTable[]
    }
  /** Runs the parts of a statement of the restricted principal, `count` times each, in turns. */
  | { readonly kind: 'stages'; readonly text: string; readonly count: number }
  /** Starts listeners that answer a statement of the restricted principal with the least work. */
  | { readonly kind: 'least'; readonly text: string }
  /** How long each usage record of the wire's queries took to write since the previous order of this kind. */
  | { readonly kind: 'usage-writes' }
  | MemoryOrder

export interface WireResults {
  readonly open: {
    readonly port: number
    readonly database: string
    readonly engine: string
    readonly all: Login
    readonly restricted: Login
  }
  /** Milliseconds. */
  readonly stages: QueryStageTimes
  /** Ports. The first listener uses the upstream and the store beside the engine, the second the upstream only. */
  readonly least: { readonly port: number; readonly withoutStorePort: number }
  readonly 'usage-writes': readonly number[]
  readonly memory: Memory
}

export interface Login {
  readonly user: string
  readonly password: string
}

/** Times usage writes of the measured service, not those of the parts that run alone. */
function timingStore(store: Store, usageWrites: number[]): Store {
  return {
    ...store,
    async tenantCall(tenant, name, params) {
      const startMs = performance.now()
      const rows = await store.tenantCall<never>(tenant, name, params)
      if (name === 'record_usage') usageWrites.push(performance.now() - startMs)
      return rows
    },
  }
}

async function open({
  store: kind,
  catalog,
  tables,
}: WireOrder & { kind: 'open' }): Promise<Opened<WireOrder>> {
  const opened = await openBenchStore(kind)
  const { store } = opened
  const usageWrites: number[] = []
  const loopback: Cidr = { address: '127.0.0.0', prefixLength: 8, family: 'ipv4' }
  const rules = addressRules({ cidrs: [loopback], hosts: [] })
  const catalogs = new OpenCatalogs({ addressRules: rules })
  const engines = openEngines({
    addressRules: rules,
    catalogs,
    directory: catalog.folder,
    memoryBytes: 1024 ** 3,
    cacheBytes: 4 * 1024 ** 3,
    queries: 8,
    poolThreads: 16,
  })
  const lake = await startLake({
    store: timingStore(store, usageWrites),
    catalog,
    tables,
    engines,
    // Every line is formatted as in production, but not written.
    log: createLogger({ level: 'info', destination: { write: () => {} } }),
  })
  const closers = new AsyncDisposableStack()
  const askStore = await bareRoundTrip(store, closers)
  const parts = { store, askStore, states: new TableStates(catalogs, limits.tableStateBytes), engines }
  const login = ({ PGUSER, PGPASSWORD }: Lake['env']): Login => ({ user: PGUSER, password: PGPASSWORD })
  return {
    result: {
      port: lake.app.pgwirePort,
      database: lake.catalog,
      engine: opened.engine,
      all: login(lake.env),
      restricted: login(lake.restricted),
    } satisfies WireResults['open'],
    async serve(order): Promise<WireResults[keyof WireResults]> {
      switch (order.kind) {
        case 'open':
          throw new Error('the service is open already')
        case 'stages':
          return await timeStages(parts, lake, order.text, order.count)
        case 'least':
          return await openLeast(parts, lake, order.text, closers)
        case 'usage-writes':
          return usageWrites.splice(0)
        case 'memory':
          return await settledMemory(order.settle)
      }
    },
    async close() {
      await closers.disposeAsync()
      await lake[Symbol.asyncDispose]()
      catalogs.close()
      await opened[Symbol.asyncDispose]()
    },
  }
}

interface StageParts {
  readonly store: Store
  /** The cheapest call of the store. */
  readonly askStore: () => Promise<unknown>
  readonly states: TableStates
  readonly engines: EngineKinds
}

/** A statement of the restricted principal, loaded and compiled, with what its parts need. */
interface Compiled {
  readonly context: QueryContext
  readonly loaded: LoadedTables
  readonly compile: () => CompiledQuery
  readonly compiled: CompiledQuery
  /** Runs it on the engine. Each batch is passed to `take` while it is valid. */
  readonly run: (take?: (batch: ResultBatch) => void) => Promise<void>
}

async function compileStatement(
  { store, states, engines }: StageParts,
  { tenant, catalog, restricted }: Lake,
  text: string,
): Promise<Compiled> {
  const principal = { sub: restricted.PGUSER, roles: [] }
  const searchPath = ['public']
  const context: QueryContext = {
    tenant,
    principal,
    principalSource: 'session',
    reader: { stillValid: async () => true },
    surface: 'pgwire',
    catalog,
    searchPath,
  }
  const cache = new CompileCache(limits.compiledCacheBytes)
  const loaded = await loadTables({ store, states, clock: systemClock }, context, text)
  const compile = () =>
    cache.compile(tenant, { text, principal, tables: loaded.tables, searchPath, parameterTypes: [] })
  const compiled = compile()
  const snapshots = compiled.reads.map(({ table }): TableSnapshot => {
    const at = loaded.snapshots.get(tableKey(table.ref))
    if (at === undefined) throw new Error('a table has no snapshot')
    const { metadataLocation, snapshotId } = at
    const territory = { territory: at.territory, report: () => {} }
    return { table, metadataLocation, snapshotId, territory, ranges: compiled.ranges.get(table) }
  })
  const engine = await engineOf(engines, tenant, loaded.credential)
  const run = (take?: (batch: ResultBatch) => void) => runOnEngine(engine, snapshots, compiled, context, take)
  return { context, loaded, compile, compiled, run }
}

/** Loads each table of the statement conditionally. */
function askUpstream({ states }: StageParts, { context, loaded }: Compiled): Promise<unknown> {
  return Promise.all(loaded.tables.map(({ ref }) => states.load(context.tenant, loaded.credential, ref)))
}

/**
 * The cheapest call of the store, one message each way: nothing, on a connection of its own. An embedded store has
 * only one connection, so there it looks up a service session that does not exist.
 */
async function bareRoundTrip(store: Store, closers: AsyncDisposableStack): Promise<() => Promise<unknown>> {
  if (store.backend === 'embedded')
    return () => store.adminCall('find_service_session', [new Uint8Array(32), null, null])
  const link = await store.openLink()
  closers.defer(() => link.close())
  return () => link.sql.unsafe('select 1', [], { prepare: true })
}

async function openLeast(
  parts: StageParts,
  lake: Lake,
  text: string,
  closers: AsyncDisposableStack,
): Promise<WireResults['least']> {
  const statement = await compileStatement(parts, lake, text)
  const { columns } = statement.compiled
  const listen = (...besides: readonly (() => Promise<unknown>)[]) => {
    const listener = listenLeast({ columns, run: statement.run, besides })
    closers.defer(() => listener.stop(true))
    return listener.port
  }
  const upstream = () => askUpstream(parts, statement)
  return { port: listen(parts.askStore, upstream), withoutStorePort: listen(upstream) }
}

async function timeStages(
  parts: StageParts,
  lake: Lake,
  text: string,
  count: number,
): Promise<QueryStageTimes> {
  const { store } = parts
  const { tenant, catalog } = lake
  const statement = await compileStatement(parts, lake, text)
  const { context, loaded, compiled } = statement
  const refs = namedRefs(text, context.searchPath)
  const fingerprint = fingerprintStatement(text)
  const usage = () => {
    const startMs = performance.now()
    const progress = { queryId: crypto.randomUUID(), startedAtMs: systemClock.now(), startMs }
    return usageOf(
      context,
      { ...progress, fingerprint, loaded, compiled, rowsOut: 1, bytesOut: 20 },
      startMs + 1,
      'completed',
      undefined,
    )
  }
  const work: Readonly<Record<Stage, () => Promise<unknown>>> = {
    engine: () => statement.run(),
    governance: () => loadRead(store, tenant, catalog, refs),
    store: parts.askStore,
    upstream: () => askUpstream(parts, statement),
    compile: async () => statement.compile(),
    usage: () => recordUsage(store, tenant, usage()),
  }
  const times: Record<Stage, number[]> = {
    engine: [],
    governance: [],
    store: [],
    upstream: [],
    compile: [],
    usage: [],
  }
  // The calls of a stage run one after another, as the wire's queries do. Interleaving would slow each of them.
  for (const stage of stages)
    for (let round = 0; round < count; round++) {
      const startMs = performance.now()
      await work[stage]()
      times[stage].push(performance.now() - startMs)
    }
  return times
}

async function runOnEngine(
  engine: ComputeEngine,
  snapshots: readonly TableSnapshot[],
  compiled: CompiledQuery,
  { tenant, principal }: QueryContext,
  take: (batch: ResultBatch) => void = () => {},
): Promise<void> {
  const session = await engine.open(snapshots, {
    queryId: crypto.randomUUID(),
    tenant,
    principal: principal.sub,
    signal: new AbortController().signal,
  })
  try {
    const { dialect } = engine
    const sql = renderSql(compiled.emit(dialect), dialect, {
      relation: (table) => session.relation(table),
      salt: crypto.getRandomValues(new Uint8Array(32)),
      parameters: [],
    })
    let rows = 0
    for await (const batch of session.run({ sql, columns: compiled.columns })) {
      rows += batch.rowCount
      take(batch)
    }
    if (rows === 0) throw new Error('the engine gave no row')
  } finally {
    await session.close()
  }
}

if (import.meta.main) obeyParent<WireOrder>(open)
