/** Says which rows count for a period of a metric over periods: those of a half-open range of time in UTC. */

import type { Grain, OverPeriods } from '../../../core/metric.ts'
import { type Period, shift, startOf } from './periods.ts'

interface CountedRange {
  /** Undefined: from the beginning of time. */
  readonly beginMs: number | undefined
  readonly endMs: number
}

/** Whether a metric's ranges have a beginning. */
export function hasBegin(over: OverPeriods): boolean {
  const accumulated = accumulatedOf(over)
  return accumulated === undefined || accumulated.window !== undefined || accumulated.toDate !== undefined
}

/** The rows that count for a period of this grain. */
export function countedRange(over: OverPeriods, grain: Grain, period: Period): CountedRange {
  const moved = over.kind === 'offset' ? movedPeriod(over, grain, period) : period
  const accumulated = accumulatedOf(over)
  if (accumulated === undefined) return { beginMs: moved.startMs, endMs: moved.endMs }
  const { window, toDate } = accumulated
  const { startMs, endMs } = moved
  if (window === undefined) return { beginMs: toDate && startOf(toDate, startMs), endMs }
  const last = window.grain === grain ? startMs : startOf(window.grain, endMs - 1)
  return { beginMs: shift(window.grain, last, 1 - window.count), endMs }
}

function accumulatedOf(over: OverPeriods) {
  return over.kind === 'cumulative' ? over : over.accumulated
}

/** The period that an offset leads to from another one. */
function movedPeriod(
  { offsetWindow, offsetToGrain }: Extract<OverPeriods, { kind: 'offset' }>,
  grain: Grain,
  { startMs, endMs }: Period,
): Period {
  if (offsetWindow !== undefined) {
    const start = before(startMs, offsetWindow)
    // Months begin alike, but days and weeks are no parts of a month: theirs keep their length.
    const isFixed = grain === 'hour' || grain === 'day' || grain === 'week'
    return { startMs: start, endMs: isFixed ? start + (endMs - startMs) : before(endMs, offsetWindow) }
  }
  const start = offsetToGrain === undefined ? startMs : startOf(offsetToGrain, startMs)
  return { startMs: startOf(grain, start), endMs: shift(grain, startOf(grain, start), 1) }
}

/** A moment so many grains earlier; of a month without such a day its last one, as PostgreSQL subtracts. */
function before(ms: number, { count, grain }: { readonly count: number; readonly grain: Grain }): number {
  const lengths = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 }
  if (grain === 'hour' || grain === 'day' || grain === 'week') return ms - count * lengths[grain]
  const months = count * { month: 1, quarter: 3, year: 12 }[grain]
  const date = new Date(ms)
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1)
  const lastDay = new Date(shift('month', first, 1) - 1).getUTCDate()
  const day = Math.min(date.getUTCDate(), lastDay)
  return (
    first +
    (day - 1) * lengths.day +
    (ms - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()))
  )
}
