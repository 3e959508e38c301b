/**
 * Writes masks in Spark's dialect, 3.4 or later, for writers. The read path does not run on Spark. Text never holds a
 * backslash here, because Spark reads it as an escape. No result depends on the session's time zone.
 */

import { quoteText } from '../../../base/sql-text.ts'
import type { IcebergType } from '../../../core/iceberg-type.ts'
import type { NumericSize, ScalarType, SqlType } from '../../../core/sql-type.ts'
import type { MaskDialect } from './dialect.ts'

const typeNames: Readonly<Partial<Record<SqlType, string>>> = {
  bool: 'BOOLEAN',
  int4: 'INT',
  int8: 'BIGINT',
  float4: 'FLOAT',
  float8: 'DOUBLE',
  date: 'DATE',
  timestamp: 'TIMESTAMP_NTZ',
  timestamptz: 'TIMESTAMP_LTZ',
  bytea: 'BINARY',
}

function typeName(type: SqlType, size?: NumericSize): string {
  if (type === 'numeric' && size !== undefined) return `DECIMAL(${size[0]},${size[1]})`
  return typeNames[type] ?? 'STRING'
}

function literal(value: string, type: ScalarType): string {
  if (type === 'timestamptz') return `CAST(${quoteText(`${value}+00:00`)} AS TIMESTAMP_LTZ)`
  if (type === 'bytea') return `unhex(${quoteText(value)})`
  return `CAST(${quoteText(value)} AS ${typeName(type)})`
}

const maskedText = (sql: string): string =>
  `regexp_replace(regexp_replace(${sql}, '[^0-9(),.@-]', 'x'), '[0-9]', 'n')`

const dayMicros = '86400000000'

/** date_trunc() would read a timestamp in the session's time zone. */
function truncated(unit: 'year' | 'month', sql: string, type: IcebergType): string {
  const start = (date: string) => `trunc(${date}, '${unit}')`
  if (type === 'date') return start(sql)
  if (type === 'timestamp') return `CAST(${start(`CAST(${sql} AS DATE)`)} AS TIMESTAMP_NTZ)`
  const micros = `unix_micros(${sql})`
  // div rounds toward zero, so that what is before 1970 is floored by pmod first.
  const day = `CAST((${micros} - pmod(${micros}, ${dayMicros})) div ${dayMicros} AS INT)`
  return `timestamp_micros(CAST(unix_date(${start(`date_from_unix_date(${day})`)}) AS BIGINT) * ${dayMicros})`
}

function sha256(sql: string, type: IcebergType, salt: string | undefined): string {
  const digest = (bytes: string) => `sha2(${salt === undefined ? bytes : `(${salt} || ${bytes})`}, 256)`
  if (type === 'string') return digest(`CAST(${sql} AS BINARY)`)
  if (type === 'binary') return `unhex(${digest(sql)})`
  // Hashes the two's complement in little-endian bytes, and reads the digest's first bytes the same way.
  const digits = type === 'int' ? 8 : 16
  const turned = (hex: string) => `regexp_replace(reverse(${hex}), '(.)(.)', '$2$1')`
  const hex = `right(lpad(hex(CAST(${sql} AS BIGINT)), 16, '0'), ${digits})`
  const first = turned(`substr(${digest(`unhex(${turned(hex)})`)}, 1, ${digits})`)
  const word = (from: number) => `CAST(conv(substr(${first}, ${from}, 8), 16, 10) AS BIGINT)`
  // A shift does not overflow, as a sum of 64 bits would. The shift back keeps the sign.
  const high = `shiftleft(${word(1)}, 32)`
  return digits === 8 ? `CAST(shiftright(${high}, 32) AS INT)` : `(${high} | ${word(9)})`
}

/** What masks need of Spark. */
export const spark: MaskDialect = {
  typeName,
  literal,
  maskedText,
  truncated,
  sha256,
  list: (elements) => `array(${elements.join(', ')})`,
}
