/** Parses single values of Trino's JSON encoding into the numbers of core/result-batch.ts. */

import { EngineError } from '../engine-error.ts'
import { protocolError } from './failure.ts'

const microsPerDay = 86_400_000_000n

/** Days since 1970-01-01, from `2024-02-29`, `-0044-03-15` (astronomical years) or `+12024-01-01`. */
export function parseDate(text: string): number {
  const match = /^([+-]?\d{4,9})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) throw malformed('date')
  return daysOf(Number(match[1]), Number(match[2]), Number(match[3]))
}

/** Microseconds since midnight, from `10:00:00.000001`. */
export function parseTime(text: string): bigint {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/.exec(text)
  if (match === null) throw malformed('time')
  return BigInt(microsOf(match[1], match[2], match[3], match[4]))
}

/** Microseconds since 1970-01-01 00:00, from `2024-02-29 10:00:00.000001`. */
export function parseTimestamp(text: string): bigint {
  const space = text.indexOf(' ')
  if (space < 0) throw malformed('timestamp')
  return BigInt(parseDate(text.slice(0, space))) * microsPerDay + parseTime(text.slice(space + 1))
}

/**
 * As {@link parseTimestamp}, with a zone: `UTC` or an offset. Other zones are refused, because a local time there can
 * mean two instants. Trino's session and the emitted SQL use UTC.
 */
export function parseTimestampWithZone(text: string): bigint {
  const space = text.lastIndexOf(' ')
  const zone = text.slice(space + 1)
  const local = parseTimestamp(text.slice(0, Math.max(space, 0)))
  if (zone === 'UTC') return local
  const offset = /^([+-])(\d\d):(\d\d)$/.exec(zone)
  if (offset === null) throw malformed('timestamp with time zone')
  const minutes = BigInt(Number(offset[2]) * 60 + Number(offset[3]))
  return local - (offset[1] === '-' ? -minutes : minutes) * 60_000_000n
}

interface TrinoInterval {
  readonly months: number
  readonly days: number
  readonly micros: bigint
}

/** `1 02:03:04.567` (days and time) or `-1-2` (years and months). */
export function parseTrinoInterval(text: string): TrinoInterval {
  const time = /^(-?)(\d{1,9}) (\d\d):(\d\d):(\d\d)\.(\d{3})$/.exec(text)
  if (time !== null) {
    const sign = time[1] === '-' ? -1 : 1
    return {
      months: 0,
      // Adding 0 turns -0 into 0.
      days: sign * Number(time[2]) + 0,
      micros: BigInt(sign * microsOf(time[3], time[4], time[5], time[6])),
    }
  }
  const months = /^(-?)(\d{1,8})-(\d{1,2})$/.exec(text)
  if (months === null) throw malformed('interval')
  const count = Number(months[2]) * 12 + Number(months[3])
  return { months: months[1] === '-' ? -count + 0 : count, days: 0, micros: 0n }
}

/**
 * A decimal's unscaled value: `12.50` is 1250n at the scale 2, and 12500n at the scale 3.
 * @throws EngineError where the text has more digits after the point than the scale
 */
export function parseDecimal(text: string, scale: number): bigint {
  const match = /^(-?\d{1,38})(?:\.(\d{1,38}))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  if (match === null || fraction.length > scale) throw malformed('decimal')
  return BigInt(`${match[1]}${fraction.padEnd(scale, '0')}`)
}

const significantDigits = 15
/** Above the scale of any numeric of the engines. */
const scaleMax = 300

/** The digits after the point that a double needs at 15 significant digits. */
export function doubleScale(value: number): number {
  const [digits = '', exponent = ''] = exponential(value)
  return Math.min(scaleMax, Math.max(0, digits.length - 1 - Number(exponent)))
}

/** A double's unscaled value at 15 significant digits. @param scale at least {@link doubleScale} of the value */
export function doubleDecimal(value: number, scale: number): bigint {
  const [digits = '', exponent = ''] = exponential(value)
  const zeros = Number(exponent) + scale - (digits.length - 1)
  const magnitude = zeros >= 0 ? BigInt(digits) * 10n ** BigInt(zeros) : 0n
  return value < 0 ? -magnitude : magnitude
}

/** Significant digits without trailing zeros, and the exponent of the first one. */
function exponential(value: number): readonly [digits: string, exponent: string] {
  if (!Number.isFinite(value)) throw new EngineError('22003', 'numeric value out of range')
  const [mantissa = '', exponent = ''] = Math.abs(value)
    .toExponential(significantDigits - 1)
    .split('e')
  return [mantissa.replace('.', '').replace(/0+$/, '') || '0', exponent]
}

function microsOf(hours = '', minutes = '', seconds = '', fraction = ''): number {
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)]
  if (hour > 23 || minute > 59 || second > 59) throw malformed('time')
  return (hour * 3600 + minute * 60 + second) * 1_000_000 + Number(fraction.padEnd(6, '0'))
}

const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Days since 1970-01-01 in the proleptic Gregorian calendar. Not by Date, which ends in the year 275760. */
function daysOf(year: number, month: number, day: number): number {
  if (month < 1 || month > 12 || day < 1 || day > (monthDays[month - 1] ?? 0)) throw malformed('date')
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  const days = era * 146_097 + dayOfEra - 719_468
  // The least and greatest int32 stand for the infinities.
  if (days <= -(2 ** 31) || days >= 2 ** 31 - 1) throw new EngineError('22008', 'date out of range')
  return days
}

function malformed(type: string): EngineError {
  return protocolError(`a value is not a valid ${type}`)
}
