/** Writes Trino's dialect. The session must have the time zone UTC. */

import { quoteText } from '../../../base/sql-text.ts'
import type { IcebergType } from '../../../core/iceberg-type.ts'
import {
  elementOf,
  isArray,
  type NumericSize,
  type ScalarType,
  type SqlType,
} from '../../../core/sql-type.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { isInteger, isNumber, isString, servedType } from '../base/types.ts'
import type { Dialect } from './dialect.ts'
import { trinoNested } from './nested-dialect.ts'

const typeNames: Readonly<Partial<Record<SqlType, string>>> = {
  bool: 'BOOLEAN',
  int2: 'SMALLINT',
  int4: 'INTEGER',
  int8: 'BIGINT',
  float4: 'REAL',
  float8: 'DOUBLE',
  date: 'DATE',
  time: 'TIME(6)',
  timestamp: 'TIMESTAMP(6)',
  timestamptz: 'TIMESTAMP(6) WITH TIME ZONE',
  interval: 'INTERVAL DAY TO SECOND',
  uuid: 'UUID',
  bytea: 'VARBINARY',
  json: 'JSON',
  jsonb: 'JSON',
}

function typeName(type: SqlType, size?: NumericSize): string {
  if (isArray(type)) return `ARRAY(${typeName(elementOf(type), size)})`
  if (size !== undefined && size[0] > 38) throw tooWide()
  if (type === 'numeric') return size ? `DECIMAL(${size[0]},${size[1]})` : 'DECIMAL(38,10)'
  return typeNames[type] ?? 'VARCHAR'
}

function tooWide(): SqlError {
  const hint = 'Turn symmetric aggregates off for the explore, or read the table with the embedded engine.'
  return new SqlError(
    '0A000',
    'A numeric of more than 38 digits is not supported on this engine.',
    undefined,
    { hint },
  )
}

function literal(value: string, type: ScalarType): string {
  switch (type) {
    case 'timestamptz':
      return `CAST(${quoteText(`${value} UTC`)} AS TIMESTAMP(6) WITH TIME ZONE)`
    case 'interval':
      return interval(value)
    case 'bytea':
      return `X${quoteText(value)}`
    case 'json':
    case 'jsonb':
      return `JSON ${quoteText(value)}`
    default:
      return `CAST(${quoteText(value)} AS ${typeName(type)})`
  }
}

/** Trino has separate types for months and days, and no microseconds. */
function interval(value: string): string {
  const [months = 0n, days = 0n, micros = 0n] = value.split(' ').map(BigInt)
  if (months !== 0n) {
    if (days !== 0n || micros !== 0n) throw notSupported('An interval of months and days on this engine')
    return `INTERVAL ${signed(months)} MONTH`
  }
  if (micros % 1_000n !== 0n) throw notSupported('An interval in microseconds on this engine')
  const seconds = `INTERVAL ${signed(micros / 1_000_000n)} SECOND`
  if (micros % 1_000_000n !== 0n) throw notSupported('An interval with a fraction of a second on this engine')
  if (micros === 0n) return `INTERVAL ${signed(days)} DAY`
  return days === 0n ? seconds : `(INTERVAL ${signed(days)} DAY + ${seconds})`
}

function signed(value: bigint): string {
  return value < 0n ? `-'${-value}'` : `'${value}'`
}

const halfToEven = (sql: string): string =>
  `CASE WHEN abs(${sql} - truncate(${sql})) = DOUBLE '0.5' THEN DOUBLE '2' * round(${sql} / DOUBLE '2') ELSE round(${sql}) END`

function cast(sql: string, from: SqlType, to: SqlType, size?: NumericSize): string {
  const target = typeName(to, size)
  if (isString(to)) return toText(sql, from)
  if (isString(from)) {
    if (to === 'json' || to === 'jsonb') return `json_parse(${sql})`
    if (to === 'timestamp') return `CAST(${spaced(sql)} AS TIMESTAMP(6))`
    if (to === 'timestamptz') return `with_timezone(CAST(${spaced(sql)} AS TIMESTAMP(6)), 'UTC')`
    if (isArray(to) || to === 'interval') throw notSupported(`A cast of text to ${to} on this engine`)
    return `CAST(trim(${sql}) AS ${target})`
  }
  if (to === 'numeric' && size === undefined) {
    if (from === 'int2' || from === 'int4') return `CAST(${sql} AS DECIMAL(10,0))`
    if (from === 'int8') return `CAST(${sql} AS DECIMAL(19,0))`
    return from === 'float4' ? `CAST(CAST(${sql} AS VARCHAR) AS DOUBLE)` : `CAST(${sql} AS DOUBLE)`
  }
  if (isInteger(to) && from === 'numeric') return `CAST(round(${sql}) AS ${target})`
  if (isInteger(to) && (from === 'float4' || from === 'float8'))
    return `CAST(${halfToEven(sql)} AS ${target})`
  if (to === 'bool' && isNumber(from)) return `(${sql} <> 0)`
  if (to === 'timestamptz') return `with_timezone(CAST(${sql} AS TIMESTAMP(6)), 'UTC')`
  if (from === 'timestamptz') return `CAST((${sql} AT TIME ZONE 'UTC') AS ${target})`
  return `CAST(${sql} AS ${target})`
}

/** Trino reads no T between a date and a time. */
const spaced = (sql: string): string => `regexp_replace(trim(${sql}), '^([0-9-]+)T', '$1 ')`

function toText(sql: string, from: SqlType): string {
  if (isString(from)) return sql
  if (from === 'float4' || from === 'float8') return floatText(sql, from === 'float4' ? 5 : 14)
  if (from === 'interval' || isArray(from)) throw notSupported(`A cast of ${from} to text on this engine`)
  if (from === 'bytea') return `('\\x' || lower(to_hex(${sql})))`
  if (from === 'timestamp') return trimmedFraction(`CAST(${sql} AS VARCHAR)`)
  if (from === 'timestamptz')
    return `(${trimmedFraction(`CAST(CAST((${sql} AT TIME ZONE 'UTC') AS TIMESTAMP(6)) AS VARCHAR)`)} || '+00')`
  if (from === 'time') return trimmedFraction(`CAST(${sql} AS VARCHAR)`)
  if (from === 'json' || from === 'jsonb') return `json_format(${sql})`
  return `CAST(${sql} AS VARCHAR)`
}

/** Trino always writes an exponent (`1.0E1`). PostgreSQL does so only below -4, and from 15 (real: 6) on. */
function floatText(sql: string, exponentMax: number): string {
  const exponent = `CAST(regexp_extract(s, 'E(-?\\d+)$', 1) AS INTEGER)`
  const fixed = `regexp_replace(CAST(CAST(s AS DECIMAL(38,20)) AS VARCHAR), '\\.?0+$', '')`
  const short = `regexp_replace(regexp_replace(s, '(\\.0)?E-(\\d)$', 'e-0$2'), '(\\.0)?E-', 'e-')`
  const large = `regexp_replace(regexp_replace(${short}, '(\\.0)?E(\\d)$', 'e+0$2'), '(\\.0)?E', 'e+')`
  const form = `CASE WHEN s = '-0E0' THEN '-0' WHEN ${exponent} BETWEEN -4 AND ${exponentMax} THEN ${fixed} ELSE ${large} END`
  return `element_at(transform(ARRAY[CAST(${sql} AS VARCHAR)], s -> ${form}), 1)`
}

const trimmedFraction = (sql: string): string => `regexp_replace(${sql}, '\\.?0*$|(\\.\\d*?)0+$', '$1')`

function raw(sql: string, type: IcebergType): string {
  if (type === 'timestamp_ns') return `CAST(${sql} AS TIMESTAMP(6))`
  if (type === 'timestamptz_ns') return `CAST(${sql} AS TIMESTAMP(6) WITH TIME ZONE)`
  return sql
}

const maskedText = (sql: string): string =>
  `regexp_replace(regexp_replace(${sql}, '[^0-9(),.@\\-]', 'x'), '[0-9]', 'n')`

function truncated(unit: 'year' | 'month', sql: string, type: IcebergType): string {
  if (type === 'date') return `date_trunc('${unit}', ${sql})`
  if (servedType(type)?.type === 'timestamp') return `date_trunc('${unit}', ${raw(sql, type)})`
  return `with_timezone(date_trunc('${unit}', CAST((${sql} AT TIME ZONE 'UTC') AS TIMESTAMP(6))), 'UTC')`
}

function sha256(sql: string, type: IcebergType, salt: string | undefined): string {
  const digest = (bytes: string) => `sha256(${salt === undefined ? bytes : `concat(${salt}, ${bytes})`})`
  if (type === 'string') return `lower(to_hex(${digest(`to_utf8(${sql})`)}))`
  if (type === 'binary') return digest(sql)
  const bits = type === 'int' ? 32 : 64
  const first = `reverse(substr(${digest(`reverse(to_big_endian_${bits}(${sql}))`)}, 1, ${bits / 8}))`
  return `from_big_endian_${bits}(${first})`
}

/** sequence() supports bigint and timestamp only, and fails for an empty range. */
function sequence(start: string, stop: string, step: string, type: SqlType): string {
  if (type === 'timestamptz') {
    const local = (sql: string) => `CAST((${sql} AT TIME ZONE 'UTC') AS TIMESTAMP(6))`
    return `transform(${sequence(local(start), local(stop), step, 'timestamp')}, t -> with_timezone(t, 'UTC'))`
  }
  const [up, down] =
    type === 'timestamp'
      ? [`${start} + ${step} > ${start}`, `${start} + ${step} < ${start}`]
      : [`${step} > 0`, `${step} < 0`]
  const possible = `(${up} AND ${start} <= ${stop}) OR (${down} AND ${start} >= ${stop})`
  const values = `sequence(${start}, ${stop}, ${step})`
  const typed = type === 'int8' ? values : `CAST(${values} AS ${typeName(`${type as ScalarType}[]`)})`
  return `CASE WHEN ${possible} THEN ${typed} END`
}

function unnest(arrays: readonly string[], alias: string, numbered: boolean): string {
  const columns = Array.from({ length: arrays.length + (numbered ? 1 : 0) }, (_, index) => `c${index + 1}`)
  return `UNNEST(${arrays.join(', ')})${numbered ? ' WITH ORDINALITY' : ''} AS ${alias}(${columns.join(', ')})`
}

export const trino: Dialect = {
  name: 'trino',
  typeName,
  literal,
  cast,
  raw,
  // If a computation over a dictionary fails, Trino repeats it for the selected rows only.
  flat: (sql) => sql,
  maskedText,
  truncated,
  sha256,
  nested: trinoNested,
  template: (def) => def.trino,
  groupKey: () => undefined,
  list: (elements) => `ARRAY[${elements.join(', ')}]`,
  arraySubquery: undefined,
  series: ([start = '', stop = '', step], type, alias, numbered) =>
    unnest([sequence(start, stop, step ?? '1', type)], alias, numbered),
  unnest,
  limit: (limit, offset) =>
    `${offset === undefined ? '' : ` OFFSET ${offset}`}${limit === undefined ? '' : ` LIMIT ${limit}`}`,
  filtersWindows: false,
  filtersNulls: true,
  distinctOn: false,
  groupsExpressions: false,
}
