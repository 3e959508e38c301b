/** Writes DuckDB's dialect. The connection must have TimeZone UTC. */

import { quoteText } from '../../../base/sql-text.ts'
import type { IcebergType } from '../../../core/iceberg-type.ts'
import {
  elementOf,
  isArray,
  type NumericSize,
  type ScalarType,
  type SqlType,
} from '../../../core/sql-type.ts'
import { flat } from '../base/flat.ts'
import { notSupported } from '../base/sql-error.ts'
import { isFloat, isInteger, isNumber, isString, servedType } from '../base/types.ts'
import { intervalToText } from '../functions/interval.ts'
import type { Dialect } from './dialect.ts'
import { duckdbMembers } from './long-list.ts'
import { duckdbNested } from './nested-dialect.ts'

const typeNames: Readonly<Partial<Record<SqlType, string>>> = {
  bool: 'BOOLEAN',
  int2: 'SMALLINT',
  int4: 'INTEGER',
  int8: 'BIGINT',
  float4: 'FLOAT',
  float8: 'DOUBLE',
  text: 'VARCHAR',
  varchar: 'VARCHAR',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMPTZ',
  interval: 'INTERVAL',
  uuid: 'UUID',
  bytea: 'BLOB',
  json: 'JSON',
  jsonb: 'JSON',
  unknown: 'VARCHAR',
}

function typeName(type: SqlType, size?: NumericSize): string {
  if (isArray(type)) return `${typeName(elementOf(type), size)}[]`
  if (type === 'numeric')
    return size ? (size[0] > 38 ? 'BIGNUM' : `DECIMAL(${size[0]},${size[1]})`) : 'DECIMAL(38,10)'
  return typeNames[type] ?? 'VARCHAR'
}

function literal(value: string, type: ScalarType): string {
  switch (type) {
    case 'timestamptz':
      return `CAST(${quoteText(`${value}+00`)} AS TIMESTAMPTZ)`
    case 'interval': {
      const [months, days, micros] = value.split(' ')
      return `INTERVAL '${Number(months)} months ${Number(days)} days ${BigInt(micros ?? 0)} microseconds'`
    }
    case 'bytea':
      return `unhex(${quoteText(value)})`
    default:
      return `CAST(${quoteText(value)} AS ${typeName(type)})`
  }
}

const invalid = "error('invalid input syntax')"
const invalidTime = "error('invalid input syntax for a date or time')"

function cast(sql: string, from: SqlType, to: SqlType, size?: NumericSize): string {
  const target = typeName(to, size)
  if (target === 'BIGNUM') return `CAST(${wholeNumber(sql, from)} AS BIGNUM)`
  if (isString(to)) return toText(sql, from)
  if (isString(from)) return fromText(sql, to, target)
  if (to === 'numeric' && size === undefined) {
    if (from === 'int2' || from === 'int4') return `CAST(${sql} AS DECIMAL(10,0))`
    if (from === 'int8') return `CAST(${sql} AS DECIMAL(19,0))`
    if (isFloat(from)) return `CAST(printf('${sureDigits(from)}', ${sql}) AS DOUBLE)`
  }
  if (to === 'numeric' && isFloat(from))
    return `CAST(CASE WHEN isfinite(${sql}) THEN printf('${sureDigits(from)}', ${sql}) WHEN ${sql} IS NOT NULL THEN error('input is out of range') END AS ${target})`
  // A numeric may be stored as a double, but must round half away from zero.
  if (isInteger(to) && from === 'numeric') return `CAST(round(${sql}) AS ${target})`
  if (to === 'bool' && isNumber(from)) return `(${sql} <> 0)`
  if (to === 'timestamptz' && from === 'date') return `timezone('UTC', CAST(${sql} AS TIMESTAMP))`
  if (to === 'timestamptz' && from === 'timestamp') return `timezone('UTC', ${sql})`
  if (from === 'timestamptz' && to === 'timestamp') return `timezone('UTC', ${sql})`
  if (from === 'timestamptz') return `CAST(timezone('UTC', ${sql}) AS ${target})`
  // The optimizer would compare the list itself with a constant cast back: `ARRAY[3]::text[] >= ARRAY['12']` was false.
  if (isArray(to)) return flat(`CAST(${sql} AS ${target})`)
  return `CAST(${sql} AS ${target})`
}

/** A float as a numeric has the digits that every float of its type has: 15, or 6. */
const sureDigits = (from: SqlType): string => (from === 'float4' ? '%.5e' : '%.14e')

/** A number without its fraction. A double has 15 digits as a numeric, and one that has more becomes one that has not. */
function wholeNumber(sql: string, from: SqlType): string {
  if (isInteger(from)) return `CAST(${sql} AS HUGEINT)`
  if (from === 'numeric') return `CAST(round(${sql}) AS HUGEINT)`
  if (from === 'float4' || from === 'float8')
    return `CAST(CAST(printf('%.14e', CAST(${sql} AS DOUBLE)) AS DECIMAL(38,0)) AS HUGEINT)`
  throw notSupported('A cast to a numeric of more than 38 digits')
}

function toText(sql: string, from: SqlType): string {
  if (isString(from)) return sql
  if (from === 'float4' || from === 'float8')
    return `replace(replace(regexp_replace(CAST(${sql} AS VARCHAR), '\\.0$', ''), 'inf', 'Infinity'), 'nan', 'NaN')`
  if (from === 'bytea') return `('\\x' || lower(hex(${sql})))`
  if (from === 'timestamptz') return `(CAST(timezone('UTC', ${sql}) AS VARCHAR) || '+00')`
  if (from === 'interval') return intervalToText(sql)
  if (isArray(from)) return arrayToText(sql, elementOf(from))
  return `CAST(${sql} AS VARCHAR)`
}

/** DuckDB accepts more texts than PostgreSQL, so texts that PostgreSQL refuses must fail. */
function fromText(sql: string, to: SqlType, target: string): string {
  const guarded = (pattern: string, fault = invalid) =>
    `CASE WHEN ${sql} IS NULL OR regexp_full_match(trim(${sql}), ${quoteText(pattern)}) THEN CAST(trim(${sql}) AS ${target}) ELSE ${fault} END`
  if (isInteger(to)) return guarded('[+-]?[0-9]+')
  if (to === 'numeric') return guarded('[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?')
  if (to === 'float4' || to === 'float8')
    return guarded('(?i)[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf(inity)?')
  if (to === 'bool')
    return `CASE WHEN ${sql} IS NULL THEN NULL WHEN lower(trim(${sql})) IN ('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1') THEN TRUE WHEN lower(trim(${sql})) IN ('f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0') THEN FALSE ELSE ${invalid} END`
  if (isArray(to)) return textToArray(sql, elementOf(to))
  // DuckDB reads a date as midnight.
  if (to === 'time') return guarded('(?s).*:.*', invalidTime)
  if (to === 'interval')
    return guarded('[+-]?[0-9]+ *(second|minute|hour|day|week|month|year)s?', invalidTime)
  return to === 'json' || to === 'jsonb' ? `CAST(${sql} AS ${target})` : `CAST(trim(${sql}) AS ${target})`
}

/** An element in an array's text: in quotes, or without them and without blanks around it. */
const element = String.raw`\s*(?:"(?:[^"\\]|\\.)*"|[^",{}\\\s](?:[^",{}\\]*[^",{}\\\s])?)\s*`

/** The array that a text means, of one dimension. */
function textToArray(sql: string, type: ScalarType): string {
  const whole = quoteText(String.raw`(?s)\s*\{(?:\s*|${element}(?:,${element})*)\}\s*`)
  const unquoted = String.raw`regexp_replace(substr(e, 2, length(e) - 2), '(?s)\\(.)', '\1', 'g')`
  const texts = `list_transform(regexp_extract_all(regexp_extract(x, '(?s)^\\s*\\{(.*)\\}\\s*$', 1), ${quoteText(`(?s)${element}`)}), lambda g: trim(g, e' \\t\\n\\r'))`
  const read = type === 'text' ? 'v' : cast('v', 'text', type)
  const value = `CASE WHEN starts_with(e, '"') THEN ${unquoted} WHEN upper(e) = 'NULL' THEN NULL ELSE e END`
  const elements = `list_transform(list_transform(${texts}, lambda e: ${value}), lambda v: ${read})`
  return `list_extract(list_transform([${sql}], lambda x: CASE WHEN x IS NULL THEN NULL WHEN regexp_full_match(x, ${whole}) THEN ${elements} ELSE ${invalid} END), 1)`
}

/** The text of an array: elements in quotes where they hold signs of its syntax. */
function arrayToText(sql: string, type: ScalarType): string {
  const text = type === 'bool' ? "CASE WHEN v THEN 't' ELSE 'f' END" : toText('v', type)
  const special = String.raw`'[{}",\\\s]'`
  const quoted = `'"' || replace(replace(e, '\\', '\\\\'), '"', '\\"') || '"'`
  const written = `CASE WHEN e IS NULL THEN 'NULL' WHEN e = '' OR upper(e) = 'NULL' OR regexp_matches(e, ${special}) THEN ${quoted} ELSE e END`
  const elements = `list_transform(list_transform(${sql}, lambda v: ${text}), lambda e: ${written})`
  return `CASE WHEN len(${sql}) = 0 THEN '{}' ELSE '{' || array_to_string(${elements}, ',') || '}' END`
}

function raw(sql: string, type: IcebergType): string {
  if (type === 'timestamp_ns') return `CAST(${sql} AS TIMESTAMP)`
  if (type === 'timestamptz_ns') return `CAST(${sql} AS TIMESTAMPTZ)`
  return sql
}

const maskedText = (sql: string): string =>
  `regexp_replace(regexp_replace(${sql}, '[^0-9(),.@-]', 'x', 'g'), '[0-9]', 'n', 'g')`

function truncated(unit: 'year' | 'month', sql: string, type: IcebergType): string {
  if (type === 'date') return `CAST(date_trunc('${unit}', ${sql}) AS DATE)`
  if (servedType(type)?.type === 'timestamp') return `date_trunc('${unit}', ${raw(sql, type)})`
  return `timezone('UTC', date_trunc('${unit}', timezone('UTC', ${raw(sql, type)})))`
}

function sha256(sql: string, type: IcebergType, salt: string | undefined): string {
  const digest = (bytes: string) => `sha256(${salt === undefined ? bytes : `(${salt} || ${bytes})`})`
  if (type === 'string') return digest(`encode(${sql})`)
  if (type === 'binary') return `unhex(${digest(sql)})`
  // Hashes the two's complement in little-endian bytes, and reads the digest's first bytes the same way.
  const bytes = type === 'int' ? 4 : 8
  const turned = (hex: string) => `regexp_replace(reverse(${hex}), '(.)(.)', '\\2\\1', 'g')`
  const hex = `lpad(to_hex(CAST(${sql} AS BIGINT)), 16, CASE WHEN ${sql} < 0 THEN 'F' ELSE '0' END)`
  const first = `substr(${digest(`unhex(${turned(`right(${hex}, ${bytes * 2})`)})`)}, 1, ${bytes * 2})`
  const unsigned = `CAST(CAST('0x' || ${turned(first)} AS UBIGINT) AS HUGEINT)`
  const [half, whole] = [2n ** BigInt(bytes * 8 - 1), 2n ** BigInt(bytes * 8)]
  const wide = (value: bigint) => `CAST('${value}' AS HUGEINT)`
  return `CAST((${unsigned} + ${wide(half)}) % ${wide(whole)} - ${wide(half)} AS ${bytes === 4 ? 'INTEGER' : 'BIGINT'})`
}

/** DuckDB unnests several lists side by side in a select list only. */
function unnest(arrays: readonly string[], alias: string, numbered: boolean): string {
  const [only = '', ...more] = arrays
  if (more.length === 0 && !numbered) return `unnest(${only}) AS ${alias}(c1)`
  const lists = arrays.map((_, index) => `l.a${index + 1}`)
  const columns = lists.map((list, index) => `unnest(${list}) AS c${index + 1}`)
  const lengths = lists.map((list) => `len(${list})`)
  const longest = more.length === 0 ? lengths.join('') : `greatest(${lengths.join(', ')})`
  if (numbered) columns.push(`unnest(range(1, ${longest} + 1)) AS c${arrays.length + 1}`)
  const given = arrays.map((array, index) => `${array} AS a${index + 1}`).join(', ')
  return `LATERAL (SELECT ${columns.join(', ')} FROM (SELECT ${given}) AS l) AS ${alias}`
}

export const duckdb: Dialect = {
  name: 'duckdb',
  typeName,
  literal,
  cast,
  raw,
  flat,
  maskedText,
  truncated,
  sha256,
  nested: duckdbNested,
  template: (def) => def.duckdb,
  groupKey: (def) => def.duckdbKey,
  list: (elements) => `[${elements.join(', ')}]`,
  members: (texts, type) => duckdbMembers(texts, type, typeName),
  arraySubquery: (query) => `coalesce(ARRAY(${query}), [])`,
  // DuckDB's generate_series is always a bigint.
  series: (args, type, alias, numbered) => {
    const rows = `generate_series(${args.join(', ')})${numbered ? ' WITH ORDINALITY' : ''}`
    const names = numbered ? 's, n' : 's'
    return type === 'int4'
      ? `(SELECT CAST(s AS INTEGER) AS c1${numbered ? ', n AS c2' : ''} FROM ${rows} AS g(${names})) AS ${alias}`
      : `${rows} AS ${alias}(${numbered ? 'c1, c2' : 'c1'})`
  },
  unnest,
  limit: (limit, offset) =>
    `${limit === undefined ? '' : ` LIMIT ${limit}`}${offset === undefined ? '' : ` OFFSET ${offset}`}`,
  filtersWindows: true,
  filtersNulls: false,
  distinctOn: true,
  groupsExpressions: true,
}
