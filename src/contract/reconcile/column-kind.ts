/**
 * Says how the values of two columns are compared: as numbers, instants, text and so on. What both sides can express is
 * compared by value, whatever their types are called.
 */

import type { IcebergType } from '../../core/iceberg-type.ts'

/**
 * `exact`: integers and decimals. `instant`: microseconds since 1970 in UTC; a timestamp without a zone counts as UTC.
 * `other`: nested values, of which only NULL is compared.
 */
const columnKinds = [
  'exact',
  'float',
  'text',
  'binary',
  'boolean',
  'date',
  'time',
  'instant',
  'other',
] as const
type ColumnKind = (typeof columnKinds)[number]

/** A column of one side. */
export interface SideColumn {
  readonly name: string
  readonly kind: ColumnKind
  /** Digits after the point; undefined for a number without a bound. */
  readonly scale?: number | undefined
  /** Digits in all; undefined where there is no bound. */
  readonly precision?: number | undefined
  /** Nanoseconds, where microseconds would drop digits. */
  readonly nanos?: boolean
  /** Whether the type names a time zone. */
  readonly zoned?: boolean
  /** A UUID, whose text form is compared. */
  readonly uuid?: boolean
}

const integers: Readonly<Record<string, number>> = { int: 10, long: 19 }

/** The column of an Iceberg type. */
export function icebergColumn(name: string, type: IcebergType): SideColumn {
  if (typeof type !== 'string') return { name, kind: 'other' }
  const decimal = /^decimal\((\d+),\s*(\d+)\)$/.exec(type)
  if (decimal) return { name, kind: 'exact', precision: Number(decimal[1]), scale: Number(decimal[2]) }
  const digits = integers[type]
  if (digits !== undefined) return { name, kind: 'exact', precision: digits, scale: 0 }
  if (type === 'float' || type === 'double') return { name, kind: 'float' }
  if (type === 'string') return { name, kind: 'text' }
  if (type === 'uuid') return { name, kind: 'text', uuid: true }
  if (type === 'binary' || type.startsWith('fixed')) return { name, kind: 'binary' }
  if (type === 'boolean' || type === 'date' || type === 'time') return { name, kind: type }
  const time = /^timestamp(tz)?(_ns)?$/.exec(type)
  if (time) return { name, kind: 'instant', zoned: time[1] !== undefined, nanos: time[2] !== undefined }
  return { name, kind: 'other' }
}

/**
 * The column of a PostgreSQL type.
 * @param type as `format_type` writes it
 */
export function postgresColumn(name: string, type: string): SideColumn {
  const numeric = /^numeric(?:\((\d+),(-?\d+)\))?$/.exec(type)
  if (numeric) {
    const [precision, scale] = [numeric[1], numeric[2]]
    return { name, kind: 'exact', ...(precision && { precision: Number(precision), scale: Number(scale) }) }
  }
  const digits = { smallint: 5, integer: 10, bigint: 19 }[type]
  if (digits !== undefined) return { name, kind: 'exact', precision: digits, scale: 0 }
  if (type === 'real' || type === 'double precision') return { name, kind: 'float' }
  if (/^(text|character varying|character|name|citext)\b/.test(type)) return { name, kind: 'text' }
  if (type === 'uuid') return { name, kind: 'text', uuid: true }
  if (type === 'bytea') return { name, kind: 'binary' }
  if (type === 'boolean' || type === 'date') return { name, kind: type }
  if (/^time(\(\d\))? without time zone$/.test(type)) return { name, kind: 'time' }
  const time = /^timestamp(?:\(\d\))? (with|without) time zone$/.exec(type)
  if (time) return { name, kind: 'instant', zoned: time[1] === 'with' }
  return { name, kind: 'other' }
}

/** A column that both sides have. */
export interface ColumnPair {
  /** Of the contract's table. */
  readonly fieldId: number
  readonly kind: ColumnKind
  readonly left: SideColumn
  readonly right: SideColumn
  /** Whether instants are compared in nanoseconds. */
  readonly nanos: boolean
  /** Whether a sum of the values has 38 digits at most. */
  readonly sums: boolean
}

/** Digits that the sum of 10¹² values adds. */
const sumDigits = 12

/** The pair of two columns; undefined where their values cannot be compared. */
export function pairOf(fieldId: number, left: SideColumn, right: SideColumn): ColumnPair | undefined {
  if (left.kind !== right.kind) return undefined
  const fits = ({ precision = 0 }: SideColumn) => precision <= 38 - sumDigits
  const sums = left.kind === 'exact' && fits(left) && fits(right)
  return { fieldId, kind: left.kind, left, right, nanos: left.nanos === true || right.nanos === true, sums }
}
