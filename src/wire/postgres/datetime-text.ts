/** Writes dates, times and timestamps as PostgreSQL does with DateStyle ISO. */

import { writeAscii, writeDigits, writeInteger } from './decimal-text.ts'
import { ValueError } from './value-error.ts'

const microsPerDay = 86_400_000_000
/** Bounds of PostgreSQL's `date` in days since 1970-01-01: from Julian day 0 to the end of the year 5874897. */
const dateMin = -2_440_588
const dateEnd = 2_145_042_906
/** The least `timestamp`, Julian day 0, in microseconds since 1970. */
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

/** The most bytes that a date, time or timestamp takes. */
export const datetimeRoom = 40

/**
 * Writes a date, infinities included.
 * @returns the index behind it, as all writers in this file do
 * @throws ValueError 22008 for a date out of range
 */
export function writeDate(view: DataView, at: number, day: number): number {
  if (day === infinityDay) return writeAscii(view, at, 'infinity')
  if (day === minusInfinityDay) return writeAscii(view, at, '-infinity')
  checkDay(day)
  const end = writeCivil(view, at, day)
  return day < christDay ? writeAscii(view, end, ' BC') : end
}

/**
 * Writes a timestamp whose microseconds since 1970 are exact as a number.
 * @param offset what stands behind the time, as `+00`
 */
export function writeTimestamp(view: DataView, at: number, micros: number, offset: string): number {
  const day = Math.floor(micros / microsPerDay)
  return writeDayAndTime(view, at, day, micros - day * microsPerDay, offset)
}

/** Writes any timestamp, infinities included. @throws ValueError 22008 for a timestamp out of range */
export function writeTimestampBig(view: DataView, at: number, micros: bigint, offset: string): number {
  if (micros === infinityMicros) return writeAscii(view, at, 'infinity')
  if (micros === minusInfinityMicros) return writeAscii(view, at, '-infinity')
  checkMicros(micros)
  const perDay = BigInt(microsPerDay)
  const within = ((micros % perDay) + perDay) % perDay
  return writeDayAndTime(view, at, Number((micros - within) / perDay), Number(within), offset)
}

const space = 0x20
const colon = 0x3a
const hyphen = 0x2d
const point = 0x2e
/** 0001-01-01. The day before is in 1 BC, because there is no year 0. */
const christDay = -719_162

function writeDayAndTime(view: DataView, at: number, day: number, micros: number, offset: string): number {
  let end = writeCivil(view, at, day)
  view.setUint8(end, space)
  end = writeTime(view, end + 1, micros)
  if (offset !== '') end = writeAscii(view, end, offset)
  return day < christDay ? writeAscii(view, end, ' BC') : end
}

/** Writes microseconds since midnight, or any non-negative span, as HH:MM:SS with its fraction. */
export function writeTime(view: DataView, at: number, micros: number): number {
  const seconds = Math.floor(micros / 1_000_000)
  const hours = Math.floor(seconds / 3600)
  let end = hours < 100 ? writeTwo(view, at, hours) : writeInteger(view, at, hours)
  const inHour = seconds - hours * 3600
  const minutes = (inHour / 60) | 0
  view.setUint8(end, colon)
  end = writeTwo(view, end + 1, minutes)
  view.setUint8(end, colon)
  end = writeTwo(view, end + 1, inHour - minutes * 60)
  let fraction = micros - seconds * 1_000_000
  if (fraction === 0) return end
  let width = 6
  while (fraction % 10 === 0) {
    fraction /= 10
    width--
  }
  view.setUint8(end, point)
  return writeDigits(view, end + 1, fraction, width)
}

/** The two digits of each number below 100 as one 16-bit word. */
const twoDigits = Int16Array.from({ length: 100 }, (_, value) =>
  Buffer.from(String(value).padStart(2, '0'), 'latin1').readInt16BE(),
)

function writeTwo(view: DataView, at: number, value: number): number {
  view.setInt16(at, twoDigits[value] ?? 0)
  return at + 2
}

/** Writes year, month and day of a day since 1970 (Hinnant, chrono-compatible low-level date algorithms). */
function writeCivil(view: DataView, at: number, day: number): number {
  const shifted = day + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = (shifted - era * 146_097) | 0
  const leapless = dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)
  const yearOfEra = (leapless / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0))
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const shown = year > 0 ? year : 1 - year
  let end = shown < 10_000 ? writeDigits(view, at, shown, 4) : writeInteger(view, at, shown)
  view.setUint8(end, hyphen)
  end = writeTwo(view, end + 1, month)
  view.setUint8(end, hyphen)
  return writeTwo(view, end + 1, dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1)
}
