/**
 * Runs a statement for every read surface in four steps: load its tables and their governance, compile it, run it on
 * the engine of its catalog, record the usage. Any failure refuses. `speculative/` may start work early and decides
 * nothing.
 */

import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import { type Pace, processPace } from '../../base/right-of-way.ts'
import { askableOf, type RequestPage } from '../../core/access-hint.ts'
import type { ResultBatch } from '../../core/result-batch.ts'
import { isReadable } from '../../core/seen-table.ts'
import type { SqlType } from '../../core/sql-type.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { UsageOutcome } from '../../core/usage.ts'
import type { EngineKinds } from '../../engine/engine-kinds.ts'
import { limits } from '../../limits.ts'
import type { ParameterValue } from '../compile/base/ir.ts'
import { SqlError } from '../compile/base/sql-error.ts'
import type { ResultColumn } from '../compile/compile.ts'
import { shownOrigins } from '../compile/output/output-origins.ts'
import type {
  PreparedQuery,
  PrepareOptions,
  QueryContext,
  QueryService,
  RunOptions,
  SessionCheck,
  StatementSource,
} from '../query-service.ts'
import { Attempt, type Load } from './attempt/attempt.ts'
import { batchBytes } from './attempt/batch-bytes.ts'
import { type RevealValues, revealBatch } from './attempt/reveal-batch.ts'
import { runError } from './attempt/run-error.ts'
import type { LoadedTables, LoadParts } from './load/load-tables.ts'
import { type Statement, statementOf } from './load/statement.ts'
import { CompileCache } from './prepare/compile-cache.ts'
import {
  type CompileParts,
  loadAgain,
  loadAndCompile,
  loadOfRun,
  withValues,
} from './prepare/load-and-compile.ts'
import { RequestLoads, type WaitingLoad } from './prepare/request-loads.ts'
import { noSpeculation, nothingStarted } from './prepare/speculation.ts'
import { spendLiftedQuery } from './record/lifted-budget.ts'
import type { LineageRecorder } from './record/lineage-recorder.ts'
import { failedOutcome, newProgress, putOnRecord, recordEnd } from './record/record-run.ts'
import { appliedGovernance, discard, type QueryProgress } from './record/usage-of.ts'
import { askHint, hintOfAccess, withWhomToAsk } from './record/whom-to-ask.ts'
import { SpeculativeStarts } from './speculative/speculative-starts.ts'
import type { Tripwire } from './tripwire.ts'
import { CachedVersions } from './watch/cached-versions.ts'
import { againWhereChanged, type GovernanceChanged } from './watch/governance-changed.ts'
import { checkHeld } from './watch/held-check.ts'
import { RunCheck } from './watch/run-check.ts'
import { type RunWatch, watchRun } from './watch/run-watch.ts'

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
  /** The page that helps to ask for access; without it hints name no address. */
  readonly requestPage?: RequestPage
  /** Milliseconds that a run may take. Default: limits.queryMs. */
  readonly queryMs?: number
  /** Milliseconds that a run may wait for its client. Default: limits.queryIdleMs. */
  readonly queryIdleMs?: number
  /** Default: the pace of the process. */
  readonly pace?: Pace
  /** Whether work starts before its input is confirmed. Default: true. Rows and errors are the same without. */
  readonly isSpeculative?: boolean
}

interface Parts extends RunParts, CompileParts {
  readonly pace: Pace
  readonly requests: RequestLoads
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
    prepare: (context, source, parameterTypes = [], options = {}) =>
      prepare(parts, context, source, parameterTypes, options),
    run(context, query, options) {
      const waiting = requests.take(query, context)
      const progress = waiting?.progress ?? newProgress(clock, query.source)
      const rows = run(parts, { context, query, options, progress, waiting, counted: new Set() })
      return {
        queryId: progress.queryId,
        columns: query.columns,
        putOnRecord() {
          progress.onRecord ??= putOnRecord(parts, context, progress)
          return progress.onRecord
        },
        applied() {
          // Only then is it known that no change of governance starts the run again.
          if (progress.confirm === undefined) throw new SqlError('XX000', 'The query has given no rows yet.')
          return appliedGovernance(context, progress)
        },
        confirm: () => progress.confirm?.(),
        [Symbol.asyncIterator]: () => rows,
      }
    },
  }
}

/** Loads and compiles. Records a refusal; a success is recorded by its run. */
async function prepare<Source extends StatementSource>(
  parts: Parts,
  context: QueryContext,
  source: Source,
  parameterTypes: readonly (SqlType | undefined)[],
  options: PrepareOptions,
): Promise<PreparedQuery<Source>> {
  const { runsAtOnce = false, runMissed, signal, sessionCheck } = options
  const { requests, speculation } = parts
  const progress = newProgress(parts.clock, source)
  const { queryId } = progress
  const statement = statementOf(context, source, parameterTypes)
  const start = runsAtOnce
    ? speculation.start(statement, { context, queryId, parameters: [] })
    : nothingStarted
  if (signal !== undefined) start.follow(signal)
  try {
    const loaded = await againWhereChanged((changed) =>
      changed === undefined
        ? loadAndCompile(parts, statement, progress, { signal, sessionCheck })
        : loadAgain(parts, statement, progress, signal),
    )
    const { columns, parameters, needsValues, policies: protections } = loaded.compiled
    const origins = shownOrigins(loaded.compiled.origins())
    const { snapshots } = loaded.loaded
    const tableBytes = (table: TableRef) => snapshots.get(tableKey(table))?.fileBytes
    const seen = loaded.loaded.tables.filter(isReadable).map(({ ref, contract }) => ({ ref, contract }))
    const ask = () => askHint(parts, context.tenant, seen)
    const howToAsk = () => hintOfAccess(parts, context, askableOf(protections))
    const query = {
      ...{ source, columns, parameters, needsValues, origins, protections, tableBytes },
      ...{ ask, howToAsk },
    }
    const load = runsAtOnce ? loadOfRun(parts, statement, loaded) : undefined
    if (load !== undefined) requests.hold(query, { context, progress, load, start }, runMissed)
    else start.end()
    return query
  } catch (thrown) {
    await start.discard(progress, signal)
    const failure = signal?.aborted
      ? cancelled()
      : await withWhomToAsk(parts, context, progress, runError(thrown, context.principal))
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
  /** The attestations whose bounds count this run already. */
  readonly counted: Set<string>
}

/** Loads, compiles, runs and records one query. */
async function* run(parts: Parts, given: Run): AsyncGenerator<ResultBatch, void, undefined> {
  const { context, options, progress } = given
  const timeMs = Math.min(options.timeMs ?? Number.POSITIVE_INFINITY, parts.queryMs ?? limits.queryMs)
  const idleMs = parts.queryIdleMs ?? limits.queryIdleMs
  const watch = watchRun(options.signal, timeMs, idleMs)
  let outcome: UsageOutcome = 'cancelled'
  let failure: SqlError | undefined
  try {
    const { check, next, first } = await firstRows(parts, given, watch)
    progress.confirm = () => watch.confirm(check)
    for (let batch = first; batch !== undefined; batch = await next()) {
      progress.rowsOut += batch.rowCount
      progress.bytesOut += batchBytes(batch)
      watch.idle()
      yield batch
      watch.busy()
    }
    // All rows were given, and a cursor may hold them to send them again.
    progress.confirm = checkHeld(check, parts.pace, idleMs)
    outcome = 'completed'
    parts.lineage?.note(context, progress)
  } catch (thrown) {
    failure =
      watch.reason() ?? (await withWhomToAsk(parts, context, progress, runError(thrown, context.principal)))
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

interface OpenRun {
  readonly check: RunCheck
  /** Rows that may be given now; undefined after the last. */
  next(): Promise<ResultBatch | undefined>
  readonly first: ResultBatch | undefined
}

/**
 * Starts the run and waits for its first rows. As long as none was given, a change of governance starts it again.
 * @throws SqlError as the load, the compiler, the engine and RunCheck do; Fault of the store; the signal's reason
 */
function firstRows(parts: Parts, given: Run, watch: RunWatch): Promise<OpenRun> {
  const { context, progress } = given
  const attempt = async (changed: GovernanceChanged | undefined): Promise<OpenRun> => {
    const [load, attempt] = await startRun(parts, given, watch, changed)
    const check = new RunCheck(parts, context, load)
    const reveal = revealFor(parts, context, load)
    const next = async () => {
      const { done, value: stored } = await watch.race(attempt.next())
      if (done) return undefined
      const batch = reveal === undefined ? stored : await watch.race(reveal(stored))
      const asked = check.look()
      if (asked !== undefined) await watch.race(asked)
      return batch
    }
    return { check, next, first: await next() }
  }
  return againWhereChanged(attempt, async () => {
    const { attempt } = progress
    // The next attempt needs the slot.
    if (attempt !== undefined) await watch.race(attempt.vacate())
    discard(progress, attempt?.stats)
    Object.assign(progress, { attempt: undefined, loaded: undefined, compiled: undefined })
  })
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
  { context, query, options, progress, waiting, counted }: Run,
  watch: RunWatch,
  changed: GovernanceChanged | undefined,
): Promise<readonly [Load, Attempt]> {
  const { parameters = [], sessionCheck } = options
  const { signal } = watch
  const statement = statementOfRun(context, query, parameters)
  const engineRun = { context, queryId: progress.queryId, parameters }
  const request = changed === undefined ? waiting?.use() : undefined
  // After a change the last load is of the old governance.
  const begin = () => (changed ? nothingStarted : parts.speculation.start(statement, engineRun))
  const start = request?.start ?? begin()
  start.follow(signal)
  try {
    const loading = () =>
      changed === undefined
        ? loadAndCompile(parts, statement, progress, { signal, sessionCheck })
        : loadAgain(parts, statement, progress, signal)
    const load =
      request === undefined ? await watch.race(loading()) : withValues(parts, statement, request.load)
    if (request !== undefined) reportSession(load.loaded, sessionCheck)
    progress.compiled = load.compiled
    assertColumns(query, load, changed)
    const budgets = load.compiled.budgets.filter(({ attestation }) => !counted.has(attestation))
    if (budgets.length > 0) await watch.race(spendLiftedQuery(parts.store, context, { budgets }))
    for (const { attestation } of budgets) counted.add(attestation)
    const confirmed = await watch.race(start.confirm(load))
    progress.attempt = confirmed ?? new Attempt(parts, load, engineRun, signal)
    return [load, progress.attempt]
  } finally {
    await start.discard(progress, signal)
  }
}

/** The statement of a run, with the values of the parameters that must be literals. */
function statementOfRun(
  context: QueryContext,
  { source, parameters, needsValues }: PreparedQuery,
  given: readonly (string | null)[],
): Statement {
  const values = needsValues.flatMap((number): ParameterValue[] => {
    const value = given[number - 1]
    return value === undefined ? [] : [[number, value]]
  })
  return statementOf(context, source, parameters, values)
}

/**
 * Refuses other columns than the client was sent, because it reads rows by them.
 * @throws `changed`, where the governance did it while the run was under way; else SqlError 0A000
 */
function assertColumns(
  { columns, needsValues }: PreparedQuery,
  { compiled }: Load,
  changed: GovernanceChanged | undefined,
): void {
  // The digits of a numeric may depend on a value, as in round(amount, $1).
  const described = (each: readonly ResultColumn[]) =>
    JSON.stringify(needsValues.length > 0 ? each.map(({ name, type }) => [name, type]) : each)
  if (compiled.columns !== columns && described(compiled.columns) !== described(columns))
    throw changed ?? new SqlError('0A000', 'cached plan must not change result type')
}

/** Reports that the session is valid, where the load of this request has checked it already. */
function reportSession({ sessionId }: LoadedTables, sessionCheck: SessionCheck | undefined): void {
  if (sessionId === undefined) return
  if (sessionCheck?.take() === sessionId) sessionCheck.report(true)
}

function cancelled(): SqlError {
  return new SqlError('57014', 'canceling statement due to user request')
}
