/** Reads literal text as a type, as PostgreSQL's input functions do, into the canonical form for emitters. */

import { elementOf, isArray, type NumericSize, type SqlType } from '../../../core/sql-type.ts'
import { parseIntervalLiteral } from './interval.ts'
import { notSupported, SqlError } from './sql-error.ts'
import { spokenType } from './types.ts'

/** The least and the greatest value of each integer type. */
export const integerRange = {
  int2: [-(2n ** 15n), 2n ** 15n - 1n],
  int4: [-(2n ** 31n), 2n ** 31n - 1n],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
} as const

/** Digits that every engine's decimal can hold. */
const decimalDigitsMax = 38

/**
 * Checks a literal and returns its canonical form.
 *
 * @param type not `unknown`
 * @throws SqlError 22P02, 22003, 22007, 22008 as PostgreSQL's; messages do not quote the value
 */
export function readLiteral(text: string, type: SqlType): string {
  if (isArray(type)) return JSON.stringify(readArray(text, type))
  const wrong = () => new SqlError('22P02', `invalid input syntax for type ${spokenType(type)}`)
  const value = text.trim()
  switch (type) {
    case 'text':
    case 'varchar':
    case 'unknown':
      return text
    case 'bool':
      return String(readBoolean(value, wrong))
    case 'int2':
    case 'int4':
    case 'int8': {
      if (!/^[+-]?\d{1,40}$/.test(value)) throw wrong()
      const number = BigInt(value.replace(/^\+/, ''))
      const [least, most] = integerRange[type]
      if (number < least || number > most)
        throw new SqlError('22003', `value is out of range for type ${spokenType(type)}`)
      return String(number)
    }
    case 'numeric': {
      if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(value)) throw wrong()
      return plainDecimal(value)
    }
    case 'float4':
    case 'float8':
      if (/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i.test(value)) return readFloat(value, type)
      if (/^(nan|[+-]?inf(inity)?)$/i.test(value))
        return /nan/i.test(value) ? 'NaN' : value.startsWith('-') ? '-Infinity' : 'Infinity'
      throw wrong()
    case 'date':
    case 'timestamp':
    case 'timestamptz':
    case 'time':
      return readTime(value, type)
    case 'interval': {
      const { months, days, micros } = parseIntervalLiteral(value)
      return `${months} ${days} ${micros}`
    }
    case 'uuid': {
      const hex = value
        .replace(/^\{|\}$/g, '')
        .replaceAll('-', '')
        .toLowerCase()
      if (!/^[0-9a-f]{32}$/.test(hex)) throw wrong()
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    }
    case 'bytea':
      return text.startsWith('\\x') ? readHex(text.slice(2)) : readEscaped(text, wrong)
    case 'json':
    case 'jsonb':
      try {
        JSON.parse(text)
      } catch {
        throw wrong()
      }
      return text
  }
}

/** Precision and scale of a canonical numeric literal; undefined where no engine's decimal can hold it. */
export function literalSize(value: string): NumericSize | undefined {
  const [whole = '', fraction = ''] = value.replace(/^-/, '').split('.')
  const precision = Math.max(whole.replace(/^0+/, '').length + fraction.length, 1)
  return precision > decimalDigitsMax ? undefined : [precision, fraction.length]
}

/** @throws SqlError 22003 for what is too large, or so small that it would be zero */
function readFloat(value: string, type: 'float4' | 'float8'): string {
  const number = type === 'float8' ? Number(value) : Math.fround(Number(value))
  const isLost = number === 0 && /[1-9]/.test(value.replace(/e.*$/i, ''))
  if (!Number.isFinite(number) || isLost)
    throw new SqlError('22003', `value is out of range for type ${spokenType(type)}`)
  // The double itself, because a real is rounded once where the engine reads it.
  return number === 0 && value.startsWith('-') ? '-0' : String(Number(value))
}

/** @returns lower-case digits. As in PostgreSQL, blanks stand between bytes, never inside of one */
function readHex(text: string): string {
  const runs = text.toLowerCase().split(/[ \n\t\r]/)
  const isOdd = (run: string) => run.length % 2 !== 0
  if (/[^0-9a-f]/.test(runs.join('')) || runs.slice(0, -1).some(isOdd))
    throw new SqlError('22023', 'invalid hexadecimal digit')
  if (isOdd(runs.at(-1) ?? '')) throw new SqlError('22023', 'invalid hexadecimal data: odd number of digits')
  return runs.join('')
}

/** The older form: a byte is written as three octal digits behind a backslash, a backslash as two of them. */
function readEscaped(text: string, wrong: () => SqlError): string {
  const escaping = /\\(\\|[0-3][0-7]{2})/g
  if (text.replaceAll(escaping, '').includes('\\')) throw wrong()
  // Latin-1, so that each byte of the text is a character, as those behind backslashes are.
  const bytes = Buffer.from(text).toString('latin1')
  const read = bytes.replaceAll(escaping, (_, escaped: string) =>
    escaped === '\\' ? escaped : String.fromCharCode(Number.parseInt(escaped, 8)),
  )
  return Buffer.from(read, 'latin1').toString('hex')
}

function readBoolean(value: string, wrong: () => SqlError): boolean {
  const text = value.toLowerCase()
  if (text === '') throw wrong()
  if (text === '1' || text === 'on' || 'true'.startsWith(text) || 'yes'.startsWith(text)) return true
  if (text === '0' || text === 'off' || text === 'of' || 'false'.startsWith(text) || 'no'.startsWith(text))
    return false
  throw wrong()
}

/** A numeric without plus sign, exponent or leading zeros; the scale stays. */
function plainDecimal(value: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(value) ?? []
  const shift = Number(exponent)
  let digits = whole + fraction
  let scale = fraction.length - shift
  if (scale < 0) {
    digits += '0'.repeat(-scale)
    scale = 0
  }
  digits = digits.padStart(scale + 1, '0')
  const integer = digits.slice(0, digits.length - scale).replace(/^0+(?=\d)/, '')
  const rest = scale > 0 ? `.${digits.slice(-scale)}` : ''
  return `${sign === '-' && /[1-9]/.test(digits) ? '-' : ''}${integer}${rest}`
}

const timeForm =
  /^(\d{4,6})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(z|utc|gmt|[+-]\d{1,2}(?::?\d{2})?)?$/i
const clockForm = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?$/

/** Whether a text that was read as an instant names no offset, so that it is a time of the session's zone. */
export function isLocalTime(text: string): boolean {
  const value = text.trim()
  if (value.toLowerCase() === 'epoch') return false
  return timeForm.exec(value.replaceAll('/', '-'))?.[8] === undefined
}

function readTime(value: string, type: 'date' | 'time' | 'timestamp' | 'timestamptz'): string {
  const wrong = () => new SqlError('22007', `invalid input syntax for type ${spokenType(type)}`)
  const range = () => new SqlError('22008', 'date/time field value out of range')
  if (type === 'time') {
    const [, hour, minute, second = '0', fraction] = clockForm.exec(value) ?? []
    if (hour === undefined || minute === undefined) throw wrong()
    return clock(hour, minute, second, fraction ?? '', range)
  }
  if (value.toLowerCase() === 'epoch') return type === 'date' ? '1970-01-01' : '1970-01-01 00:00:00'
  if (/^(now|today|tomorrow|yesterday|-?infinity|allballs)$/i.test(value))
    throw notSupported('A special date or time value')
  const compact = /^(\d{4})(\d{2})(\d{2})$/.exec(value)
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] =
    timeForm.exec(compact ? `${compact[1]}-${compact[2]}-${compact[3]}` : value.replaceAll('/', '-')) ?? []
  if (year === undefined || month === undefined || day === undefined) throw wrong()
  const instant = new Date(0)
  instant.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (instant.getUTCMonth() !== Number(month) - 1 || instant.getUTCDate() !== Number(day)) throw range()
  if (Number(year) < 1 || Number(year) > 9999) throw range()
  const time = clock(hour, minute, second, fraction, range)
  if (type === 'date') return isoDate(instant)
  // PostgreSQL ignores the zone of a timestamp without one; the session's zone is UTC.
  if (type === 'timestamp' || zone === undefined || !/\d/.test(zone)) return `${isoDate(instant)} ${time}`
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
  if (Number(hours) > 15 || Number(minutes) > 59) throw range()
  const [h = 0, m = 0] = time.split(':').map(Number)
  instant.setUTCHours(h, m - offset)
  return `${isoDate(instant)} ${instant.toISOString().slice(11, 16)}${time.slice(5)}`
}

function isoDate(instant: Date): string {
  const year = instant.getUTCFullYear()
  if (year < 1 || year > 9999) throw new SqlError('22008', 'date/time field value out of range')
  return instant.toISOString().slice(0, 10)
}

function clock(
  hour: string,
  minute: string,
  second: string,
  fraction: string,
  range: () => SqlError,
): string {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) throw range()
  const micros = fraction.slice(0, 6).replace(/0+$/, '')
  return `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}:${second.padStart(2, '0')}${micros && `.${micros}`}`
}

/** Whether what stands in braces is braces alone, each with elements: `{1,2},{3,4}`. */
const isOfArrays = (inner: string): boolean =>
  /^\s*\{(?:[^{}"\\]|"(?:[^"\\]|\\[\s\S])*")+\}(?:\s*,\s*\{(?:[^{}"\\]|"(?:[^"\\]|\\[\s\S])*")+\})*\s*$/.test(
    inner,
  )

/** A one-dimensional array literal, `{a,"b c",NULL}`, its elements in canonical form. */
function readArray(text: string, type: Extract<SqlType, `${string}[]`>): (string | null)[] {
  const wrong = new SqlError('22P02', 'malformed array literal')
  const inner = /^\s*\{([\s\S]*)\}\s*$/.exec(text)?.[1]
  if (inner === undefined) throw wrong
  if (inner.trim() === '') return []
  // PostgreSQL reads it, and the type says nothing of it.
  if (isOfArrays(inner)) throw notSupported('An array of arrays')
  const elements: (string | null)[] = []
  const form = /\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^",{}\\]*))\s*(,|$)/y
  for (;;) {
    const found = form.exec(inner)
    if (found === null) throw wrong
    const [, quoted, plain = '', end] = found
    if (quoted === undefined && plain.trim() === '') throw wrong
    const value = quoted === undefined ? plain.trim() : quoted.replace(/\\([\s\S])/g, '$1')
    elements.push(quoted === undefined && /^null$/i.test(value) ? null : readLiteral(value, elementOf(type)))
    if (end === '') return elements
  }
}
