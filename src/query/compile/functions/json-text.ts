/**
 * Writes values as the text of JSON with PostgreSQL's digits, blanks and quotes, for DuckDB: its own JSON functions read
 * a numeric as a double.
 */

import { elementOf, isArray, type SqlType } from '../../../core/sql-type.ts'
import { intervalToText } from './interval.ts'
import { once } from './quotient.ts'

export type JsonType = 'json' | 'jsonb'

/** The text of an array. Brackets as such would stand for the parentheses of an aggregate's call in its template. */
export const inBrackets = (members: string): string => `(chr(91) || ${members} || chr(93))`

const digits = String.raw`replace(regexp_extract(t, '^-?((?:\d|\.)+)', 1), '.', '')`
const exponent = String.raw`CAST(regexp_extract(t, 'e(?:\+|-)(\d+)$', 1) AS INTEGER)`
const written = `CASE WHEN contains(t, 'e+') THEN rpad(${digits}, ${exponent} + 1, '0') ELSE '0.' || repeat('0', ${exponent} - 1) || ${digits} END`

/** A float: what is no number is a text. In jsonb it is a numeric, which has no exponent and no negative zero. */
function float(value: string, of: JsonType): string {
  const number = `regexp_replace(CAST(${value} AS VARCHAR), '\\.0$', '')`
  const named = `replace(regexp_replace(${number}, '^(-?)inf$', '"\\1Infinity"'), 'nan', '"NaN"')`
  if (of === 'json') return named
  const whens = [
    `WHEN t = '-0' THEN '0'`,
    String.raw`WHEN regexp_matches(t, 'e(?:\+|-)') THEN regexp_extract(t, '^-') || ${written}`,
  ]
  return once(named, 't', `CASE ${whens.join(' ')} ELSE t END`)
}

/** The text of a value as a member of JSON; NULL of NULL. */
export function jsonText(value: string, type: SqlType, of: JsonType): string {
  const text = `CAST(${value} AS VARCHAR)`
  const quoted = (sql: string) => `('"' || ${sql} || '"')`
  if (isArray(type)) {
    const element = memberText('e', elementOf(type), of)
    const parts = `list_transform(${value}, lambda e: ${element})`
    return inBrackets(`array_to_string(${parts}, '${of === 'json' ? ',' : ', '}')`)
  }
  switch (type) {
    case 'bool':
    case 'int2':
    case 'int4':
    case 'int8':
    case 'numeric':
    case 'json':
    case 'jsonb':
      return text
    case 'float4':
    case 'float8':
      return float(value, of)
    case 'timestamp':
      return quoted(`replace(${text}, ' ', 'T')`)
    case 'timestamptz':
      return quoted(`replace(CAST(timezone('UTC', ${value}) AS VARCHAR), ' ', 'T') || '+00:00'`)
    case 'interval':
      return quoted(intervalToText(value))
    case 'bytea':
      return quoted(`'\\\\x' || lower(hex(${value}))`)
    case 'date':
    case 'time':
    case 'uuid':
      return quoted(text)
    default:
      return `CAST(to_json(${text}) AS VARCHAR)`
  }
}

/** As jsonText, and `null` of NULL. */
export function memberText(value: string, type: SqlType, of: JsonType): string {
  return `coalesce(${jsonText(value, type, of)}, 'null')`
}

/** Text that is JSON as a value of it. */
export const asJson = (text: string): string => `CAST(${text} AS JSON)`

/** A literal key, or one that is computed, with what stands between it and its value. */
export const keyText = (key: string, of: JsonType): string =>
  `CAST(to_json(${key}) AS VARCHAR) || '${of === 'json' ? ' : ' : ': '}'`
