/** Writes an Iceberg `initial-default` (specification, Appendix D, JSON serialisation) as a DuckDB literal. */

import type { JsonValue } from '../../base/json.ts'
import { quoteText } from '../../base/sql-text.ts'
import { engineCannotRead } from '../engine-error.ts'

/**
 * @param type the field's Iceberg type
 * @param sqlType the DuckDB type of the column
 * @throws EngineError 0A000 where the value does not fit the type, or the type has no literal here
 */
export function defaultLiteral(value: JsonValue, type: unknown, sqlType: string): string {
  if (value === null) return `CAST(NULL AS ${sqlType})`
  const text = typeof type === 'string' ? literalText(value, type) : undefined
  if (text === undefined) throw engineCannotRead('A column with a default of this type')
  if (sqlType === 'BLOB') return `unhex(${quoteText(text)})`
  return `CAST(${quoteText(text)} AS ${sqlType})`
}

const forms: Readonly<Record<string, RegExp>> = {
  date: /^-?\d{4,6}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d(\.\d{1,6})?$/,
  timestamp: /^-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?$/,
  timestamptz: /^-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(\+00:00|Z)$/,
  timestamp_ns: /^-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?$/,
  timestamptz_ns: /^-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(\+00:00|Z)$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  binary: /^([0-9a-f]{2})*$/i,
}

function literalText(value: JsonValue, type: string): string | undefined {
  if (type === 'boolean') return typeof value === 'boolean' ? String(value) : undefined
  if (type === 'int' || type === 'long') return typeof value === 'bigint' ? String(value) : undefined
  if (type === 'float' || type === 'double')
    return typeof value === 'bigint' || typeof value === 'number' ? String(value) : undefined
  if (typeof value !== 'string') return undefined
  if (type === 'string') return value
  if (type.startsWith('decimal(')) return /^-?\d+(\.\d+)?$/.test(value) ? value : undefined
  const form = forms[type.startsWith('fixed[') ? 'binary' : type]
  return form?.test(value) ? value : undefined
}
