/**
 * Functions of dates and FORMAT. A date is a text of YYYY-MM-DD, as the keys of dates are, and a time has HH:MM:SS behind
 * it; both are in UTC. The present is that of the statement, the same in all of it.
 */

import { refuseMdx } from '../../wire/mdx/tokens.ts'
import { momentOfDay, monthsAfter } from '../cube/periods.ts'
import { type Arguments, atMost, type RunFunction, required } from './arguments.ts'
import type { Context, Value } from './context.ts'
import { formatDate } from './format-date.ts'
import { formatValue, isNumberFormat } from './format-value.ts'
import { valueAt } from './sets.ts'
import { aValue, numberOf, textOfValue } from './values.ts'

const dayMs = 86_400_000
const dayPattern = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d))?$/

/** The moment of a date or time, in milliseconds. @throws Fault `bad_request` for another text */
function momentOf(text: string): number {
  const moment = dayPattern.test(text)
    ? Date.parse(`${text.replace(' ', 'T')}${text.length > 10 ? '' : 'T00:00:00'}Z`)
    : Number.NaN
  return Number.isNaN(moment)
    ? refuseMdx('a date is expected, as YYYY-MM-DD: write CDate around a text')
    : moment
}

const timeText = (moment: number) => new Date(moment).toISOString().slice(0, 19).replace('T', ' ')
const dayText = (moment: number) => timeText(moment).slice(0, 10)

const argument = (context: Context, given: Arguments, index: number): Value =>
  valueAt(context, required(given, index))

/** A function of one date; of an empty value it is empty. */
const ofDate =
  (compute: (moment: number) => Value): RunFunction =>
  (context, given) => {
    atMost(given, 1)
    const value = argument(context, given, 0)
    return aValue(value === null ? null : compute(momentOf(textOfValue(value))))
  }

const ofNow =
  (compute: (moment: number) => Value): RunFunction =>
  (context, given) => {
    atMost(given, 0)
    return aValue(compute(context.environment.nowMs))
  }

const quarterOf = (moment: number) => Math.floor(new Date(moment).getUTCMonth() / 3) + 1
/** From 1 for Sunday, as in VBA. */
const weekdayOf = (moment: number) => new Date(moment).getUTCDay() + 1
const monthsOf = (moment: number) => new Date(moment).getUTCFullYear() * 12 + new Date(moment).getUTCMonth()
const daysOf = (moment: number) => Math.floor(moment / dayMs)
/** Weeks begin on Sunday, as in VBA. */
const weeksOf = (moment: number) => Math.floor((daysOf(moment) + 4) / 7)

const parts = {
  yyyy: (moment) => new Date(moment).getUTCFullYear(),
  q: quarterOf,
  m: (moment) => new Date(moment).getUTCMonth() + 1,
  d: (moment) => new Date(moment).getUTCDate(),
  y: (moment) => daysOf(moment) - daysOf(momentOfDay(new Date(moment).getUTCFullYear(), 1, 1)) + 1,
  w: weekdayOf,
  h: (moment) => new Date(moment).getUTCHours(),
  n: (moment) => new Date(moment).getUTCMinutes(),
  s: (moment) => new Date(moment).getUTCSeconds(),
} satisfies Record<string, (moment: number) => number>

const between: Readonly<Record<string, (moment: number) => number>> = {
  yyyy: parts.yyyy,
  q: (moment) => Math.floor(monthsOf(moment) / 3),
  m: monthsOf,
  ww: weeksOf,
  d: daysOf,
  y: daysOf,
}

const months: Readonly<Record<string, number>> = { yyyy: 12, q: 3, m: 1 }
const days: Readonly<Record<string, number>> = { d: 1, y: 1, w: 1, ww: 7 }

/** What an interval stands for. @throws Fault `bad_request` for another one */
function intervalOf<T>(name: string, given: Value, all: Readonly<Record<string, T>>): T {
  const text = textOfValue(given).toLowerCase()
  const found = Object.hasOwn(all, text) ? all[text] : undefined
  return found ?? refuseMdx(`the interval of ${name} is one of ${Object.keys(all).join(', ')}`)
}

const firstMoment = momentOfDay(1, 1, 1)
const endMoment = momentOfDay(10_000, 1, 1)

function dateAdd(context: Context, given: Arguments): Value {
  atMost(given, 3)
  const interval = argument(context, given, 0)
  const count = Math.trunc(numberOf(argument(context, given, 1)))
  const from = argument(context, given, 2)
  if (from === null) return null
  const moment = momentOf(textOfValue(from))
  const time = textOfValue(from).slice(10)
  const step = intervalOf('DateAdd', interval, { ...months, ...days })
  // As in VBA, a month that is shorter ends a sum of months.
  const isMonths = Object.hasOwn(months, textOfValue(interval).toLowerCase())
  const later = isMonths ? monthsAfter(moment, count * step) : moment + count * step * dayMs
  if (!(later >= firstMoment && later < endMoment)) return refuseMdx('a date is of the years 1 to 9999')
  return dayText(later) + time
}

function dateDiff(context: Context, given: Arguments): Value {
  atMost(given, 3)
  const count = intervalOf('DateDiff', argument(context, given, 0), between)
  const [from, to] = [argument(context, given, 1), argument(context, given, 2)]
  return from === null || to === null
    ? null
    : count(momentOf(textOfValue(to))) - count(momentOf(textOfValue(from)))
}

function datePart(context: Context, given: Arguments): Value {
  atMost(given, 2)
  const part = intervalOf<(moment: number) => number>('DatePart', argument(context, given, 0), parts)
  const value = argument(context, given, 1)
  return value === null ? null : part(momentOf(textOfValue(value)))
}

/** DATESERIAL(year, month, day): months and days beyond a year or month count on, as in VBA. */
function dateSerial(context: Context, given: Arguments): Value {
  atMost(given, 3)
  const [year = 0, month = 0, day = 0] = [0, 1, 2].map((index) =>
    Math.trunc(numberOf(argument(context, given, index))),
  )
  const moment = momentOfDay(year, month, day)
  return year < 100 || !(moment >= momentOfDay(100, 1, 1) && moment < endMoment)
    ? refuseMdx('DateSerial gives dates of the years 100 to 9999')
    : dayText(moment)
}

/** FORMAT(value [, picture]): a number by a picture of digits, a date by one of days, months and years. */
function format(context: Context, given: Arguments): Value {
  atMost(given, 2)
  const value = argument(context, given, 0)
  const picture = given.expressions[1] === undefined ? '' : textOfValue(argument(context, given, 1))
  if (value === null) return ''
  if (picture === '') return textOfValue(value)
  if (typeof value === 'string' && dayPattern.test(value)) return formatDate(momentOf(value), picture)
  if (typeof value === 'string' && (picture === '>' || picture === '<'))
    return picture === '>' ? value.toUpperCase() : value.toLowerCase()
  if (typeof value === 'boolean' || !isNumberFormat(picture))
    return refuseMdx('Format takes a picture of digits for a number, and one of days for a date')
  return formatValue(numberOf(value), picture)
}

export const dateFunctions = {
  NOW: ofNow(timeText),
  DATE: ofNow(dayText),
  YEAR: ofDate(parts.yyyy),
  MONTH: ofDate(parts.m),
  DAY: ofDate(parts.d),
  HOUR: ofDate(parts.h),
  MINUTE: ofDate(parts.n),
  SECOND: ofDate(parts.s),
  WEEKDAY: ofDate(parts.w),
  DATEADD: (context, given) => aValue(dateAdd(context, given)),
  DATEDIFF: (context, given) => aValue(dateDiff(context, given)),
  DATEPART: (context, given) => aValue(datePart(context, given)),
  DATESERIAL: (context, given) => aValue(dateSerial(context, given)),
  FORMAT: (context, given) => aValue(format(context, given)),
} satisfies Record<string, RunFunction>
