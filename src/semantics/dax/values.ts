/**
 * The values of DAX: BLANK, texts, numbers, truth values and dates, how they compare, and how they are made from rows and
 * written as keys. Texts that differ in case are different values, as in SQL.
 */

import type { SqlType } from '../../core/sql-type.ts'
import type { DaxOperator } from '../../wire/dax/ast.ts'
import { daxBounds, refuseDax } from '../../wire/dax/tokens.ts'
import { momentOfDay } from '../cube/periods.ts'
import { exceeds } from './bounds.ts'

export interface DaxDate {
  /** Since 1970 in UTC. */
  readonly ms: number
  /** In PostgreSQL's form. */
  readonly text: string
}

/** Undefined is BLANK. */
export type DaxValue = undefined | string | number | bigint | boolean | DaxDate

/** The type of a column. `variant`: what its values say. */
export type DaxType = 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'variant'

const typeOf: Partial<Record<SqlType, DaxType>> = {
  bool: 'boolean',
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  numeric: 'number',
  float4: 'number',
  float8: 'number',
  date: 'date',
  timestamp: 'date',
  timestamptz: 'date',
}

/** The type in which clients see values of a SQL type; text for one that DAX does not have. */
export function daxTypeOf(type: SqlType): DaxType {
  return typeOf[type] ?? 'text'
}

/** Whether a value is a date. */
export const isDate = (value: DaxValue): value is DaxDate => typeof value === 'object'

/** Day 0 of DAX, which BLANK is as a date. */
const zeroMs = Date.UTC(1899, 11, 30)
const dayMs = 86_400_000

/** A date from its text in PostgreSQL's form. One that clients cannot hold, such as infinity, is before or after all. */
export function dateFromText(text: string): DaxDate {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] =
    /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(\.\d+)?)?(?:\+00(?::00)?|Z)?$/.exec(text) ?? []
  if (year === undefined)
    return { ms: /^-|BC$/.test(text) ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY, text }
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second)
  const inDay = seconds * 1_000 + Math.floor(Number(`0${fraction}`) * 1_000)
  return { ms: momentOfDay(Number(year), Number(month), Number(day)) + inDay, text }
}

/** A date from milliseconds. @throws Fault `bad_request` beyond the calendar */
export function dateFromMs(ms: number): DaxDate {
  const date = new Date(ms)
  const year = Number.isNaN(date.getTime()) ? 0 : date.getUTCFullYear()
  if (year < 1 || year > 9_999) refuseDax('a date is out of range')
  const text = date.toISOString()
  const isDay = ms % dayMs === 0
  return { ms, text: isDay ? text.slice(0, 10) : text.slice(0, 23).replace('T', ' ').replace('.000', '') }
}

/** The number that a value is in arithmetic. @throws Fault `bad_request` for a text that is none */
export function numberOf(value: DaxValue): number {
  switch (typeof value) {
    case 'undefined':
      return 0
    case 'number':
      return value
    case 'bigint':
    case 'boolean':
      return Number(value)
    case 'object':
      return (value.ms - zeroMs) / dayMs
    case 'string': {
      const found = value.trim() === '' ? Number.NaN : Number(value)
      return Number.isNaN(found) ? refuseDax('a text is used as a number') : found
    }
  }
}

/** The date of a number of days since day 0. */
export const dateOfNumber = (days: number): DaxDate => dateFromMs(Math.round(zeroMs + days * dayMs))

/** The text that a value is in concatenation. */
export function textOfValue(value: DaxValue): string {
  if (value === undefined) return ''
  if (isDate(value)) return value.text
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value)
}

/** Two values as one text. @throws Fault `unprocessable` for one that is too long */
export function joinTexts(one: DaxValue, other: DaxValue): string {
  const joined = textOfValue(one) + textOfValue(other)
  if (joined.length > daxBounds.textCharsMax)
    exceeds(`a text that is made has at most ${daxBounds.textCharsMax} characters`)
  return joined
}

/** @throws Fault `bad_request` for a text */
export function truthOf(value: DaxValue): boolean {
  return typeof value === 'string' ? refuseDax('a text is used as a truth value') : numberOf(value) !== 0
}

/** What tells values apart as members of groups: BLANK is a value of its own. */
export function identityOfValue(value: DaxValue): string {
  switch (typeof value) {
    case 'undefined':
      return '_'
    case 'object':
      // Of less than a millisecond, and of infinities, the text tells.
      return Number.isFinite(value.ms) && value.text.length < 23 ? `d${value.ms}` : `d${value.text}`
    case 'boolean':
      return value ? 'T' : 'F'
    case 'string':
      return `s${value.length}:${value}`
    default:
      return `n${value}`
  }
}

/** What tells rows apart. */
export function identityOfRow(row: readonly DaxValue[]): string {
  const identity = row.map(identityOfValue).join('|')
  // Many are held at once, while long values may be held once for all rows.
  return identity.length <= identityCharsMax
    ? identity
    : `#${new Bun.CryptoHasher('sha256').update(identity).digest('base64')}`
}

const identityCharsMax = 256

function rank(value: DaxValue): number {
  return value === undefined ? 0 : typeof value === 'string' ? 2 : typeof value === 'boolean' ? 3 : 1
}

/** The order of ORDER BY and TOPN: BLANK first, then numbers and dates, texts, truth values. */
export function compareForOrder(one: DaxValue, other: DaxValue): number {
  const byRank = rank(one) - rank(other)
  return byRank === 0 ? compareAlike(one, other) : byRank
}

function compareAlike(one: DaxValue, other: DaxValue): number {
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : Number(one > other)
  if (typeof one === 'bigint' && typeof other === 'bigint') return one < other ? -1 : Number(one > other)
  const [left, right] = [numberOf(one), numberOf(other)]
  return left < right ? -1 : Number(left > right)
}

/**
 * The order of `<` and `=`, where BLANK is 0, the empty text, or false.
 * @throws Fault `bad_request` for a text beside a number
 */
export function compareValues(one: DaxValue, other: DaxValue): number {
  const isText = typeof one === 'string' || typeof other === 'string'
  if (!isText) return compareAlike(one, other)
  if ([one, other].some((value) => value !== undefined && typeof value !== 'string'))
    return refuseDax('a text is compared with a value of another type')
  return compareAlike(one ?? '', other ?? '')
}

/** Whether a comparison holds of two values of this order. */
export const comparisons: Partial<Record<DaxOperator, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

/** A value as a key of a column of that type, in PostgreSQL's form; undefined where the column has no such value. */
export function keyOfValue(value: DaxValue, type: SqlType): string | null | undefined {
  if (value === undefined) return null
  const wanted = daxTypeOf(type)
  if (wanted === 'text') return typeof value === 'string' ? value : undefined
  if (wanted === 'boolean') return typeof value === 'boolean' ? String(value) : undefined
  if (wanted === 'date') {
    const date = isDate(value) ? value : typeof value === 'number' ? dateOfNumber(value) : undefined
    if (date === undefined || type !== 'date') return date?.text
    return date.ms % dayMs === 0 ? date.text.slice(0, 10) : undefined
  }
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return wanted === 'integer' && !Number.isSafeInteger(value) ? undefined : String(value)
}
