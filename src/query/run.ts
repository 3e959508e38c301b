/**
 * Runs a statement for every read surface in four steps: load its tables and their governance, compile it, run it on
 * the engine of its catalog, record the usage. Any failure refuses. `speculative/` may start work early and decides
 * nothing.
 */

import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { type Pace, processPace } from '../base/right-of-way.ts'
import { readsRecordsOnly, recordsOnly } from '../core/principal.ts'
import type { ResultBatch } from '../core/result-batch.ts'
import type { SqlType } from '../core/sql-type.ts'
import type { TenantId } from '../core/tenant.ts'
import type { UsageOutcome } from '../core/usage.ts'
import type { EngineKinds } from '../engine/engine-kinds.ts'
import { limits } from '../limits.ts'
import { Attempt, type Load } from './attempt.ts'
import { batchBytes } from './batch-bytes.ts'
import { CachedVersions } from './cached-versions.ts'
import type { ResultColumn } from './compile.ts'
import { CompileCache } from './compile-cache.ts'
import type { ParameterValue } from './ir.ts'
import { spendLiftedQuery } from './lifted-budget.ts'
import type { LineageRecorder } from './lineage/lineage-recorder.ts'
import { type LoadedTables, type LoadOptions, type LoadParts, loadTables } from './load-tables.ts'
import {
  type ExpandedStatement,
  expandStatement,
  mayNameMetrics,
  withExpansion,
} from './metrics/expand-statement.ts'
import { shownOrigins } from './output-origins.ts'
import type {
  PreparedQuery,
  PrepareOptions,
  QueryContext,
  QueryService,
  RunOptions,
  SessionCheck,
} from './query-service.ts'
import { failedOutcome, newProgress, putOnRecord, recordEnd } from './record-run.ts'
import { RequestLoads, type WaitingLoad } from './request-loads.ts'
import { type RevealValues, revealBatch } from './reveal/reveal-batch.ts'
import { RunCheck } from './run-check.ts'
import { runError } from './run-error.ts'
import { type RunWatch, watchRun } from './run-watch.ts'
import { noSpeculation, nothingStarted, type Speculation } from './speculative/speculation.ts'
import { SpeculativeStarts } from './speculative/speculative-starts.ts'
import { affectedByFilter, SqlError } from './sql-error.ts'
import { type Statement, statementOf } from './statement.ts'
import type { Tripwire } from './tripwire.ts'
import type { QueryProgress } from './usage-of.ts'

export interface RunParts extends LoadParts {
  readonly engines: EngineKinds
  readonly clock: Clock
  readonly log: Logger
  /** Checks whether the engine's errors reveal hidden values; without it they are not checked. */
  readonly tripwire?: Pick<Tripwire, 'enqueue'>
  /** Keeps which columns were read; without it nothing is kept. */
  readonly lineage?: Pick<LineageRecorder, 'note'>
  /** Opens protected values for a query; without it they are never opened. */
  readonly revealer?: (tenant: TenantId) => RevealValues
  /** Milliseconds that a run may take. Default: limits.queryMs. */
  readonly queryMs?: number
  /** Milliseconds that a run may wait for its client. Default: limits.queryIdleMs. */
  readonly queryIdleMs?: number
  /** Default: the pace of the process. */
  readonly pace?: Pace
  /** Whether work starts before its input is confirmed. Default: true. Rows and errors are the same without. */
  readonly isSpeculative?: boolean
}

interface Parts extends RunParts {
  readonly cache: CompileCache
  readonly pace: Pace
  readonly requests: RequestLoads
  readonly speculation: Speculation
  readonly versions: CachedVersions
}

/** A query service over these parts. */
export function queryService(given: RunParts): QueryService {
  const { store, clock, pace = processPace, isSpeculative = true } = given
  const cache = new CompileCache(limits.compiledCacheBytes)
  const versions = new CachedVersions(store, pace)
  const speculation = isSpeculative ? new SpeculativeStarts(given) : noSpeculation
  const requests = new RequestLoads()
  const parts = { ...given, cache, pace, requests, speculation, versions }
  return {
    prepare: (context, text, parameterTypes = [], options = {}) =>
      prepare(parts, context, text, parameterTypes, options),
    run(context, query, options) {
      const waiting = requests.take(query, context)
      const progress = waiting?.progress ?? newProgress(clock, query.text)
      const rows = run(parts, { context, query, options, progress, waiting })
      return {
        queryId: progress.queryId,
        columns: query.columns,
        putOnRecord() {
          progress.onRecord ??= putOnRecord(parts, context, progress)
          return progress.onRecord
        },
        confirm: () => progress.confirm?.(),
        [Symbol.asyncIterator]: () => rows,
      }
    },
  }
}

/** Loads and compiles. Records a refusal; a success is recorded by its run. */
async function prepare(
  parts: Parts,
  context: QueryContext,
  text: string,
  parameterTypes: readonly (SqlType | undefined)[],
  options: PrepareOptions,
): Promise<PreparedQuery> {
  const { runsAtOnce = false, runMissed, signal, sessionCheck } = options
  const { requests, speculation } = parts
  const progress = newProgress(parts.clock, text)
  const { queryId } = progress
  const statement = statementOf(context, text, parameterTypes)
  const start = runsAtOnce
    ? speculation.start(statement, { context, queryId, parameters: [] })
    : nothingStarted
  if (signal !== undefined) start.follow(signal)
  try {
    const loaded = await loadAndCompile(parts, statement, progress, { signal, sessionCheck })
    const { columns, parameters, needsValues, policies: protections } = loaded.compiled
    const origins = shownOrigins(loaded.compiled.origins())
    const query = { text, columns, parameters, needsValues, origins, protections }
    const load = runsAtOnce ? loadOfRun(parts, statement, loaded) : undefined
    if (load !== undefined) requests.hold(query, { context, progress, load, start }, runMissed)
    else start.end()
    return query
  } catch (thrown) {
    await start.discard(progress, signal)
    const failure = signal?.aborted ? cancelled() : runError(thrown, context.principal)
    await recordEnd(parts, context, progress, failedOutcome(failure, false, signal), failure)
    throw failure
  }
}

interface Run {
  readonly context: QueryContext
  readonly query: PreparedQuery
  readonly options: RunOptions
  readonly progress: QueryProgress
  /** The load that `prepare` of the same request left for this run. */
  readonly waiting: WaitingLoad | undefined
}

/** Loads, compiles, runs and records one query. */
async function* run(parts: Parts, given: Run): AsyncGenerator<ResultBatch, void, undefined> {
  const { context, options, progress } = given
  const timeMs = Math.min(options.timeMs ?? Number.POSITIVE_INFINITY, parts.queryMs ?? limits.queryMs)
  const watch = watchRun(options.signal, timeMs, parts.queryIdleMs ?? limits.queryIdleMs)
  let outcome: UsageOutcome = 'cancelled'
  let failure: SqlError | undefined
  try {
    const [load, attempt] = await startRun(parts, given, watch)
    const check = new RunCheck(parts, context, load)
    const reveal = revealFor(parts, context, load)
    progress.confirm = () => watch.confirm(check)
    for (;;) {
      const { done, value: stored } = await watch.race(attempt.next())
      if (done) break
      const batch = reveal === undefined ? stored : await watch.race(reveal(stored))
      const asked = check.look()
      if (asked !== undefined) await watch.race(asked)
      progress.rowsOut += batch.rowCount
      progress.bytesOut += batchBytes(batch)
      watch.idle()
      yield batch
      watch.busy()
    }
    // All rows were given, so there is nothing left to check.
    progress.confirm = () => undefined
    outcome = 'completed'
    parts.lineage?.note(context, progress)
  } catch (thrown) {
    failure = watch.reason() ?? runError(thrown, context.principal)
    outcome = failedOutcome(failure, progress.attempt?.engine !== undefined, options.signal)
    throw failure
  } finally {
    watch.end()
    if (outcome === 'cancelled') {
      failure ??= watch.reason() ?? cancelled()
      // The service ended the run before its client did.
      if (watch.isEndedByService()) outcome = 'failed'
    }
    // Ending and recording are concurrent: the record is decided once the rows have ended.
    const ended = progress.attempt?.end()
    await recordEnd(parts, context, progress, outcome, failure).finally(() => ended)
    if (outcome === 'failed' && failure) parts.tripwire?.enqueue(progress, failure)
  }
}

/**
 * What opens the protected values of a run's rows; undefined where there are none. Who runs a statement as another
 * principal sees what is stored.
 * @throws SqlError 58000 where nothing here can open them
 */
function revealFor(
  { revealer }: Parts,
  { tenant, recordedAs }: QueryContext,
  { compiled: { reveals } }: Load,
): ((batch: ResultBatch) => Promise<ResultBatch>) | undefined {
  if (reveals === undefined || recordedAs !== undefined) return undefined
  if (revealer === undefined) throw new SqlError('58000', 'The keys of protected columns cannot be had.')
  const open = revealer(tenant)
  return (batch) => revealBatch(batch, reveals, open)
}

/**
 * Loads and compiles, unless `prepare` of this request has, and starts the attempt. An attempt that started
 * speculatively is used only if the load confirms it.
 */
async function startRun(
  parts: Parts,
  { context, query, options, progress, waiting }: Run,
  watch: RunWatch,
): Promise<readonly [Load, Attempt]> {
  const { parameters = [], sessionCheck } = options
  const { signal } = watch
  const statement = statementOfRun(context, query, parameters)
  const engineRun = { context, queryId: progress.queryId, parameters }
  const request = waiting?.use()
  const start = request?.start ?? parts.speculation.start(statement, engineRun)
  start.follow(signal)
  try {
    const load =
      request === undefined
        ? await watch.race(loadAndCompile(parts, statement, progress, { signal, sessionCheck }))
        : withValues(parts, statement, request.load)
    if (request !== undefined) reportSession(load.loaded, sessionCheck)
    progress.compiled = load.compiled
    assertColumns(query, load)
    if (load.compiled.budgets.length > 0)
      await watch.race(spendLiftedQuery(parts.store, context, load.compiled))
    const confirmed = await watch.race(start.confirm(load))
    progress.attempt = confirmed ?? new Attempt(parts, load, engineRun, signal)
    return [load, progress.attempt]
  } finally {
    await start.discard(progress, signal)
  }
}

/** @throws SqlError of the load and the compiler; Fault of the store; the signal's reason */
async function loadAndCompile(
  parts: Parts,
  given: Statement,
  progress: QueryProgress,
  options: Pick<LoadOptions, 'signal' | 'sessionCheck'>,
): Promise<Load> {
  const { speculation, versions, pace } = parts
  const { context, text } = given
  let statement = given
  try {
    if (readsRecordsOnly(context.principal)) throw new SqlError('42501', recordsOnly)
    // A statement without metrics does not wait here: its load checks the session only if it begins in this turn.
    const expanded = mayNameMetrics(text)
      ? await expandStatement(parts, given, options.signal)
      : { statement: given, version: undefined }
    statement = expanded.statement
    const assumed = speculation.last(statement)?.loaded
    const askedMs = pace.now()
    const source = statement.expansion?.tree ?? text
    const loaded = await loadTables(parts, context, source, { ...options, assumed })
    versions.learn(context.tenant, loaded.governanceVersion, askedMs)
    progress.loaded = loaded
    assertAttested(expanded, loaded)
    const load = compile(parts, statement, loaded)
    progress.compiled = load.compiled
    progress.loadedMs = performance.now()
    if (context.refusesFilters) assertUnfiltered(load)
    return load
  } catch (thrown) {
    speculation.remember(statement, undefined)
    throw thrown
  }
}

/**
 * Refuses to read by attestations where anything of the governance changed between the two loads.
 * @throws SqlError 55000
 */
function assertAttested({ statement, version }: ExpandedStatement, loaded: LoadedTables): void {
  if (statement.expansion?.liftedUntilMs !== undefined && version !== loaded.governanceVersion)
    throw new SqlError(
      '55000',
      'The governance of the tables changed while the query was compiled. Run it again.',
    )
}

/** @throws SqlError 42501 where a row filter applies to a table of the statement */
function assertUnfiltered({ compiled }: Load): void {
  const filtered = compiled.policies.find(({ kind }) => kind === 'row_filter')
  if (filtered !== undefined) throw affectedByFilter(filtered.table.name)
}

/** @throws SqlError of the compiler */
function compile({ cache, speculation }: Parts, statement: Statement, loaded: LoadedTables): Load {
  const load = cache.compileLoaded(statement, loaded, speculation.last(statement))
  speculation.remember(statement, load)
  return load
}

/**
 * The load for the request's run. The run passes the inferred parameter types, which may make another statement.
 * @returns undefined where that does not compile; the run then loads again and reports the error
 */
function loadOfRun(parts: Parts, { context, text, parameterTypes }: Statement, load: Load): Load | undefined {
  const { loaded, compiled, expansion } = load
  const { parameters } = compiled
  if (Bun.deepEquals(parameterTypes, parameters, true)) return load
  try {
    return compile(parts, withExpansion(statementOf(context, text, parameters), expansion), loaded)
  } catch {
    return undefined
  }
}

/** The statement of a run, with the values of the parameters that must be literals. */
function statementOfRun(
  context: QueryContext,
  { text, parameters, needsValues }: PreparedQuery,
  given: readonly (string | null)[],
): Statement {
  const values = needsValues.flatMap((number): ParameterValue[] => {
    const value = given[number - 1]
    return value === undefined ? [] : [[number, value]]
  })
  return statementOf(context, text, parameters, values)
}

/** The load of a prepared statement, compiled with the values of the parameters that must be literals. */
function withValues(parts: Parts, statement: Statement, load: Load): Load {
  if (statement.parameterValues.length === 0) return load
  return compile(parts, withExpansion(statement, load.expansion), load.loaded)
}

/** Refuses other columns than the client was sent, because it reads rows by them. @throws SqlError 0A000 */
function assertColumns({ columns, needsValues }: PreparedQuery, { compiled }: Load): void {
  // The digits of a numeric may depend on a value, as in round(amount, $1).
  const described = (each: readonly ResultColumn[]) =>
    JSON.stringify(needsValues.length > 0 ? each.map(({ name, type }) => [name, type]) : each)
  if (compiled.columns !== columns && described(compiled.columns) !== described(columns))
    throw new SqlError('0A000', 'cached plan must not change result type')
}

/** Reports that the session is valid, where the load of this request has checked it already. */
function reportSession({ sessionId }: LoadedTables, sessionCheck: SessionCheck | undefined): void {
  if (sessionId === undefined) return
  if (sessionCheck?.take() === sessionId) sessionCheck.report(true)
}

function cancelled(): SqlError {
  return new SqlError('57014', 'canceling statement due to user request')
}
