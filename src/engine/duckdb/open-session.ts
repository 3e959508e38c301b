/** Opens a statement: takes a place, fetches the tables' files, and gets a connection with their relations. */

import type { DuckDBConnection } from '@duckdb/node-api'
import type { ByteBudget } from '../../base/byte-budget.ts'
import { Fault } from '../../base/fault.ts'
import type { Lru } from '../../base/lru.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { GovernedTable } from '../../core/governed-table.ts'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { openStorage, type Storage } from '../../storage/storage.ts'
import { territoryGuard } from '../../storage/territory-guard.ts'
import type { EngineHandle, EngineRun, TableSnapshot } from '../engine.ts'
import { EngineError, unreadable } from '../engine-error.ts'
import { admitPlan, rememberAdmitted } from '../iceberg/admitted-plans.ts'
import { type PlanOptions, planBytes, planSnapshot, type SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { classifyError } from './classify-error.ts'
import type { ConnectionCache, HeldConnection } from './connection-cache.ts'
import type { DamagedFiles } from './damaged-files.ts'
import type { FileCache, ReadScope } from './file-cache.ts'
import type { ShapeCache } from './file-shape.ts'
import type { Gate } from './gate.ts'
import { interruptible } from './interruptible.ts'
import { LocalFiles } from './local-files.ts'
import type { Connects, LockedDatabase } from './locked-database.ts'
import type { NativeGarbage } from './native-garbage.ts'
import { createRelation, type LocalTable, localTable } from './open-table.ts'
import type { Proofs } from './own-relations.ts'
import { duckdbHandle } from './session.ts'

/** What all statements of one DuckDB share. */
export interface DuckdbShared {
  /** Milliseconds that a statement may hold its place. */
  readonly runMs: number
  readonly database: LockedDatabase
  readonly damaged: DamagedFiles
  readonly connections: ConnectionCache
  readonly gate: Gate
  readonly cache: FileCache
  readonly shapes: ShapeCache
  readonly garbage: NativeGarbage
  readonly plans: Lru<string, SnapshotPlan>
  readonly proofs: Proofs
  /** Where metadata that is read is reserved; undefined: it is not counted. */
  readonly budget: ByteBudget | undefined
}

/**
 * Opens these snapshots once a place is free.
 * @throws EngineError where a snapshot cannot be read completely, the queue is full, or the run is cancelled or times
 *   out
 */
export async function openHandle(
  shared: DuckdbShared,
  scope: ReadScope,
  snapshots: readonly TableSnapshot[],
  run: EngineRun,
): Promise<EngineHandle> {
  const closers: (() => void | Promise<void>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  const queuedMs = performance.now()
  const ended = endSignal(run.signal)
  closers.push(ended.release)
  let files: LocalFiles | undefined
  try {
    const leave = await shared.gate.enter(run.tenant, ended.signal)
    closers.push(leave)
    ended.startClock(shared.runMs)
    const startedMs = performance.now()
    const storage = openStorage(scope.access, shared.budget)
    closers.push(() => storage.close())
    const brought = new LocalFiles(shared.database, shared.damaged, shared.cache, shared.shapes, scope)
    files = brought
    closers.push(() => brought.release())
    // Plans are held as long as the handle, because a cached plan may be dropped while it is in use.
    const planned = shared.budget?.reserve({})
    closers.push(() => planned?.release())
    const hold = (bytes: number) => planned?.add({ parse: bytes })
    const opening = { storage, files, signal: ended.signal, hold }
    const tables = await localTables(shared, scope, snapshots, opening)
    const { starts } = shared.database
    const { held, key } = await connect(shared, scope, [...tables.values()], ended.signal)
    return duckdbHandle({
      held,
      tables,
      files: brought.paths,
      damaged: shared.damaged,
      readable: viewsOf(tables),
      signal: ended.signal,
      garbage: shared.garbage,
      proofs: shared.proofs,
      queueMs: startedMs - queuedMs,
      startedMs,
      async close(reusable) {
        const isUseless = starts !== shared.database.starts
        if (reusable === undefined || key === undefined || isUseless) held.connection.closeSync()
        else shared.connections.give(key, reusable)
        await close()
      },
    })
  } catch (thrown) {
    try {
      throw await shared.damaged.explain(openingError(thrown), files?.paths ?? new Map(), ended.signal)
    } finally {
      await close()
    }
  }
}

/** Names of the temporary views of tables. */
export function viewsOf(tables: ReadonlyMap<GovernedTable, LocalTable>): ReadonlySet<string> {
  return new Set([...tables.values()].map(({ view }) => view))
}

/** No expression of the statement has run yet, so an error about data (class 22) comes from a file. */
function openingError(thrown: unknown): EngineError {
  if (thrown instanceof ReadFailure || thrown instanceof Fault) return unreadable(thrown)
  const error = classifyError(thrown)
  if (!error.code.startsWith('22')) return error
  return new EngineError('58030', 'The table cannot be read: one of its files is corrupt.', { cause: thrown })
}

interface Opening {
  readonly storage: Storage
  readonly files: LocalFiles
  readonly signal: AbortSignal
  readonly hold: PlanOptions['hold']
}

/** Fetches the tables' files. @throws as localTable; EngineError where a snapshot cannot be planned */
export async function localTables(
  shared: DuckdbShared,
  scope: ReadScope,
  snapshots: readonly TableSnapshot[],
  opening: Opening,
): Promise<ReadonlyMap<GovernedTable, LocalTable>> {
  const tables = new Map<GovernedTable, LocalTable>()
  for (const snapshot of snapshots) {
    const plan = await planOf(shared, scope, snapshot, opening)
    const { storage, files, signal } = opening
    tables.set(snapshot.table, await localTable(snapshot, plan, tables.size, files, storage, signal))
  }
  return tables
}

/**
 * Plans a snapshot. Metadata files never change, so cached plans never become stale. Which of their files may be read
 * can change, so that is judged again.
 */
async function planOf(
  { plans }: DuckdbShared,
  { key }: ReadScope,
  snapshot: TableSnapshot,
  { storage, signal, hold }: Omit<Opening, 'files'>,
): Promise<SnapshotPlan> {
  const { metadataLocation, snapshotId } = snapshot
  const planKey = JSON.stringify([key, metadataLocation, String(snapshotId)])
  const cached = plans.get(planKey)
  const guard = territoryGuard(snapshot.territory?.territory)
  try {
    if (cached !== undefined) {
      await admitPlan(cached, snapshot, signal)
      return cached
    }
    const planned = storage.during(() =>
      planSnapshot(storage, metadataLocation, snapshotId, { signal, guard, hold }),
    )
    const plan = await unlessAborted(planned, signal)
    plans.set(planKey, plan, planBytes(plan))
    rememberAdmitted(plan, snapshot, guard)
    return plan
  } catch (thrown) {
    // What was found before the failure is told all the same.
    if (snapshot.territory?.territory.mode === 'observe' && guard.outside.length > 0)
      snapshot.territory.report(guard.outside)
    throw signal.aborted ? signal.reason : unreadable(thrown)
  }
}

/** A connection whose relations are longer is not cached: it would drive out many others. */
const keptLengthMax = limits.engineIdleRelationsLength / 4

interface Connected {
  readonly held: HeldConnection
  /** Key in the cache; undefined where its delete tables or relations are too large to be cached. */
  readonly key: string | undefined
}

async function connect(
  { connections, database }: DuckdbShared,
  scope: ReadScope,
  tables: readonly LocalTable[],
  signal: AbortSignal,
): Promise<Connected> {
  const views = tables.map(({ relation }) => relation)
  const length = views.reduce((sum, view) => sum + (typeof view === 'string' ? view.length : Infinity), 0)
  const key = length <= keptLengthMax ? JSON.stringify([scope.key, ...views]) : undefined
  const cached = key && connections.take(key)
  if (cached) return { held: cached, key }
  return { held: { connection: await newConnection(database, tables, signal) }, key }
}

/** A new connection with the tables' views. */
export async function newConnection(
  database: Connects,
  tables: readonly LocalTable[],
  signal: AbortSignal,
): Promise<DuckDBConnection> {
  const connection = await database.connect()
  try {
    await interruptible(connection, signal, async () => {
      for (const table of tables) await createRelation(connection, table)
    })
    return connection
  } catch (thrown) {
    connection.closeSync()
    throw thrown
  }
}

interface EndSignal {
  /** Its reason is an EngineError that tells cancellation from timeout. */
  readonly signal: AbortSignal
  startClock(ms: number): void
  release(): void
}

function endSignal(outer: AbortSignal): EndSignal {
  const controller = new AbortController()
  const cancel = () => controller.abort(new EngineError('57014', 'The query was cancelled.'))
  if (outer.aborted) cancel()
  outer.addEventListener('abort', cancel, { once: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    signal: controller.signal,
    startClock(ms) {
      timer = setTimeout(
        () => controller.abort(new EngineError('57014', 'The query exceeded its time limit.')),
        ms,
      )
    },
    release() {
      clearTimeout(timer)
      outer.removeEventListener('abort', cancel)
    },
  }
}
