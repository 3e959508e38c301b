/**
 * Writes the usage record of a query: at its end, and also before its end for a run that sends rows earlier. A query
 * that cannot be recorded fails.
 */

import type { Logger } from 'pino'
import type { Clock } from '../../../base/clock.ts'
import { timeOrderedId } from '../../../base/time-ordered-id.ts'
import type { UsageOutcome } from '../../../core/usage.ts'
import { openUsage } from '../../../store/query/queries-under-way.ts'
import { recordUsage } from '../../../store/query/usage.ts'
import type { Store } from '../../../store/store.ts'
import { SqlError } from '../../compile/base/sql-error.ts'
import { fingerprintStatement } from '../../compile/parse/fingerprint.ts'
import type { QueryContext, StatementSource } from '../../query-service.ts'
import { traceQuery } from './trace-query.ts'
import { type QueryProgress, tableNamesOf, usageOf } from './usage-of.ts'

interface RecordParts {
  readonly store: Store
  readonly log: Logger
}

/** The progress of a query that begins now, with a new id. */
export function newProgress(clock: Clock, source: StatementSource): QueryProgress {
  return {
    queryId: timeOrderedId(),
    startedAtMs: clock.now(),
    startMs: performance.now(),
    fingerprint: fingerprintStatement(source),
    rowsOut: 0,
    bytesOut: 0,
  }
}

/** Writes the record that stays if this process dies before the run ends. @throws SqlError 58030 */
export async function putOnRecord(
  { store, log }: RecordParts,
  context: QueryContext,
  progress: QueryProgress,
): Promise<void> {
  const died = { sqlState: '57P01' }
  try {
    const usage = usageOf(context, progress, performance.now(), 'failed', died)
    await openUsage(store, context.tenant, usage)
  } catch (cause) {
    log.error({ queryId: progress.queryId, err: cause }, 'the usage of an open query was not recorded')
    throw new SqlError('58030', 'The usage of the query could not be recorded.', undefined, { cause })
  }
}

/**
 * Records the usage before the client hears how the query ended.
 * @throws SqlError 58030 where it could not be recorded, and the client has rows or would hear of success
 */
export async function recordEnd(
  { store, log }: RecordParts,
  context: QueryContext,
  progress: QueryProgress,
  outcome: UsageOutcome,
  failure: SqlError | undefined,
): Promise<void> {
  const { queryId } = progress
  if (failure !== undefined && outcome !== 'cancelled') {
    const { id: faultId, sqlState, detail } = failure
    log.info(
      { queryId, faultId, sqlState, detail, tables: tableNamesOf(progress) },
      'a query did not complete',
    )
    // An engine's message may quote values, so it is logged at debug level only.
    log.debug({ queryId, err: failure.cause }, 'the cause of a query that did not complete')
  }
  const endedMs = performance.now()
  const usage = usageOf(context, progress, endedMs, outcome, failure)
  // A write that failed may have been stored nevertheless.
  await progress.onRecord?.catch(() => {})
  try {
    await recordUsage(store, context.tenant, usage, progress.onRecord !== undefined)
  } catch (cause) {
    log.error({ queryId, err: cause }, 'the usage of a query was not recorded')
    if (outcome === 'completed' || outcome === 'cancelled' || progress.rowsOut > 0)
      throw new SqlError('58030', 'The usage of the query could not be recorded.', undefined, { cause })
  } finally {
    traceQuery(progress, usage, endedMs)
  }
}

/** The outcome of a failure. @param engineAsked false makes a failure of the statement itself a refusal */
export function failedOutcome(
  { kind }: SqlError,
  engineAsked: boolean,
  client: AbortSignal | undefined,
): UsageOutcome {
  if (client?.aborted) return 'cancelled'
  return engineAsked || kind === 'internal' || kind === 'unavailable' ? 'failed' : 'refused'
}
