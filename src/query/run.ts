/**
 * The one way by which every read surface runs a statement: load what governs it, compile, run on the engine of
 * its catalog, record the usage. Whatever goes wrong on the way refuses; nothing of a query before is trusted.
 */

import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { GovernedTable } from '../core/governed-table.ts'
import type { ResultBatch } from '../core/result-batch.ts'
import type { SqlType } from '../core/sql-type.ts'
import { tableKey } from '../core/table-ref.ts'
import type { UsageOutcome } from '../core/usage.ts'
import type { EngineSession, TableSnapshot } from '../engine/engine.ts'
import { type EngineKinds, engineOf } from '../engine/engine-kinds.ts'
import { limits } from '../limits.ts'
import { openUsage } from '../store/queries-under-way.ts'
import { recordUsage } from '../store/usage.ts'
import { batchBytes } from './batch-bytes.ts'
import { type CompiledQuery, fingerprintStatement } from './compile.ts'
import { CompileCache } from './compile-cache.ts'
import { renderSql } from './emit/render.ts'
import { type KeptLoad, KeptLoads } from './kept-load.ts'
import { type LoadedTables, type LoadParts, loadTables } from './load-tables.ts'
import type {
  PreparedQuery,
  PrepareOptions,
  QueryContext,
  QueryService,
  RunOptions,
} from './query-service.ts'
import { runError } from './run-error.ts'
import { type RunWatch, watchRun } from './run-watch.ts'
import { SqlError } from './sql-error.ts'
import { namesOf, type QueryProgress, usageOf } from './usage-of.ts'

export interface RunParts extends LoadParts {
  readonly engines: EngineKinds
  readonly clock: Clock
  readonly log: Logger
  /** Milliseconds that a run may take; default limits.queryMs. */
  readonly queryMs?: number
}

interface Parts extends RunParts {
  readonly cache: CompileCache
  readonly kept: KeptLoads
}

/** A query service over these parts. */
export function queryService(given: RunParts): QueryService {
  const cache = new CompileCache(limits.compiledCacheBytes)
  const parts = { ...given, cache, kept: new KeptLoads() }
  return {
    prepare: (context, text, parameterTypes = [], options = {}) =>
      prepare(parts, context, text, parameterTypes, options),
    run(context, query, options) {
      const kept = parts.kept.take(query, context)
      const progress = newProgress(parts, query.text, kept)
      const startMs = kept?.startMs ?? performance.now()
      const rows = runRows(parts, context, query, options, progress, kept)
      const { queryId } = progress
      const putOnRecord = () => {
        progress.onRecord ??= open(parts, context, progress, startMs)
        return progress.onRecord
      }
      return { queryId, columns: query.columns, putOnRecord, [Symbol.asyncIterator]: () => rows }
    },
  }
}

function newProgress({ clock }: Parts, text: string, kept?: KeptLoad): QueryProgress {
  const { startedAtMs, fingerprint } = kept ?? {
    startedAtMs: clock.now(),
    fingerprint: fingerprintStatement(text),
  }
  return { queryId: crypto.randomUUID(), startedAtMs, fingerprint, rowsOut: 0, bytesOut: 0 }
}

async function prepare(
  parts: Parts,
  context: QueryContext,
  text: string,
  parameterTypes: readonly (SqlType | undefined)[],
  { runsAtOnce = false }: PrepareOptions,
): Promise<PreparedQuery> {
  const startMs = performance.now()
  const progress = newProgress(parts, text)
  try {
    const now = await compileNow(parts, context, text, parameterTypes, progress, undefined)
    const query = { text, columns: now.compiled.columns, parameters: now.compiled.parameters }
    const { startedAtMs, fingerprint } = progress
    if (runsAtOnce) parts.kept.keep(query, { context, startMs, startedAtMs, fingerprint, ...now })
    return query
  } catch (thrown) {
    const failure = runError(thrown)
    await finish(parts, context, progress, startMs, outcomeOf(failure, false), failure)
    throw failure
  }
}

async function compileNow(
  parts: Parts,
  context: QueryContext,
  text: string,
  parameterTypes: readonly (SqlType | undefined)[],
  progress: QueryProgress,
  signal: AbortSignal | undefined,
): Promise<{ readonly loaded: LoadedTables; readonly compiled: CompiledQuery }> {
  const { tenant, principal, searchPath } = context
  const loaded = await loadTables(parts, context, text, signal)
  progress.loaded = loaded
  const { tables } = loaded
  const compiled = parts.cache.compile(tenant, { text, principal, tables, searchPath, parameterTypes })
  progress.compiled = compiled
  return { loaded, compiled }
}

async function* runRows(
  parts: Parts,
  context: QueryContext,
  query: PreparedQuery,
  options: RunOptions,
  progress: QueryProgress,
  kept: KeptLoad | undefined,
): AsyncGenerator<ResultBatch, void, undefined> {
  const startMs = kept?.startMs ?? performance.now()
  const watch = watchRun(options.signal, parts.queryMs ?? limits.queryMs)
  let session: EngineSession | undefined
  let outcome: UsageOutcome = 'cancelled'
  let failure: SqlError | undefined = new SqlError('57014', 'canceling statement due to user request')
  try {
    const planned = await plan(parts, context, query, options, progress, watch, kept)
    session = await openSession(planned, watch)
    progress.openMs = performance.now() - startMs
    for await (const batch of batchesOf(session, planned, progress, watch)) {
      progress.rowsOut += batch.rowCount
      progress.bytesOut += batchBytes(batch)
      yield batch
    }
    outcome = 'completed'
    failure = undefined
  } catch (thrown) {
    failure = watch.reason() ?? runError(thrown)
    outcome = options.signal.aborted ? 'cancelled' : outcomeOf(failure, progress.engine !== undefined)
    throw failure
  } finally {
    watch.end()
    await closeSession(parts, session)
    await finish(parts, context, progress, startMs, outcome, failure)
  }
}

interface Planned {
  readonly compiled: CompiledQuery
  readonly render: (relation: (table: GovernedTable) => string) => string
  readonly open: (signal: AbortSignal) => Promise<EngineSession>
}

async function plan(
  parts: Parts,
  context: QueryContext,
  query: PreparedQuery,
  { parameters = [] }: RunOptions,
  progress: QueryProgress,
  watch: RunWatch,
  kept: KeptLoad | undefined,
): Promise<Planned> {
  const { tenant, principal } = context
  const { loaded, compiled } =
    kept ??
    (await watch.race(compileNow(parts, context, query.text, query.parameters, progress, watch.signal)))
  progress.loaded = loaded
  progress.compiled = compiled
  if (JSON.stringify(compiled.columns) !== JSON.stringify(query.columns))
    throw new SqlError('0A000', 'cached plan must not change result type')
  const snapshots = compiled.reads.map(({ table }): TableSnapshot => {
    const snapshot = loaded.snapshots.get(tableKey(table.ref))
    if (snapshot === undefined) throw new SqlError('XX000', 'The query failed.')
    const { metadataLocation, snapshotId } = snapshot
    return { table, metadataLocation, snapshotId, ranges: compiled.ranges.get(table) }
  })
  const engine = await watch.race(engineOf(parts.engines, tenant, loaded.credential))
  const { dialect } = engine
  const salt = crypto.getRandomValues(new Uint8Array(32))
  const render = (relation: (table: GovernedTable) => string) =>
    renderSql(compiled.emit(dialect), dialect, { relation, salt, parameters })
  // What the engine cannot do, and a parameter that is no such value, refuse before the engine is asked.
  render(() => '')
  progress.engine = dialect
  const run = { queryId: progress.queryId, tenant, principal: principal.sub }
  return { compiled, render, open: (signal) => engine.open(snapshots, { ...run, signal }) }
}

async function openSession({ open }: Planned, watch: RunWatch): Promise<EngineSession> {
  const opening = open(watch.signal)
  try {
    return await watch.race(opening)
  } catch (thrown) {
    // It may open after nobody waits for it any more.
    opening.then((session) => session.close()).catch(() => {})
    throw thrown
  }
}

async function* batchesOf(
  session: EngineSession,
  { compiled, render }: Planned,
  progress: QueryProgress,
  watch: RunWatch,
): AsyncGenerator<ResultBatch, void, undefined> {
  const sql = render((table) => session.relation(table))
  if (Buffer.byteLength(sql) > limits.compiledStatementBytesMax)
    throw new SqlError('54001', 'The statement is too complex.')
  // The emitted statement names its outputs c1, c2, …: the client's names never reach the engine.
  const columns = compiled.columns.map(({ type, size }, index) => ({ name: `c${index + 1}`, type, size }))
  const result = session.run({ sql, columns })
  progress.stats = () => result.stats()
  const batches = result[Symbol.asyncIterator]()
  let ended = false
  try {
    for (;;) {
      const next = await watch.race(batches.next())
      ended = next.done === true
      if (next.done) return
      yield next.value
    }
  } finally {
    if (!ended) void Promise.resolve(batches.return?.()).catch(() => {})
  }
}

/** Leaves what would be the run's record if this process died now. @throws SqlError 58030 */
async function open(
  { store, log }: Parts,
  context: QueryContext,
  progress: QueryProgress,
  startMs: number,
): Promise<void> {
  const died = { sqlState: '57P01' }
  try {
    const usage = usageOf(context, progress, performance.now() - startMs, 'failed', died)
    await openUsage(store, context.tenant, usage)
  } catch (cause) {
    log.error({ queryId: progress.queryId, err: cause }, 'a query could not be put on record')
    throw new SqlError('58030', 'The usage of the query could not be recorded.', undefined, { cause })
  }
}

/** Waits for the engine to let go, but not for ever: nobody's answer depends on it. */
async function closeSession({ log }: Parts, session: EngineSession | undefined): Promise<void> {
  if (session === undefined) return
  let timer: Timer | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), limits.engineCloseMs)
  })
  const closed = await Promise.race([session.close().catch(() => 'failed' as const), late])
  clearTimeout(timer)
  if (closed !== undefined) log.warn({ closed }, 'an engine session was not closed in order')
}

/** @param asked whether an engine had been asked: what fails before that for a reason of its own is refused */
function outcomeOf({ kind }: SqlError, asked: boolean): UsageOutcome {
  return asked || kind === 'internal' || kind === 'unavailable' ? 'failed' : 'refused'
}

/**
 * Records the usage before the client hears how the query ended.
 * @throws SqlError 58030 where it could not be recorded and the client would have had rows, or been told of success
 */
async function finish(
  { store, log }: Parts,
  context: QueryContext,
  progress: QueryProgress,
  startMs: number,
  outcome: UsageOutcome,
  failure: SqlError | undefined,
): Promise<void> {
  const { queryId } = progress
  if (failure !== undefined && outcome !== 'cancelled') {
    const { id: faultId, sqlState, detail } = failure
    log.info({ queryId, faultId, sqlState, detail, tables: namesOf(progress) }, 'a query did not complete')
    // An engine's own words may quote values.
    log.debug({ queryId, err: failure.cause }, 'why it did not')
  }
  const usage = usageOf(context, progress, performance.now() - startMs, outcome, failure)
  // One that failed may be there nevertheless.
  await progress.onRecord?.catch(() => {})
  try {
    await recordUsage(store, context.tenant, usage, progress.onRecord !== undefined)
  } catch (cause) {
    log.error({ queryId, err: cause }, 'the usage of a query was not recorded')
    if (outcome === 'completed' || outcome === 'cancelled' || progress.rowsOut > 0)
      throw new SqlError('58030', 'The usage of the query could not be recorded.', undefined, { cause })
  }
}
