/** Dates, times and intervals as PostgreSQL prints them with DateStyle ISO and IntervalStyle postgres. */

import { writeDigits, writeInteger } from './decimal-text.ts'
import type { MessageWriter } from './message-writer.ts'
import { ValueError } from './value-error.ts'

const microsPerDay = 86_400_000_000
/** Days since 1970-01-01 that PostgreSQL's `date` can hold: from Julian day 0 to the end of 5874897. */
const dateMin = -2_440_588
const dateEnd = 2_145_042_906
/** Microseconds since 1970 at Julian day 0, the least `timestamp`. */
const timestampMin = -210_866_803_200_000_000n
export const infinityDay = 2_147_483_647
export const minusInfinityDay = -2_147_483_648
export const infinityMicros = 9_223_372_036_854_775_807n
export const minusInfinityMicros = -9_223_372_036_854_775_808n

/** @throws ValueError 22008 for a day that PostgreSQL's `date` cannot hold */
export function checkDay(day: number): void {
  if (day < dateMin || day >= dateEnd) throw new ValueError('22008', 'A date is out of range.')
}

/** @throws ValueError 22008 for microseconds since 1970 that `timestamp` cannot hold */
export function checkMicros(micros: bigint): void {
  if (micros < timestampMin) throw new ValueError('22008', 'A timestamp is out of range.')
}

/** Writes a date, infinities included. @throws ValueError 22008 */
export function writeDate(out: MessageWriter, day: number): void {
  if (day === infinityDay) out.ascii('infinity')
  else if (day === minusInfinityDay) out.ascii('-infinity')
  else {
    checkDay(day)
    if (writeCivil(out, day)) out.ascii(' BC')
  }
}

/** Writes a timestamp that is exact as a number of microseconds since 1970, in UTC. @throws ValueError 22008 */
export function writeTimestamp(out: MessageWriter, micros: number, zoned: boolean): void {
  const day = Math.floor(micros / microsPerDay)
  writeDayAndTime(out, day, micros - day * microsPerDay, zoned)
}

/** Writes any timestamp, infinities included. @throws ValueError 22008 */
export function writeTimestampBig(out: MessageWriter, micros: bigint, zoned: boolean): void {
  if (micros === infinityMicros) out.ascii('infinity')
  else if (micros === minusInfinityMicros) out.ascii('-infinity')
  else {
    checkMicros(micros)
    const perDay = BigInt(microsPerDay)
    const within = ((micros % perDay) + perDay) % perDay
    writeDayAndTime(out, Number((micros - within) / perDay), Number(within), zoned)
  }
}

function writeDayAndTime(out: MessageWriter, day: number, micros: number, zoned: boolean): void {
  const beforeChrist = writeCivil(out, day)
  out.byte(0x20)
  writeTime(out, micros)
  if (zoned) out.ascii('+00')
  if (beforeChrist) out.ascii(' BC')
}

/** Writes microseconds since midnight, or any span that is not negative, as HH:MM:SS with its fraction. */
export function writeTime(out: MessageWriter, micros: number): void {
  const seconds = Math.floor(micros / 1_000_000)
  const hours = Math.floor(seconds / 3600)
  if (hours < 100) writeDigits(out, hours, 2)
  else writeInteger(out, hours)
  out.byte(0x3a)
  writeDigits(out, Math.floor(seconds / 60) % 60, 2)
  out.byte(0x3a)
  writeDigits(out, seconds % 60, 2)
  let fraction = micros - seconds * 1_000_000
  if (fraction === 0) return
  let width = 6
  while (fraction % 10 === 0) {
    fraction /= 10
    width--
  }
  out.byte(0x2e)
  writeDigits(out, fraction, width)
}

/**
 * Writes year, month and day of a day since 1970 (Hinnant, chrono-compatible low-level date algorithms).
 * @returns whether the year is before Christ
 */
function writeCivil(out: MessageWriter, day: number): boolean {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  // There is no year 0: 1 BC is the astronomers' 0.
  const shown = year > 0 ? year : 1 - year
  if (shown < 10_000) writeDigits(out, shown, 4)
  else writeInteger(out, shown)
  out.byte(0x2d)
  writeDigits(out, month, 2)
  out.byte(0x2d)
  writeDigits(out, dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1, 2)
  return year <= 0
}

/** Writes an interval, infinities included. */
export function writeInterval(out: MessageWriter, months: number, days: number, micros: bigint): void {
  if (months === infinityDay && days === infinityDay && micros === infinityMicros) {
    out.ascii('infinity')
    return
  }
  if (months === minusInfinityDay && days === minusInfinityDay && micros === minusInfinityMicros) {
    out.ascii('-infinity')
    return
  }
  let first = true
  let negativeBefore = false
  const part = (value: number, unit: string) => {
    if (value === 0) return
    const sign = negativeBefore && value > 0 ? '+' : ''
    out.ascii(`${first ? '' : ' '}${sign}${value} ${unit}${value === 1 ? '' : 's'}`)
    first = false
    negativeBefore = value < 0
  }
  part(Math.trunc(months / 12), 'year')
  part(months % 12, 'mon')
  part(days, 'day')
  if (!first && micros === 0n) return
  if (!first) out.byte(0x20)
  if (micros < 0n) out.byte(0x2d)
  else if (negativeBefore) out.byte(0x2b)
  writeSpan(out, micros < 0n ? -micros : micros)
}

/** Beyond 2^53 microseconds (285 years in hours) a number would lose the last digits. */
function writeSpan(out: MessageWriter, micros: bigint): void {
  if (micros <= BigInt(Number.MAX_SAFE_INTEGER)) writeTime(out, Number(micros))
  else {
    const hours = micros / 3_600_000_000n
    out.ascii(hours.toString())
    const rest = out.length
    writeTime(out, Number(micros % 3_600_000_000n))
    // Without the two zeros of its own hours.
    out.bytes.copyWithin(rest, rest + 2, out.length)
    out.length -= 2
  }
}
