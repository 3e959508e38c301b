/** Calendars: which period of a wider level holds a period, by their first days, and which day is months later. */

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

const monthsIn: Readonly<Partial<Record<Grain, number>>> = { year: 12, quarter: 3, month: 1 }

/**
 * The day at the same place of a later period, or with a negative count of an earlier one.
 * @param day as YYYY-MM-DD
 * @returns undefined where that period has no such day, for a text of another form, and for hours
 */
export function dayLater(grain: Grain, day: string, count: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  const months = monthsIn[grain]
  if (year === undefined || months === undefined) return undefined
  const place = Number(year) * 12 + Number(month) - 1 + count * months
  const [inYear, inMonth] = [Math.floor(place / 12), (place % 12) + 1]
  if (!(inYear > 0 && inYear <= 9_999)) return undefined
  const days = daysIn(inYear, inMonth)
  return Number(date) > days
    ? undefined
    : `${String(inYear).padStart(4, '0')}-${String(inMonth).padStart(2, '0')}-${date}`
}

/** The moment at which a day begins. Months and days beyond a year or month count on, and a year below 100 is that year. */
export function momentOfDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

const daysIn = (year: number, month: number) => new Date(momentOfDay(year, month + 1, 0)).getUTCDate()

/** The beginning of the day so many whole months later: the last one of a month that is shorter, or in every month. */
export function monthsAfter(moment: number, count: number, isLast = false): number {
  const from = new Date(moment)
  const first = momentOfDay(from.getUTCFullYear(), from.getUTCMonth() + 1 + count, 1)
  const [year, month] = [new Date(first).getUTCFullYear(), new Date(first).getUTCMonth() + 1]
  const last = daysIn(year, month)
  return momentOfDay(year, month, isLast ? last : Math.min(from.getUTCDate(), last))
}
