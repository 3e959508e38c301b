/** What a number means as a count of rows: PostgreSQL rounds it to a bigint and refuses a negative one. */

import type { SqlType } from '../../../core/sql-type.ts'
import { SqlError } from './sql-error.ts'

/** The least and the greatest value of each integer type. */
export const integerRange = {
  int2: [-32_768n, 32_767n],
  int4: [-2_147_483_648n, 2_147_483_647n],
  int8: [-9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n],
} as const

const sqlStates = { LIMIT: '2201W', OFFSET: '2201X' } as const

/** The digits, if they are a count. @throws SqlError 2201W or 2201X for a negative one */
export function notNegative(digits: string, clause: keyof typeof sqlStates): string {
  if (!digits.startsWith('-')) return digits
  throw new SqlError(sqlStates[clause], `${clause} must not be negative`)
}

/**
 * A number in PostgreSQL's text form as a bigint: numeric rounds halves away from zero, floating point to even.
 * @throws SqlError 22003 where it is none
 */
export function roundedCount(text: string, type: SqlType): string {
  const rounded = /^-?\d+$/.test(text)
    ? BigInt(text)
    : type === 'numeric'
      ? roundedNumeric(text)
      : roundedFloat(text)
  const [least, greatest] = integerRange.int8
  if (rounded === undefined || rounded < least || rounded > greatest)
    throw new SqlError('22003', 'bigint out of range')
  return String(rounded)
}

function roundedNumeric(text: string): bigint | undefined {
  const match = /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent)
  if (Math.abs(shift) > 1_000) return undefined
  const digits = shift >= 0 ? whole + fraction.padEnd(shift, '0') : whole.padStart(-shift + 1, '0') + fraction
  const point = shift >= 0 ? whole.length + shift : Math.max(whole.length, -shift + 1) + shift
  const count = BigInt(digits.slice(0, point) || '0') + (Number(digits[point] ?? '0') >= 5 ? 1n : 0n)
  return sign === '-' ? -count : count
}

function roundedFloat(text: string): bigint | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return undefined
  const floor = Math.floor(value)
  const isHalf = value - floor === 0.5
  return BigInt(isHalf ? (floor % 2 === 0 ? floor : floor + 1) : Math.round(value))
}
