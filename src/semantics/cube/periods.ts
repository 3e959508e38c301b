/** Calendars: which period of a wider level holds a period, by their first days. */

import type { Grain } from '../../core/metric.ts'

/**
 * The first day of the period of `grain` that holds a day.
 * @param day as YYYY-MM-DD
 * @returns undefined for a text of another form, such as infinity, and for a grain that does not widen days
 */
export function periodOf(grain: Grain, day: string): string | undefined {
  const [, year, month] = /^(\d{4,})-(\d\d)-\d\d$/.exec(day) ?? []
  if (year === undefined || month === undefined) return undefined
  switch (grain) {
    case 'year':
      return `${year}-01-01`
    case 'quarter':
      return `${year}-${String(Math.floor((Number(month) - 1) / 3) * 3 + 1).padStart(2, '0')}-01`
    case 'month':
      return `${year}-${month}-01`
    case 'day':
      return day
    default:
      return undefined
  }
}
