/**
 * The embedded engine: one DuckDB for the process, locked down before the first query; a connection for each;
 * a bounded number of places and a queue for them.
 */

import { mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { Lru } from '../../base/lru.ts'
import type { GovernedTable } from '../../core/governed-table.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { openStorage, type Storage } from '../../storage/storage.ts'
import type { Engine, EngineRun, EngineSession, TableSnapshot } from '../engine.ts'
import { EngineError, unreadable } from '../engine-error.ts'
import { planSnapshot, type SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { classifyError } from './classify-error.ts'
import { FileCache, type ReadScope } from './file-cache.ts'
import { KnownShapes } from './file-shape.ts'
import { abortable, Gate } from './gate.ts'
import { interruptible } from './interruptible.ts'
import { LocalFiles } from './local-files.ts'
import { type InstanceSettings, lockedInstance } from './locked-instance.ts'
import { NativeGarbage } from './native-garbage.ts'
import { type OpenTable, openTable } from './open-table.ts'
import { duckdbSession } from './session.ts'

export interface DuckdbSettings extends InstanceSettings {
  /** Of this process alone: what lies in it is removed. */
  readonly folder: string
  readonly cacheBytesMax: number
  /** Queries that run at once, and that wait. */
  readonly placesMax: number
  readonly queueMax: number
  /** Milliseconds from a place to the end. */
  readonly runMs: number
  /**
   * Threads of the process for native calls and files (UV_THREADPOOL_SIZE; as many as cores where unset). A
   * query that computes holds one, and everything else that the process does needs some.
   */
  readonly poolThreads: number
}

/** Threads of the pool that queries never take. */
const spareThreads = 4

/** Who reads by a catalog credential. */
export interface DuckdbScope extends ReadScope {
  readonly tenant: TenantId
}

export interface DuckdbHost {
  /** The engine as a tenant's credential sees it. */
  engine(scope: DuckdbScope): Engine
  /** Queries that run and that wait, and bytes of files that are kept: for metrics. */
  load(): { readonly running: number; readonly waiting: number; readonly cachedBytes: number }
  /** Once no session is open. */
  close(): Promise<void>
}

interface Host {
  readonly settings: DuckdbSettings
  readonly instance: DuckDBInstance
  readonly gate: Gate
  readonly cache: FileCache
  readonly shapes: KnownShapes
  readonly garbage: NativeGarbage
  readonly plans: Lru<string, SnapshotPlan>
}

/**
 * Starts DuckDB.
 * @throws RangeError where queries could take all threads; whatever is thrown where the folder cannot be made or
 *   DuckDB does not start
 */
export async function startDuckdb(settings: DuckdbSettings): Promise<DuckdbHost> {
  if (settings.placesMax + spareThreads > settings.poolThreads)
    throw new RangeError(
      `${settings.placesMax} queries at once need a pool of ${settings.placesMax + spareThreads} threads: set UV_THREADPOOL_SIZE`,
    )
  await mkdir(settings.folder, { recursive: true, mode: 0o700 })
  // DuckDB compares paths as text.
  const folder = await realpath(settings.folder)
  const spill = join(folder, 'spill')
  await rm(spill, { recursive: true, force: true })
  await mkdir(spill, { mode: 0o700 })
  const shapes = new KnownShapes()
  const cache = await FileCache.open(join(folder, 'files'), settings.cacheBytesMax, (path) =>
    shapes.forget(path),
  )
  const instance = await lockedInstance(settings, cache.folder, spill)
  const host: Host = {
    settings,
    instance,
    gate: new Gate(settings.placesMax, settings.queueMax),
    cache,
    shapes,
    garbage: new NativeGarbage(),
    plans: new Lru(limits.enginePlanBytes),
  }
  return {
    engine: (scope) => scopedEngine(host, scope),
    load: () => {
      const { taken, waiting } = host.gate.load
      return { running: taken, waiting, cachedBytes: cache.bytes }
    },
    async close() {
      instance.closeSync()
      await cache.close()
      await rm(spill, { recursive: true, force: true })
    },
  }
}

function scopedEngine(host: Host, scope: DuckdbScope): Engine {
  const open = new Set<EngineSession>()
  return {
    dialect: 'duckdb',
    async open(tables, run) {
      if (run.tenant !== scope.tenant)
        throw new EngineError('XX000', 'The engine was asked for another tenant.')
      const session = await openSession(host, scope, tables, run)
      open.add(session)
      return {
        ...session,
        close: () => {
          open.delete(session)
          return session.close()
        },
      }
    },
    async close() {
      for (const session of open) await session.close()
      open.clear()
    },
  }
}

async function openSession(
  host: Host,
  scope: DuckdbScope,
  tables: readonly TableSnapshot[],
  run: EngineRun,
): Promise<EngineSession> {
  const closers: (() => void | Promise<void>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  const asked = performance.now()
  const ended = endSignal(run.signal)
  closers.push(ended.release)
  try {
    const leave = await host.gate.enter(ended.signal)
    closers.push(leave)
    ended.startClock(host.settings.runMs)
    const startedMs = performance.now()
    const connection = await host.instance.connect()
    closers.push(() => connection.closeSync())
    const storage = openStorage(scope.access)
    closers.push(() => storage.close())
    const files = new LocalFiles(connection, host.cache, host.shapes, scope)
    closers.push(() => files.release())
    const opened = await interruptible(connection, ended.signal, () =>
      openTables(host, scope, tables, { connection, storage, files, signal: ended.signal }),
    )
    return duckdbSession({
      connection,
      tables: opened,
      signal: ended.signal,
      garbage: host.garbage,
      queueMs: startedMs - asked,
      startedMs,
      close,
    })
  } catch (thrown) {
    await close()
    throw openingError(thrown)
  }
}

/** No expression of the statement has run yet: data that do not fit are those of files. */
function openingError(thrown: unknown): EngineError {
  if (thrown instanceof ReadFailure) return unreadable(thrown)
  const error = classifyError(thrown)
  if (!error.code.startsWith('22')) return error
  return new EngineError('58030', 'The table cannot be read: one of its files is corrupt.', { cause: thrown })
}

interface Opening {
  readonly connection: DuckDBConnection
  readonly storage: Storage
  readonly files: LocalFiles
  readonly signal: AbortSignal
}

async function openTables(
  host: Host,
  scope: DuckdbScope,
  tables: readonly TableSnapshot[],
  { connection, storage, files, signal }: Opening,
): Promise<ReadonlyMap<GovernedTable, OpenTable>> {
  const opened = new Map<GovernedTable, OpenTable>()
  for (const snapshot of tables) {
    const plan = await planOf(host, scope, snapshot, storage, signal)
    opened.set(
      snapshot.table,
      await openTable(connection, snapshot, plan, opened.size, files, storage, signal),
    )
  }
  return opened
}

/** A metadata file never changes, so its plans hold for as long as they are kept. */
async function planOf(
  { plans }: Host,
  { key }: DuckdbScope,
  { metadataLocation, snapshotId }: TableSnapshot,
  storage: Storage,
  signal: AbortSignal,
): Promise<SnapshotPlan> {
  const planKey = JSON.stringify([key, metadataLocation, String(snapshotId)])
  const known = plans.get(planKey)
  if (known !== undefined) return known
  try {
    const plan = await abortable(planSnapshot(storage, metadataLocation, snapshotId, signal), signal)
    plans.set(planKey, plan, planBytes(plan))
    return plan
  } catch (thrown) {
    throw signal.aborted ? signal.reason : unreadable(thrown)
  }
}

/** About what a plan takes in memory: statistics are the most of it. */
function planBytes({ dataFiles, deletes }: SnapshotPlan): number {
  const bounds = dataFiles.reduce((sum, { stats }) => sum + stats.nullCounts.size, 0)
  return 10_000 + 1_000 * (dataFiles.length + deletes.length) + 500 * bounds
}

interface EndSignal {
  /** Its reason is an EngineError that says which end it was. */
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
        () => controller.abort(new EngineError('57014', 'The query took longer than it may.')),
        ms,
      )
    },
    release() {
      clearTimeout(timer)
      outer.removeEventListener('abort', cancel)
    },
  }
}
