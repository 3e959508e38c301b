/** Writes intervals as PostgreSQL does, in each of its interval styles. */

import { infinityDay, infinityMicros, minusInfinityDay, minusInfinityMicros } from './datetime-text.ts'

/** The values of PostgreSQL's setting `intervalstyle`. */
export const intervalStyles = ['postgres', 'postgres_verbose', 'sql_standard', 'iso_8601'] as const
export type IntervalStyle = (typeof intervalStyles)[number]

/** An interval in the fields that are shown. All fields of one origin (months, days, time) have its sign. */
interface Fields {
  readonly years: number
  readonly months: number
  readonly days: number
  readonly hours: number
  readonly minutes: number
  readonly seconds: number
  /** Below a million. */
  readonly micros: number
  /** The sign of the time, also where its seconds are zero. */
  readonly isTimeNegative: boolean
  readonly hasTime: boolean
}

/** An interval, infinities included. @param micros from a bigint, because a number is exact to 285 years only */
export function intervalText(
  months: number,
  days: number,
  micros: bigint,
  style: IntervalStyle = 'postgres',
): string {
  if (months === infinityDay && days === infinityDay && micros === infinityMicros) return 'infinity'
  if (months === minusInfinityDay && days === minusInfinityDay && micros === minusInfinityMicros)
    return '-infinity'
  return writers[style](fieldsOf(months, days, micros))
}

const writers = {
  postgres: postgresText,
  postgres_verbose: verboseText,
  sql_standard: standardText,
  iso_8601: isoText,
} as const satisfies Record<IntervalStyle, (fields: Fields) => string>

function fieldsOf(months: number, days: number, micros: bigint): Fields {
  const whole = Number(micros / 1_000_000n)
  return {
    years: Math.trunc(months / 12),
    months: months % 12,
    days,
    hours: Math.trunc(whole / 3600),
    minutes: Math.trunc(whole / 60) % 60,
    seconds: whole % 60,
    micros: Number(micros % 1_000_000n),
    isTimeNegative: micros < 0n,
    hasTime: micros !== 0n,
  }
}

/** A sign only where the part before has the other one: `-1 days +02:03:04`. */
function postgresText({ years, months, days, isTimeNegative, hasTime, ...time }: Fields): string {
  const parts: string[] = []
  let isNegativeBefore = false
  const part = (value: number, unit: string) => {
    if (value === 0) return
    const sign = isNegativeBefore && value > 0 ? '+' : ''
    parts.push(`${sign}${value} ${unit}${value === 1 ? '' : 's'}`)
    isNegativeBefore = value < 0
  }
  part(years, 'year')
  part(months, 'mon')
  part(days, 'day')
  if (parts.length > 0 && !hasTime) return parts.join(' ')
  const sign = isTimeNegative ? '-' : isNegativeBefore ? '+' : ''
  const { hours, minutes } = time
  return [...parts, `${sign}${two(hours)}:${two(minutes)}:${secondsText(time, 2)}`].join(' ')
}

/** The sign of the first part is told once, by `ago`; the parts after it show where they differ: `@ 1 day -2 hours ago`. */
function verboseText(fields: Fields): string {
  const { years, months, days, hours, minutes, seconds, micros, isTimeNegative } = fields
  const parts: string[] = []
  let isAgo = false
  const part = (value: number, unit: string) => {
    if (value === 0) return
    if (parts.length === 0) isAgo = value < 0
    const shown = isAgo ? -value : value
    parts.push(`${shown} ${unit}${shown === 1 ? '' : 's'}`)
  }
  part(years, 'year')
  part(months, 'mon')
  part(days, 'day')
  part(hours, 'hour')
  part(minutes, 'min')
  if (seconds !== 0 || micros !== 0) {
    if (parts.length === 0) isAgo = isTimeNegative
    const sign = isTimeNegative === isAgo ? '' : '-'
    const unit = Math.abs(seconds) !== 1 || micros !== 0 ? 'secs' : 'sec'
    parts.push(`${sign}${secondsText(fields, 1)} ${unit}`)
  }
  return `@ ${parts.length === 0 ? '0' : parts.join(' ')}${isAgo ? ' ago' : ''}`
}

/** The standard has intervals of years and months, or of days and time, with one sign. All others show every sign. */
function standardText(fields: Fields): string {
  const { years, months, days, isTimeNegative, hasTime } = fields
  const isNegative = [years, months, days].some((value) => value < 0) || isTimeNegative
  const isPositive = [years, months, days].some((value) => value > 0) || (hasTime && !isTimeNegative)
  if (!isNegative && !isPositive) return '0'
  const yearMonth = `${Math.abs(years)}-${Math.abs(months)}`
  const time = `${Math.abs(fields.hours)}:${two(fields.minutes)}:${secondsText(fields, 2)}`
  const hasMonths = years !== 0 || months !== 0
  if ((isNegative && isPositive) || (hasMonths && (days !== 0 || hasTime))) {
    const signOf = (isMinus: boolean) => (isMinus ? '-' : '+')
    return [
      `${signOf(years < 0 || months < 0)}${yearMonth}`,
      `${signOf(days < 0)}${Math.abs(days)}`,
      `${signOf(isTimeNegative)}${time}`,
    ].join(' ')
  }
  const text = hasMonths ? yearMonth : days !== 0 ? `${Math.abs(days)} ${time}` : time
  return isNegative ? `-${text}` : text
}

function isoText(fields: Fields): string {
  const { years, months, days, hours, minutes, seconds, micros, isTimeNegative, hasTime } = fields
  const part = (value: number, unit: string) => (value === 0 ? '' : `${value}${unit}`)
  const date = `${part(years, 'Y')}${part(months, 'M')}${part(days, 'D')}`
  if (!hasTime) return date === '' ? 'PT0S' : `P${date}`
  const sign = isTimeNegative ? '-' : ''
  const rest = seconds === 0 && micros === 0 ? '' : `${sign}${secondsText(fields, 1)}S`
  return `P${date}T${part(hours, 'H')}${part(minutes, 'M')}${rest}`
}

const two = (value: number) => String(Math.abs(value)).padStart(2, '0')

/** Seconds without a sign, and their fraction without trailing zeros. @param digits the fewest before the point */
function secondsText({ seconds, micros }: Pick<Fields, 'seconds' | 'micros'>, digits: number): string {
  const whole = String(Math.abs(seconds)).padStart(digits, '0')
  const fraction = String(Math.abs(micros)).padStart(6, '0').replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
