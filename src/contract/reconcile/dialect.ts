/**
 * Writes values as every engine writes them alike: the same text for the same value, whatever engine, format or locale.
 * Hashes are the first 60 bits of MD5 over that text in UTF-8; they find differences and guard nothing.
 */

import { quoteIdentifier } from '../../base/sql-text.ts'
import type { SideColumn } from './column-kind.ts'

export const dialectNames = ['duckdb', 'trino', 'postgres'] as const
export type ReconcileDialect = (typeof dialectNames)[number]

/** The bits by which every NaN is written. */
const nanBits = 9_221_120_237_041_090_560n
/** What infinite dates and times are written as; PostgreSQL alone has them. */
const infinite = '9223372036854775807'

interface Engine {
  /** The bits of a double as a signed 64-bit integer, with one NaN. */
  readonly bits: (double: string) => string
  readonly isFinite: (double: string) => string
  readonly isNan: (double: string) => string
  /** Bytes of a text in UTF-8. */
  readonly octets: (text: string) => string
  /** The hash of a text. */
  readonly hash: (text: string) => string
  readonly hex: (bytes: string) => string
  readonly bytes: (bytes: string) => string
  /** Text without trailing zeros, of a number with digits after the point. */
  readonly trimmed: (number: string) => string
  readonly days: (date: string) => string
  /** HH:MM:SS.ffffff */
  readonly time: (time: string) => string
  readonly micros: (instant: string, column: SideColumn) => string
  readonly nanos: (instant: string, column: SideColumn) => string
  readonly double: string
  /** A type for exact sums. */
  readonly wide: (scale: number | undefined) => string
  readonly least: (text: string) => string
  readonly text: string
}

const trino: Engine = {
  bits: (x) =>
    `CASE WHEN is_nan(${x}) THEN BIGINT '${nanBits}' ELSE from_big_endian_64(to_ieee754_64(${x})) END`,
  isFinite: (x) => `is_finite(${x})`,
  isNan: (x) => `is_nan(${x})`,
  octets: (x) => `length(to_utf8(${x}))`,
  hash: (x) => `from_base(substr(to_hex(md5(to_utf8(${x}))), 1, 15), 16)`,
  hex: (x) => `lower(to_hex(${x}))`,
  bytes: (x) => `length(${x})`,
  trimmed: (x) => `trim(TRAILING '.' FROM trim(TRAILING '0' FROM CAST(${x} AS VARCHAR)))`,
  days: (x) => `date_diff('day', DATE '1970-01-01', ${x})`,
  time: (x) => `CAST(CAST(${x} AS TIME(6)) AS VARCHAR)`,
  micros: (x, column) => trinoInstant(x, column, 6, 1_000_000),
  nanos: (x, column) => trinoInstant(x, column, 9, 1_000_000_000),
  double: 'DOUBLE',
  wide: (scale = 0) => `DECIMAL(38,${scale})`,
  least: (x) => x,
  text: 'VARCHAR',
}

function trinoInstant(x: string, { zoned }: SideColumn, digits: number, unit: number): string {
  const local = `CAST(${zoned ? `at_timezone(${x}, 'UTC')` : x} AS TIMESTAMP(${digits}))`
  const seconds = `date_diff('second', TIMESTAMP '1970-01-01 00:00:00', date_trunc('second', ${local}))`
  const fraction = `CAST(regexp_extract(CAST(${local} AS VARCHAR), '\\.(\\d+)$', 1) AS BIGINT)`
  return `(${seconds} * ${unit} + ${fraction})`
}

const duckdb: Engine = {
  bits: (x) => `CASE WHEN isnan(${x}) THEN ${nanBits}::BIGINT ELSE ${x}::BIT::BIGINT END`,
  isFinite: (x) => `isfinite(${x})`,
  isNan: (x) => `isnan(${x})`,
  octets: (x) => `strlen(${x})`,
  hash: (x) => `('0x' || substr(md5(${x}), 1, 15))::BIGINT`,
  hex: (x) => `lower(hex(${x}))`,
  bytes: (x) => `octet_length(${x})`,
  trimmed: (x) => `rtrim(rtrim(CAST(${x} AS VARCHAR), '0'), '.')`,
  days: (x) => `CASE WHEN isfinite(${x}) THEN (${x} - DATE '1970-01-01')::BIGINT ELSE ${infinite} END`,
  time: (x) =>
    `printf('%02d:%02d:%02d.%06d', hour(${x}), minute(${x}), second(${x}), (extract(microseconds FROM ${x}) % 1000000)::BIGINT)`,
  micros: (x) => `CASE WHEN isfinite(${x}) THEN epoch_us(${x}) ELSE ${infinite} END`,
  nanos: (x, { nanos }) =>
    `CASE WHEN isfinite(${x}) THEN ${nanos ? `epoch_ns(${x})::HUGEINT` : `epoch_us(${x})::HUGEINT * 1000`} ELSE ${infinite} END`,
  double: 'DOUBLE',
  wide: (scale = 0) => (scale === 0 ? 'HUGEINT' : `DECIMAL(38,${scale})`),
  least: (x) => x,
  text: 'VARCHAR',
}

const postgres: Engine = {
  bits: (x) =>
    `CASE WHEN ${x} = 'NaN' THEN ${nanBits}::bigint ELSE ('x' || encode(float8send(${x}), 'hex'))::bit(64)::bigint END`,
  isFinite: (x) => `(${x} NOT IN ('NaN', 'Infinity', '-Infinity'))`,
  isNan: (x) => `(${x} = 'NaN')`,
  octets: (x) => `octet_length(convert_to(${x}, 'UTF8'))`,
  hash: (x) => `('x' || substr(md5(convert_to(${x}, 'UTF8')), 1, 15))::bit(60)::bigint`,
  hex: (x) => `encode(${x}, 'hex')`,
  bytes: (x) => `octet_length(${x})`,
  trimmed: (x) => `trim_scale(${x}::numeric)::text`,
  days: (x) => `CASE WHEN isfinite(${x}) THEN (${x} - date '1970-01-01')::bigint ELSE ${infinite} END`,
  time: (x) => `to_char(${x}, 'HH24:MI:SS.US')`,
  micros: (x) =>
    `CASE WHEN isfinite(${x}) THEN (extract(epoch FROM ${x}) * 1000000)::bigint ELSE ${infinite} END`,
  nanos: (x) =>
    `CASE WHEN isfinite(${x}) THEN (extract(epoch FROM ${x}) * 1000000)::numeric(38,0) * 1000 ELSE ${infinite} END`,
  double: 'double precision',
  wide: () => 'numeric',
  // By bytes, as the others compare.
  least: (x) => `${x} COLLATE "C"`,
  text: 'text',
}

const engines: Readonly<Record<ReconcileDialect, Engine>> = { duckdb, trino, postgres }

/** The writers of a dialect. */
export function engineOf(dialect: ReconcileDialect): Engine {
  return engines[dialect]
}

/** The column as its side reads it. */
export function sideValue(dialect: ReconcileDialect, { name, kind }: SideColumn): string {
  const quoted = quoteIdentifier(name)
  if (kind === 'float') return `CAST(${quoted} AS ${engines[dialect].double})`
  return quoted
}

/**
 * The value as text, equal on every engine exactly where the values are. NULL stays NULL.
 * @param nanos whether instants are written in nanoseconds
 */
export function canonicalText(dialect: ReconcileDialect, column: SideColumn, nanos = false): string {
  const engine = engines[dialect]
  const x = sideValue(dialect, column)
  const text = (value: string) => `CAST(${value} AS ${engine.text})`
  switch (column.kind) {
    case 'exact':
      return column.scale === 0 ? text(x) : engine.trimmed(x)
    case 'float':
      return text(engine.bits(x))
    case 'text':
      return column.uuid ? `lower(${text(x)})` : text(x)
    case 'binary':
      return engine.hex(x)
    case 'boolean':
      return `CASE WHEN ${x} THEN '1' WHEN NOT ${x} THEN '0' END`
    case 'date':
      return `CASE WHEN ${x} IS NOT NULL THEN ${text(engine.days(x))} END`
    case 'time':
      return `CASE WHEN ${x} IS NOT NULL THEN ${engine.time(x)} END`
    case 'instant':
      return `CASE WHEN ${x} IS NOT NULL THEN ${text((nanos ? engine.nanos : engine.micros)(x, column))} END`
    case 'other':
      return `CASE WHEN ${x} IS NOT NULL THEN '' END`
  }
}
