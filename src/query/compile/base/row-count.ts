/** What a number means as a count of rows: PostgreSQL rounds it to a bigint and refuses a negative one. */

import type { SqlType } from '../../../core/sql-type.ts'
import { integerRange } from './literal.ts'
import { SqlError } from './sql-error.ts'

const sqlStates = { LIMIT: '2201W', OFFSET: '2201X' } as const

/** The digits, if they are a count. @throws SqlError 2201W or 2201X for a negative one */
export function notNegative(digits: string, clause: keyof typeof sqlStates): string {
  if (!digits.startsWith('-')) return digits
  throw new SqlError(sqlStates[clause], `${clause} must not be negative`)
}

/**
 * A number in the form of `readLiteral` as a bigint: numeric rounds halves away from zero, floating point to even.
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

function roundedNumeric(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const count = BigInt(whole) + (fraction >= '5' ? 1n : 0n)
  return text.startsWith('-') ? -count : count
}

function roundedFloat(text: string): bigint | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return undefined
  const floor = Math.floor(value)
  const isHalf = value - floor === 0.5
  return BigInt(isHalf ? (floor % 2 === 0 ? floor : floor + 1) : Math.round(value))
}
