/**
 * Runs the embedded engine: one DuckDB for the process, locked down before the first query, with a connection for
 * each query, a bounded number of places and a queue.
 */

import { mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ByteBudget } from '../../base/byte-budget.ts'
import { Lru } from '../../base/lru.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { ComputeEngine, EngineHandle } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import { ConnectionCache } from './connection-cache.ts'
import { runOnCopies } from './copy-run.ts'
import { DamagedFiles } from './damaged-files.ts'
import { FileCache, type ReadScope } from './file-cache.ts'
import { ShapeCache } from './file-shape.ts'
import { Gate } from './gate.ts'
import { LockedDatabase } from './locked-database.ts'
import type { InstanceSettings } from './locked-instance.ts'
import { NativeGarbage } from './native-garbage.ts'
import { type DuckdbShared, openHandle } from './open-session.ts'
import { Proofs } from './own-relations.ts'

export interface DuckdbSettings extends InstanceSettings {
  /** Used by this process only; its content is removed. */
  readonly folder: string
  readonly cacheBytesMax: number
  /** How many queries may run at once, and how many may wait. */
  readonly placesMax: number
  readonly queueMax: number
  /** Milliseconds that a query may hold its place. */
  readonly runMs: number
  /**
   * Threads of the process for native calls and files (UV_THREADPOOL_SIZE; the number of cores where unset). A running
   * query holds one, and the rest of the process needs some.
   */
  readonly poolThreads: number
  /** The bytes of the process, of which snapshots that are planned take some; absent: not counted. */
  readonly budget?: ByteBudget | undefined
}

/** A read scope and its tenant. */
export interface DuckdbScope extends ReadScope {
  readonly tenant: TenantId
}

export interface DuckdbHost {
  /** The engine of one tenant's credential. */
  engine(scope: DuckdbScope): ComputeEngine
  /** For metrics: queries that run and wait, and bytes of files and connections that are cached. */
  load(): {
    readonly running: number
    readonly waiting: number
    readonly cachedBytes: number
    readonly cachedConnections: number
  }
  /** Stops DuckDB. Call it once no handle is open. */
  close(): Promise<void>
}

/**
 * Starts DuckDB.
 * @throws RangeError where queries could take all threads; an error of the file system where the folder cannot be
 *   made; an error of DuckDB where it does not start
 */
export async function startDuckdb(settings: DuckdbSettings): Promise<DuckdbHost> {
  const threadsMin = settings.placesMax + limits.engineSpareThreads
  if (threadsMin > settings.poolThreads)
    throw new RangeError(
      `${settings.placesMax} queries at once need a pool of ${threadsMin} threads: set UV_THREADPOOL_SIZE`,
    )
  await mkdir(settings.folder, { recursive: true, mode: 0o700 })
  // DuckDB compares paths as text.
  const folder = await realpath(settings.folder)
  const spill = join(folder, 'spill')
  await rm(spill, { recursive: true, force: true })
  await mkdir(spill, { mode: 0o700 })
  const shapes = new ShapeCache()
  const connections = new ConnectionCache()
  const cache = await FileCache.open(join(folder, 'files'), settings.cacheBytesMax, (path) => {
    shapes.forget(path)
    connections.drop(path)
  })
  const places = { files: cache.folder, spill }
  const database = await LockedDatabase.start(settings, places, () => connections.close())
  const shared: DuckdbShared = {
    runMs: settings.runMs,
    database,
    damaged: new DamagedFiles(database),
    connections,
    gate: new Gate(settings.placesMax, settings.queueMax),
    cache,
    shapes,
    garbage: new NativeGarbage(),
    plans: new Lru(limits.enginePlanBytes),
    proofs: new Proofs(),
    budget: settings.budget,
  }
  return {
    engine: (scope) => scopedEngine(shared, scope),
    load: () => {
      const { taken, waiting } = shared.gate.load
      return { running: taken, waiting, cachedBytes: cache.bytes, cachedConnections: connections.count }
    },
    async close() {
      connections.close()
      database.close()
      await cache.close()
      await rm(spill, { recursive: true, force: true })
    },
  }
}

function scopedEngine(shared: DuckdbShared, scope: DuckdbScope): ComputeEngine {
  const open = new Set<EngineHandle>()
  return {
    dialect: 'duckdb',
    async open(tables, run) {
      if (run.tenant !== scope.tenant)
        throw new EngineError('XX000', 'The engine was asked for another tenant.')
      const handle = await openHandle(shared, scope, tables, run)
      open.add(handle)
      return {
        ...handle,
        close: () => {
          open.delete(handle)
          return handle.close()
        },
      }
    },
    async runOnCopies(statement) {
      if (statement.run.tenant !== scope.tenant)
        throw new EngineError('XX000', 'The engine was asked for another tenant.')
      return await runOnCopies(shared, scope, statement)
    },
    async close() {
      for (const handle of open) await handle.close()
      open.clear()
    },
  }
}
