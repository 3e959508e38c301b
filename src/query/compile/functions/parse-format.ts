/**
 * Reads text by a literal pattern: to_timestamp, to_date and to_number. One regular expression reads literals here and
 * columns in DuckDB. It is stricter than PostgreSQL: what it does not expect is an error, where PostgreSQL may guess.
 */

import { quoteText } from '../../../base/sql-text.ts'
import type { TemplateCall } from '../base/function-definition.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'

type FieldName =
  | 'year'
  | 'shortYear'
  | 'month'
  | 'monthName'
  | 'day'
  | 'hour'
  | 'hour12'
  | 'minute'
  | 'second'
type Field = FieldName | 'ms' | 'us' | 'half'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthNames = 'january|february|march|april|may|june|july|august|september|october|november|december'

/** PostgreSQL's patterns (manual, 9.8), a longer name before its prefix: the field, and digits or alternatives. */
const patterns: readonly (readonly [string, Field, number | string])[] = [
  ['YYYY', 'year', 4],
  ['YY', 'shortYear', 2],
  ['MONTH', 'monthName', monthNames],
  ['MON', 'monthName', months.join('|')],
  ['MM', 'month', 2],
  ['DD', 'day', 2],
  ['HH24', 'hour', 2],
  ['HH12', 'hour12', 2],
  ['HH', 'hour12', 2],
  ['MI', 'minute', 2],
  ['MS', 'ms', 3],
  ['US', 'us', 6],
  ['SS', 'second', 2],
  ['AM', 'half', 'am|pm'],
  ['PM', 'half', 'am|pm'],
]
/** Digits that are a fraction of a second, or the two of a year, count by their places. */
const placed: ReadonlySet<Field> = new Set(['shortYear', 'ms', 'us'])

const separator = String.raw`[\s!-/:-@\[-\x60{-~]`

interface TimePattern {
  readonly regex: string
  /** The fields by their groups. */
  readonly fields: readonly Field[]
}

type Token = { readonly text: string } | { readonly field: Field; readonly form: number | string }

function tokensOf(pattern: string): readonly Token[] {
  const out: Token[] = []
  let rest = pattern
  while (rest !== '') {
    const quoted = /^"([^"]*)"/.exec(rest)
    const upper = rest.toUpperCase()
    const found = patterns.find(([name]) => upper.startsWith(name))
    const plain = /^[\s!#-/:-@[\]-`{-~]/.exec(rest)?.[0]
    if (quoted) {
      for (const _ of quoted[1] ?? '') out.push({ text: '.' })
      rest = rest.slice(quoted[0].length)
    } else if (found && !/^(TH|SP)/.test(upper.slice(found[0].length))) {
      out.push({ field: found[1], form: found[2] })
      rest = rest.slice(found[0].length)
    } else if (plain !== undefined) {
      out.push({ text: separator })
      rest = rest.slice(1)
    } else throw notSupported('This pattern of to_timestamp or to_date')
  }
  return out
}

/** @throws SqlError 0A000 for what the pattern may not hold */
function timePattern(pattern: string): TimePattern {
  const tokens = tokensOf(pattern)
  const fields = tokens.flatMap((token) => ('field' in token ? [token.field] : []))
  const has = (field: Field) => fields.includes(field)
  const isTwice = fields.some((field, index) => fields.indexOf(field) !== index)
  const clocks = ['hour', 'hour12'] as const
  if (isTwice || (has('year') && has('shortYear')) || (has('month') && has('monthName')))
    throw notSupported('A pattern that holds a field twice')
  if (!has('year') && !has('shortYear')) throw notSupported('A pattern without a year')
  if (clocks.every(has) || has('hour12') !== has('half') || (has('ms') && has('us')))
    throw notSupported('This pattern of an hour or a fraction of a second')
  const regex = tokens.map((token, index) => {
    if ('text' in token) return token.text
    const { field, form } = token
    if (typeof form === 'string') return `\\s*(${form})`
    const next = tokens[index + 1]
    const isFixed = next !== undefined && 'field' in next && typeof next.form === 'number'
    if (isFixed) return `\\s*(\\d{${form}})`
    const end = next === undefined ? '(?:\\D|$)' : ''
    return placed.has(field) ? `\\s*(\\d{1,${form}})${end}` : `\\s*(\\d{1,9})${end}`
  })
  return { regex: `^${regex.join('')}`, fields }
}

const outOfRange = 'date/time field value out of range'
const noMatch = 'the text does not match the pattern'
const noNumber = 'the text does not match the pattern of a number'

/**
 * A literal read by a pattern, as a timestamp in UTC.
 * @throws SqlError 22007, 22008 for text that does not match or is no time; 0A000 for the pattern
 */
export function readTime(text: string, pattern: string): string {
  const { regex, fields } = timePattern(pattern)
  const found = new RegExp(regex, 'is').exec(text)
  if (found === null) throw new SqlError('22007', noMatch)
  const textOf = (field: Field) => {
    const at = fields.indexOf(field)
    return at < 0 ? undefined : found[at + 1]
  }
  const numberOf = (field: Field, without: number) => Number(textOf(field) ?? without)
  const short = numberOf('shortYear', 0)
  const year = fields.includes('year') ? numberOf('year', 0) : short + (short < 70 ? 2000 : 1900)
  const name = textOf('monthName')?.slice(0, 3).toLowerCase()
  const month = name === undefined ? numberOf('month', 1) : months.indexOf(name) + 1
  const hour12 = numberOf('hour12', 12)
  if (fields.includes('hour12') && (hour12 < 1 || hour12 > 12))
    throw new SqlError('22007', `hour "${hour12}" is invalid for the 12-hour clock`)
  const half = textOf('half')?.toLowerCase() === 'pm' ? 12 : 0
  const hour = fields.includes('hour') ? numberOf('hour', 0) : (hour12 % 12) + half
  const [day, minute, second] = [numberOf('day', 1), numberOf('minute', 0), numberOf('second', 0)]
  const fraction = (textOf('us') ?? textOf('ms') ?? '').padEnd(6, '0')
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const isDate = year >= 1 && date.getUTCFullYear() === year && date.getUTCMonth() === month - 1
  if (!isDate || hour > 23 || minute > 59 || second > 59) throw new SqlError('22008', outOfRange)
  const clock = [hour, minute, second].map((each) => String(each).padStart(2, '0')).join(':')
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')} ${clock}.${fraction}`
}

/** SQL for DuckDB of the timestamp that a text gives. The text is written once, because it may be long. */
export function timeSql([text = '']: readonly string[], { literals }: TemplateCall): string {
  const { regex, fields } = timePattern(literals[1] ?? '')
  const written = quoteText(`(?is)${regex}`)
  const textOf = (field: Field) => `regexp_extract(s, ${written}, ${fields.indexOf(field) + 1})`
  const numberOf = (field: Field, without: number) =>
    fields.includes(field) ? `CAST(${textOf(field)} AS INTEGER)` : String(without)
  const short = numberOf('shortYear', 0)
  const year = fields.includes('year')
    ? numberOf('year', 0)
    : `(${short} + CASE WHEN ${short} < 70 THEN 2000 ELSE 1900 END)`
  const name = `list_position([${months.map(quoteText).join(', ')}], left(lower(${textOf('monthName')}), 3))`
  const month = fields.includes('monthName') ? `CAST(${name} AS INTEGER)` : numberOf('month', 1)
  const half = `CASE WHEN lower(${textOf('half')}) = 'pm' THEN 12 ELSE 0 END`
  const twelve = numberOf('hour12', 12)
  const hour = fields.includes('hour12') ? `(${twelve} % 12 + ${half})` : numberOf('hour', 0)
  const [minute, second] = [numberOf('minute', 0), numberOf('second', 0)]
  const us = fields.includes('us') ? textOf('us') : fields.includes('ms') ? textOf('ms') : `''`
  const micros = `CAST(rpad(${us}, 6, '0') AS INTEGER)`
  const clocks = [
    ...(fields.includes('hour12') ? [`${twelve} NOT BETWEEN 1 AND 12`] : [`${hour} > 23`]),
    `${minute} > 59`,
    `${second} > 59`,
    `${year} < 1`,
  ]
  const value = `make_timestamp(${year}, ${month}, ${numberOf('day', 1)}, ${hour}, ${minute}, 0) + to_microseconds(${second} * 1000000 + ${micros})`
  const read = `CASE WHEN s IS NULL THEN NULL WHEN NOT regexp_matches(s, ${written}) THEN error('${noMatch}') WHEN ${clocks.join(' OR ')} THEN error('${outOfRange}') ELSE ${value} END`
  return `list_extract(list_transform([${text}], lambda s: ${read}), 1)`
}

interface NumberPattern {
  readonly regex: RegExp
  readonly whole: number
  readonly fraction: number
}

/** @throws SqlError 0A000 for what the pattern may not hold */
function numberPattern(pattern: string): NumberPattern {
  const found = /^(?:FM)?(S|MI)?([$]?)([09,G]+)(?:([.D])([09]*))?(S|MI)?$/i.exec(pattern)
  if (found === null) throw notSupported('This pattern of to_number')
  const [, before, currency, digits = '', point, decimals = '', behind] = found
  const whole = digits.replace(/[,G]/gi, '').length
  const fraction = decimals.length
  if (whole + fraction > 38) throw notSupported('A pattern of more than 38 digits')
  const group = /[,G]/i.test(digits) ? '[\\d,]' : '\\d'
  const sign = before !== undefined || behind === undefined ? '([+-]?)' : '()'
  const regex = `^\\s*${sign}${currency === '' ? '' : '\\$?'}(\\d${group}*)${point === undefined ? '()' : '(?:\\.(\\d*))?'}${behind === undefined ? '()' : '([+-]?)'}\\s*$`
  return { regex: new RegExp(regex), whole, fraction }
}

/**
 * A literal read by a pattern of digits.
 * @throws SqlError 22P02 for text that does not match; 0A000 for the pattern
 */
export function readNumber(text: string, pattern: string): string {
  const { regex, whole, fraction } = numberPattern(pattern)
  const found = regex.exec(text)
  const digits = (found?.[2] ?? '').replaceAll(',', '')
  const decimals = found?.[3] ?? ''
  if (found === null || digits.length > whole || decimals.length > fraction)
    throw new SqlError('22P02', noNumber)
  const sign = [found[1], found[4]].includes('-') ? '-' : ''
  return `${sign}${digits}${fraction === 0 ? '' : `.${decimals.padEnd(fraction, '0')}`}`
}

/** SQL for DuckDB of the number that a text gives. */
export function numberSql([text = '']: readonly string[], { literals }: TemplateCall): string {
  const { regex, whole, fraction } = numberPattern(literals[1] ?? '')
  const written = quoteText(regex.source)
  const group = (index: number) => `regexp_extract(s, ${written}, ${index})`
  const digits = `replace(${group(2)}, ',', '')`
  const sign = `CASE WHEN ${group(1)} = '-' OR ${group(4)} = '-' THEN '-' ELSE '' END`
  const number = `CAST(${sign} || ${digits} || '.' || ${group(3)} || '0' AS DECIMAL(${whole + fraction},${fraction}))`
  const read = `CASE WHEN s IS NULL THEN NULL WHEN NOT regexp_matches(s, ${written}) OR length(${digits}) > ${whole} OR length(${group(3)}) > ${fraction} THEN error('${noNumber}') ELSE ${number} END`
  return `list_extract(list_transform([${text}], lambda s: ${read}), 1)`
}
