/** Opens one session: a place, the tables' files at hand, and a connection that has their relations. */

import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Lru } from '../../base/lru.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { GovernedTable } from '../../core/governed-table.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { openStorage, type Storage } from '../../storage/storage.ts'
import type { EngineRun, EngineSession, TableSnapshot } from '../engine.ts'
import { EngineError, unreadable } from '../engine-error.ts'
import { planSnapshot, type SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { classifyError } from './classify-error.ts'
import type { FileCache, ReadScope } from './file-cache.ts'
import type { KnownShapes } from './file-shape.ts'
import type { Gate } from './gate.ts'
import { interruptible } from './interruptible.ts'
import type { HeldConnection, KeptConnections } from './kept-connections.ts'
import { LocalFiles } from './local-files.ts'
import type { NativeGarbage } from './native-garbage.ts'
import { createRelation, type TableAtHand, tableAtHand } from './open-table.ts'
import type { Proofs } from './own-relations.ts'
import { duckdbSession } from './session.ts'

/** What the sessions of one process share. */
export interface SessionHost {
  /** Milliseconds from a place to the end. */
  readonly runMs: number
  readonly instance: DuckDBInstance
  readonly kept: KeptConnections
  readonly gate: Gate
  readonly cache: FileCache
  readonly shapes: KnownShapes
  readonly garbage: NativeGarbage
  readonly plans: Lru<string, SnapshotPlan>
  readonly proofs: Proofs
}

/**
 * A session over these snapshots, once there is a place.
 * @throws EngineError where a snapshot cannot be read whole, the queue is full, or the run is cancelled or over
 *   its time
 */
export async function openSession(
  host: SessionHost,
  scope: ReadScope,
  snapshots: readonly TableSnapshot[],
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
    ended.startClock(host.runMs)
    const startedMs = performance.now()
    const storage = openStorage(scope.access)
    closers.push(() => storage.close())
    const files = new LocalFiles(host.instance, host.cache, host.shapes, scope)
    closers.push(() => files.release())
    const tables = await tablesAtHand(host, scope, snapshots, { storage, files, signal: ended.signal })
    const { held, key } = await connect(host, scope, [...tables.values()], ended.signal)
    return duckdbSession({
      held,
      tables,
      readable: viewsOf(tables),
      signal: ended.signal,
      garbage: host.garbage,
      proofs: host.proofs,
      queueMs: startedMs - asked,
      startedMs,
      async close(asNew) {
        if (asNew === undefined || key === undefined) held.connection.closeSync()
        else host.kept.give(key, asNew)
        await close()
      },
    })
  } catch (thrown) {
    await close()
    throw openingError(thrown)
  }
}

/** Names of the temporary views of tables. */
export function viewsOf(tables: ReadonlyMap<GovernedTable, TableAtHand>): ReadonlySet<string> {
  return new Set([...tables.values()].map(({ view }) => view))
}

/** No expression of the statement has run yet: data that do not fit are those of files. */
function openingError(thrown: unknown): EngineError {
  if (thrown instanceof ReadFailure) return unreadable(thrown)
  const error = classifyError(thrown)
  if (!error.code.startsWith('22')) return error
  return new EngineError('58030', 'The table cannot be read: one of its files is corrupt.', { cause: thrown })
}

interface Opening {
  readonly storage: Storage
  readonly files: LocalFiles
  readonly signal: AbortSignal
}

/** The tables' files, brought here. @throws as tableAtHand, and EngineError where a snapshot cannot be planned */
export async function tablesAtHand(
  host: SessionHost,
  scope: ReadScope,
  snapshots: readonly TableSnapshot[],
  { storage, files, signal }: Opening,
): Promise<ReadonlyMap<GovernedTable, TableAtHand>> {
  const tables = new Map<GovernedTable, TableAtHand>()
  for (const snapshot of snapshots) {
    const plan = await planOf(host, scope, snapshot, storage, signal)
    tables.set(snapshot.table, await tableAtHand(snapshot, plan, tables.size, files, storage, signal))
  }
  return tables
}

/** A metadata file never changes, so its plans hold for as long as they are kept. */
async function planOf(
  { plans }: SessionHost,
  { key }: ReadScope,
  { metadataLocation, snapshotId }: TableSnapshot,
  storage: Storage,
  signal: AbortSignal,
): Promise<SnapshotPlan> {
  const planKey = JSON.stringify([key, metadataLocation, String(snapshotId)])
  const known = plans.get(planKey)
  if (known !== undefined) return known
  try {
    const plan = await unlessAborted(planSnapshot(storage, metadataLocation, snapshotId, signal), signal)
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

interface Connected {
  readonly held: HeldConnection
  /** What it may wait under for the next statement; undefined where it holds tables of deletes, whose memory counts. */
  readonly key: string | undefined
}

async function connect(
  { kept, instance }: SessionHost,
  scope: ReadScope,
  tables: readonly TableAtHand[],
  signal: AbortSignal,
): Promise<Connected> {
  const views = tables.map(({ relation }) => relation)
  const key = views.every((view) => typeof view === 'string')
    ? JSON.stringify([scope.key, ...views])
    : undefined
  const waiting = key && kept.take(key)
  if (waiting) return { held: waiting, key }
  return { held: { connection: await newConnection(instance, tables, signal) }, key }
}

/** A connection of its own with the views of tables. */
export async function newConnection(
  instance: DuckDBInstance,
  tables: readonly TableAtHand[],
  signal: AbortSignal,
): Promise<DuckDBConnection> {
  const connection = await instance.connect()
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
