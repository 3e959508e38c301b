/**
 * The embedded engine: one DuckDB for the process, locked down before the first query; a connection for each;
 * a bounded number of places and a queue for them.
 */

import { mkdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Lru } from '../../base/lru.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import type { Engine, EngineSession } from '../engine.ts'
import { EngineError } from '../engine-error.ts'
import { runOnCopies } from './copy-run.ts'
import { FileCache, type ReadScope } from './file-cache.ts'
import { KnownShapes } from './file-shape.ts'
import { Gate } from './gate.ts'
import { KeptConnections } from './kept-connections.ts'
import { type InstanceSettings, lockedInstance } from './locked-instance.ts'
import { NativeGarbage } from './native-garbage.ts'
import { openSession, type SessionHost } from './open-session.ts'
import { Proofs } from './own-relations.ts'

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

/** Who reads by a catalog credential. */
export interface DuckdbScope extends ReadScope {
  readonly tenant: TenantId
}

export interface DuckdbHost {
  /** The engine as a tenant's credential sees it. */
  engine(scope: DuckdbScope): Engine
  /** Queries that run and that wait, bytes of files and connections that are kept: for metrics. */
  load(): {
    readonly running: number
    readonly waiting: number
    readonly cachedBytes: number
    readonly keptConnections: number
  }
  /** Once no session is open. */
  close(): Promise<void>
}

/**
 * Starts DuckDB.
 * @throws RangeError where queries could take all threads; whatever is thrown where the folder cannot be made or
 *   DuckDB does not start
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
  const shapes = new KnownShapes()
  const kept = new KeptConnections()
  const cache = await FileCache.open(join(folder, 'files'), settings.cacheBytesMax, (path) => {
    shapes.forget(path)
    kept.drop(path)
  })
  const instance = await lockedInstance(settings, cache.folder, spill)
  const host: SessionHost = {
    runMs: settings.runMs,
    instance,
    kept,
    gate: new Gate(settings.placesMax, settings.queueMax),
    cache,
    shapes,
    garbage: new NativeGarbage(),
    plans: new Lru(limits.enginePlanBytes),
    proofs: new Proofs(),
  }
  return {
    engine: (scope) => scopedEngine(host, scope),
    load: () => {
      const { taken, waiting } = host.gate.load
      return { running: taken, waiting, cachedBytes: cache.bytes, keptConnections: kept.count }
    },
    async close() {
      kept.close()
      instance.closeSync()
      await cache.close()
      await rm(spill, { recursive: true, force: true })
    },
  }
}

function scopedEngine(host: SessionHost, scope: DuckdbScope): Engine {
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
    async runOnCopies(statement) {
      if (statement.run.tenant !== scope.tenant)
        throw new EngineError('XX000', 'The engine was asked for another tenant.')
      return await runOnCopies(host, scope, statement)
    },
    async close() {
      for (const session of open) await session.close()
      open.clear()
    },
  }
}
