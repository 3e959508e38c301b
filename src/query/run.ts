/**
 * The one way by which every read surface runs a statement: load what governs it, compile, run on the engine of
 * its catalog, record the usage. Whatever goes wrong on the way refuses; nothing of a query before is trusted.
 */

import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { type Pace, processPace } from '../base/right-of-way.ts'
import type { ResultBatch } from '../core/result-batch.ts'
import type { SqlType } from '../core/sql-type.ts'
import type { UsageOutcome } from '../core/usage.ts'
import type { EngineKinds } from '../engine/engine-kinds.ts'
import { limits } from '../limits.ts'
import { openUsage } from '../store/queries-under-way.ts'
import { recordUsage } from '../store/usage.ts'
import { Attempt, type Load } from './attempt.ts'
import { batchBytes } from './batch-bytes.ts'
import { CompileCache } from './compile-cache.ts'
import { fingerprintStatement } from './fingerprint.ts'
import { type KeptLoad, KeptLoads } from './kept-load.ts'
import { KnownVersions } from './known-versions.ts'
import { type LoadedTables, type LoadOptions, type LoadParts, loadTables } from './load-tables.ts'
import type {
  CredentialQuestion,
  PreparedQuery,
  PrepareOptions,
  QueryContext,
  QueryService,
  RunOptions,
} from './query-service.ts'
import { RunCheck } from './run-check.ts'
import { runError } from './run-error.ts'
import { type RunWatch, watchRun } from './run-watch.ts'
import { Guesses, guessKey, proven } from './speculation.ts'
import { SqlError } from './sql-error.ts'
import type { Tripwire } from './tripwire.ts'
import { namesOf, type QueryProgress, usageOf } from './usage-of.ts'

export interface RunParts extends LoadParts {
  readonly engines: EngineKinds
  readonly clock: Clock
  readonly log: Logger
  /** Looks into errors of the engine; nobody does where absent. */
  readonly tripwire?: Pick<Tripwire, 'heed'>
  /** Milliseconds that a run may take; default limits.queryMs. */
  readonly queryMs?: number
  /** Milliseconds that a run may wait for its reader; default limits.queryIdleMs. */
  readonly queryIdleMs?: number
  /** The process's own where absent. */
  readonly pace?: Pace
}

interface Parts extends RunParts {
  readonly cache: CompileCache
  readonly kept: KeptLoads
  readonly guesses: Guesses
  readonly pace: Pace
  readonly versions: KnownVersions
}

/** A query service over these parts. */
export function queryService(given: RunParts): QueryService {
  const cache = new CompileCache(limits.compiledCacheBytes)
  const { store, pace = processPace } = given
  const versions = new KnownVersions(store, pace)
  const parts = { ...given, cache, kept: new KeptLoads(), guesses: new Guesses(), pace, versions }
  return {
    prepare: (context, text, parameterTypes = [], options = {}) =>
      prepare(parts, context, text, parameterTypes, options),
    run(context, query, options) {
      const kept = parts.kept.take(query, context)
      const progress = kept?.progress ?? newProgress(parts, query.text)
      const rows = runRows(parts, context, query, options, progress, kept)
      const { queryId } = progress
      const putOnRecord = () => {
        progress.onRecord ??= open(parts, context, progress)
        return progress.onRecord
      }
      const confirm = () => progress.confirm?.()
      return { queryId, columns: query.columns, putOnRecord, confirm, [Symbol.asyncIterator]: () => rows }
    },
  }
}

function newProgress({ clock }: Parts, text: string): QueryProgress {
  return {
    queryId: crypto.randomUUID(),
    startedAtMs: clock.now(),
    startMs: performance.now(),
    fingerprint: fingerprintStatement(text),
    rowsOut: 0,
    bytesOut: 0,
  }
}

/** A statement of somebody's, with what is kept of it between runs. */
interface Asked {
  readonly context: QueryContext
  readonly text: string
  readonly parameterTypes: readonly (SqlType | undefined)[]
  readonly key: string
}

function asked(context: QueryContext, text: string, parameterTypes: readonly (SqlType | undefined)[]): Asked {
  return { context, text, parameterTypes, key: guessKey(context, text, parameterTypes) }
}

async function prepare(
  parts: Parts,
  context: QueryContext,
  text: string,
  parameterTypes: readonly (SqlType | undefined)[],
  { runsAtOnce = false, runMissed, signal, credential }: PrepareOptions,
): Promise<PreparedQuery> {
  const progress = newProgress(parts, text)
  const statement = asked(context, text, parameterTypes)
  const { queryId } = progress
  const guessed = runsAtOnce
    ? parts.guesses.begin(statement.key, parts, { context, queryId, parameters: [] })
    : undefined
  if (signal !== undefined) guessed?.follow(signal)
  try {
    const load = await compileNow(parts, statement, progress, { signal, credential })
    const query = { text, columns: load.compiled.columns, parameters: load.compiled.parameters }
    const loadOfRun = runsAtOnce ? settled(parts, statement, load) : undefined
    if (loadOfRun !== undefined)
      parts.kept.keep(query, { context, progress, load: loadOfRun, guessed }, runMissed)
    else void guessed?.end()
    return query
  } catch (thrown) {
    await endVain(guessed, progress, signal)
    const failure = signal?.aborted ? cancelled() : runError(thrown)
    await finish(parts, context, progress, outcomeOf(failure, false, signal), failure)
    throw failure
  }
}

/** Loads, anew, and compiles. @throws SqlError of both; Fault of the store; the signal's reason */
async function compileNow(
  parts: Parts,
  statement: Asked,
  progress: QueryProgress,
  options: Pick<LoadOptions, 'signal' | 'credential'>,
): Promise<Load> {
  try {
    const before = parts.guesses.last(statement.key)?.loaded
    const askedMs = parts.pace.now()
    const loaded = await loadTables(parts, statement.context, statement.text, { ...options, before })
    parts.versions.learn(statement.context.tenant, loaded.governanceVersion, askedMs)
    progress.loaded = loaded
    const load = compileLoaded(parts, statement, loaded)
    progress.compiled = load.compiled
    progress.loadedMs = performance.now()
    return load
  } catch (thrown) {
    parts.guesses.forget(statement.key)
    throw thrown
  }
}

/** @throws SqlError of the compiler */
function compileLoaded(
  { cache, guesses }: Parts,
  { context, text, parameterTypes, key }: Asked,
  loaded: LoadedTables,
): Load {
  const { tenant, principal, searchPath } = context
  const { tables } = loaded
  const last = guesses.last(key)
  const compiled = isOfTables(last, tables)
    ? last.compiled
    : cache.compile(tenant, { text, principal, tables, searchPath, parameterTypes })
  guesses.keep(key, { loaded, compiled })
  return { loaded, compiled }
}

/** Whether a statement's load was compiled over these very objects. */
function isOfTables(load: Load | undefined, tables: LoadedTables['tables']): load is Load {
  return (
    load?.loaded.tables.length === tables.length &&
    load.loaded.tables.every((table, index) => table === tables[index])
  )
}

/**
 * The load as a run has it, which compiles with the types that were settled on: the statement may be another one.
 * @returns undefined where it does not compile so, which the run has to say
 */
function settled(parts: Parts, { context, text, parameterTypes }: Asked, load: Load): Load | undefined {
  const { parameters } = load.compiled
  if (Bun.deepEquals(parameterTypes, parameters, true)) return load
  try {
    return compileLoaded(parts, asked(context, text, parameters), load.loaded)
  } catch {
    return undefined
  }
}

async function* runRows(
  parts: Parts,
  context: QueryContext,
  query: PreparedQuery,
  options: RunOptions,
  progress: QueryProgress,
  kept: KeptLoad | undefined,
): AsyncGenerator<ResultBatch, void, undefined> {
  const timeMs = Math.min(options.timeMs ?? Number.POSITIVE_INFINITY, parts.queryMs ?? limits.queryMs)
  const watch = watchRun(options.signal, timeMs, parts.queryIdleMs ?? limits.queryIdleMs)
  let outcome: UsageOutcome = 'cancelled'
  let failure: SqlError | undefined
  try {
    const [attempt, load] = await answering(parts, context, query, options, progress, watch, kept)
    const check = new RunCheck(parts, context, load)
    progress.confirm = () => watch.confirm(check)
    for (;;) {
      const { done, value: batch } = await watch.race(attempt.next())
      if (done) break
      const looked = check.look()
      if (looked !== undefined) await watch.race(looked)
      progress.rowsOut += batch.rowCount
      progress.bytesOut += batchBytes(batch)
      watch.idle()
      yield batch
      watch.busy()
    }
    // Nothing of it is left that could be given.
    progress.confirm = () => undefined
    outcome = 'completed'
  } catch (thrown) {
    failure = watch.reason() ?? runError(thrown)
    outcome = outcomeOf(failure, progress.attempt?.engine !== undefined, options.signal)
    throw failure
  } finally {
    watch.end()
    if (outcome === 'cancelled') {
      failure ??= watch.reason() ?? cancelled()
      // It was over before its client let go of it.
      if (watch.isOverItself()) outcome = 'failed'
    }
    // Neither waits for the other: what the record says is known once the rows have ended.
    const ended = progress.attempt?.end()
    await finish(parts, context, progress, outcome, failure).finally(() => ended)
    if (outcome === 'failed' && failure) parts.tripwire?.heed(progress, failure)
  }
}

/**
 * The attempt that answers this run, and what was loaded for it. One that was begun on a guess is looked at only where all of what it was
 * begun on was loaded now, and is the same.
 */
async function answering(
  parts: Parts,
  context: QueryContext,
  query: PreparedQuery,
  { parameters = [], credential }: RunOptions,
  progress: QueryProgress,
  watch: RunWatch,
  kept: KeptLoad | undefined,
): Promise<readonly [Attempt, Load]> {
  const run = { context, queryId: progress.queryId, parameters }
  const { text, columns, parameters: parameterTypes } = query
  const statement = asked(context, text, parameterTypes)
  const claimed = kept?.claim()
  const guessed = claimed === undefined ? parts.guesses.begin(statement.key, parts, run) : claimed.guessed
  guessed?.follow(watch.signal)
  try {
    const { signal } = watch
    const load =
      claimed?.load ?? (await watch.race(compileNow(parts, statement, progress, { signal, credential })))
    if (claimed !== undefined) answerBy(load.loaded, credential)
    progress.compiled = load.compiled
    const now = load.compiled.columns
    if (now !== columns && JSON.stringify(now) !== JSON.stringify(columns))
      throw new SqlError('0A000', 'cached plan must not change result type')
    const known = guessed && (await watch.race(proven(guessed, load)))
    progress.attempt = known ?? new Attempt(parts, load, run, watch.signal)
    return [progress.attempt, load]
  } finally {
    if (guessed !== progress.attempt) await endVain(guessed, progress, watch.signal)
  }
}

/** The load that was kept for a run of this request answers for the credential, too, where it had asked. */
function answerBy({ sessionId }: LoadedTables, credential: CredentialQuestion | undefined): void {
  if (sessionId === undefined) return
  if (credential?.take() === sessionId) credential.answer(true)
}

/** Leaves what would be the run's record if this process died now. @throws SqlError 58030 */
async function open({ store, log }: Parts, context: QueryContext, progress: QueryProgress): Promise<void> {
  const died = { sqlState: '57P01' }
  try {
    const usage = usageOf(context, progress, performance.now(), 'failed', died)
    await openUsage(store, context.tenant, usage)
  } catch (cause) {
    log.error({ queryId: progress.queryId, err: cause }, 'a query could not be put on record')
    throw new SqlError('58030', 'The usage of the query could not be recorded.', undefined, { cause })
  }
}

/** Ends what nobody may look at; what it cost counts. Waits for all of it unless the signal has fired. */
async function endVain(
  guessed: Attempt | undefined,
  progress: QueryProgress,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (guessed === undefined) return
  await (signal?.aborted ? guessed.end() : guessed.vacate())
  progress.vain = guessed.stats
}

function cancelled(): SqlError {
  return new SqlError('57014', 'canceling statement due to user request')
}

/** @param asked whether an engine had been asked: what fails before that for a reason of its own is refused */
function outcomeOf({ kind }: SqlError, asked: boolean, client: AbortSignal | undefined): UsageOutcome {
  if (client?.aborted) return 'cancelled'
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
  const usage = usageOf(context, progress, performance.now(), outcome, failure)
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
