/** Lists the periods of a time range in UTC: half-open, weeks from Monday. */

import type { Grain } from '../../../core/metric.ts'
import { SqlError } from '../base/sql-error.ts'

export interface Period {
  /** Milliseconds since 1970. */
  readonly startMs: number
  readonly endMs: number
}

const periodsMax = 1_000

/**
 * The periods that a range touches.
 * @throws SqlError 22007 for a range without an end after its start, 54001 for too many periods
 */
export function periodsOf(grain: Grain, fromMs: number, toMs: number): readonly Period[] {
  if (!(fromMs < toMs)) throw new SqlError('22007', '`from` must be before `to`.')
  const periods: Period[] = []
  for (let startMs = startOf(grain, fromMs); startMs < toMs; startMs = shift(grain, startMs, 1)) {
    if (periods.length === periodsMax)
      throw new SqlError('54001', `A range may hold at most ${periodsMax} periods.`)
    periods.push({ startMs, endMs: shift(grain, startMs, 1) })
  }
  return periods
}

/** The start of the period that a moment is in. */
export function startOf(grain: Grain, ms: number): number {
  const date = new Date(ms)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  switch (grain) {
    case 'hour':
      return ms - (((ms % 3_600_000) + 3_600_000) % 3_600_000)
    case 'day':
      return Date.UTC(year, month, date.getUTCDate())
    case 'week':
      return Date.UTC(year, month, date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
    case 'month':
      return Date.UTC(year, month)
    case 'quarter':
      return Date.UTC(year, month - (month % 3))
    case 'year':
      return Date.UTC(year, 0)
  }
}

/** The start of the period that is `count` periods later. @param startMs a period's start */
export function shift(grain: Grain, startMs: number, count: number): number {
  const date = new Date(startMs)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  switch (grain) {
    case 'hour':
      return startMs + count * 3_600_000
    case 'day':
      return Date.UTC(year, month, day + count)
    case 'week':
      return Date.UTC(year, month, day + 7 * count)
    case 'month':
      return Date.UTC(year, month + count, 1)
    case 'quarter':
      return Date.UTC(year, month + 3 * count, 1)
    case 'year':
      return Date.UTC(year + count, 0)
  }
}
