/** Adds a query with its stages to the trace of its request. It tells no text of the statement and no value. */

import type { UsageRecord } from '../../../core/usage.ts'
import { activeSpan, type SpanPart } from '../../../telemetry/tracing.ts'
import type { QueryProgress } from './usage-of.ts'

/**
 * Stages of a query:
 * - `load`: the governance and the state of its tables, and compiling
 * - `open`: the engine opens the snapshots
 * - `run`: the engine computes, and the client reads
 * - `record`: writing the usage record
 */
function stagesOf(progress: QueryProgress, endedMs: number): readonly SpanPart[] {
  const { startMs, loadedMs, attempt } = progress
  const stages: SpanPart[] = [{ name: 'load', startMs, endMs: loadedMs ?? endedMs }]
  // An engine that started on a guess may be open before the load has confirmed it.
  const openedMs = attempt?.openedMs && Math.max(attempt.openedMs, loadedMs ?? attempt.openedMs)
  if (loadedMs !== undefined && attempt !== undefined)
    stages.push({ name: 'open', startMs: loadedMs, endMs: openedMs ?? endedMs })
  if (openedMs !== undefined) stages.push({ name: 'run', startMs: openedMs, endMs: endedMs })
  stages.push({ name: 'record', startMs: endedMs, endMs: performance.now() })
  return stages
}

/** Adds a query that is over to the active span, if there is one. @param endedMs when its rows had ended */
export function traceQuery(progress: QueryProgress, usage: UsageRecord, endedMs: number): void {
  const span = activeSpan()
  if (span === undefined) return
  const attributes = {
    'covenant.query.id': usage.queryId,
    'covenant.surface': usage.surface,
    'covenant.engine': usage.engine,
    'covenant.outcome': usage.outcome,
    'covenant.rows': usage.rowsOut,
    'db.response.status_code': usage.sqlState,
  }
  const { startMs } = progress
  const failure = usage.outcome === 'failed' ? (usage.sqlState ?? 'failed') : undefined
  span.add(
    { name: 'query', startMs, endMs: performance.now(), attributes, failure },
    stagesOf(progress, endedMs),
  )
}
