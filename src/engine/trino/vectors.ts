/** Builds column vectors from JSON rows, and decides which of Trino's types may be delivered as which SQL type. */

import type { JsonValue } from '../../base/json.ts'
import { shownDigits, type TextScale } from '../../core/quotient-scale.ts'
import type { ColumnVector } from '../../core/result-batch.ts'
import { elementOf, isArray, type NumericSize, type SqlType } from '../../core/sql-type.ts'
import { byteValues, utf8Values, type VariableWidth } from '../../core/variable-width.ts'
import type { EngineColumn } from '../engine.ts'
import { exactNumerics } from '../exact-numerics.ts'
import { protocolError } from './failure.ts'
import {
  doubleDecimal,
  doubleScale,
  parseDate,
  parseDecimal,
  parseTime,
  parseTimestamp,
  parseTimestampWithZone,
  parseTrinoInterval,
} from './values.ts'

/** @throws EngineError 08006 where a cell is not of the type; 22003 or 22008 where the vector cannot hold it */
export type BuildVector = (cells: readonly JsonValue[]) => ColumnVector

/** An int64 holds every decimal of this many digits. */
const int64Digits = 18

const integers: Readonly<Record<'int2' | 'int4' | 'int8', readonly string[]>> = {
  int2: ['smallint', 'tinyint'],
  int4: ['integer', 'smallint', 'tinyint'],
  int8: ['bigint', 'integer', 'smallint', 'tinyint'],
}

/**
 * The function that builds a result column from the cells of a Trino column.
 * @param trinoType as Trino displays it
 * @returns undefined where the Trino type cannot be delivered as the column's type without loss
 */
export function vectorBuilder(column: EngineColumn, trinoType: string): BuildVector | undefined {
  // Trino's type of an untyped NULL.
  if (trinoType === 'unknown') return nulls(column)
  const { type, size, textScale } = column
  if (isArray(type)) {
    const inner = /^array\((.*)\)$/.exec(trinoType)?.[1]
    const element =
      inner === undefined ? undefined : vectorBuilder({ ...column, type: elementOf(type) }, inner)
    return element && ((cells) => arrayVector(cells, element))
  }
  switch (type) {
    case 'bool':
      return trinoType === 'boolean' ? boolVector : undefined
    case 'int2':
    case 'int4':
    case 'int8':
      return integers[type].includes(trinoType) ? integerVector(type) : undefined
    case 'numeric':
      return numericBuilder(trinoType, size, textScale)
    case 'float4':
      return trinoType === 'real' ? (cells) => ({ type, ...filled(cells, Float32Array, float) }) : undefined
    case 'float8':
      return trinoType === 'double' ? (cells) => ({ type, ...filled(cells, Float64Array, float) }) : undefined
    case 'date':
      return trinoType === 'date'
        ? (cells) => ({ type, ...filled(cells, Int32Array, textAs(parseDate)) })
        : undefined
    case 'time':
      return /^time\([0-6]\)$/.test(trinoType)
        ? (cells) => ({ type, ...bigints(cells, textAs(parseTime)) })
        : undefined
    case 'timestamp':
      return /^timestamp\([0-6]\)$/.test(trinoType)
        ? (cells) => ({ type, ...bigints(cells, textAs(parseTimestamp)) })
        : undefined
    case 'timestamptz':
      return /^timestamp\([0-6]\) with time zone$/.test(trinoType)
        ? (cells) => ({ type, ...bigints(cells, textAs(parseTimestampWithZone)) })
        : undefined
    case 'interval':
      return /^interval (day to second|year to month)$/i.test(trinoType) ? intervalVector : undefined
    case 'uuid':
      return trinoType === 'uuid'
        ? (cells) => ({
            type,
            values: cells.map((cell) => (cell === null ? '' : uuid(text(cell)))),
            ...validityOf(cells),
          })
        : undefined
    case 'json':
    case 'jsonb':
      return trinoType === 'json' ? (cells) => ({ type, ...texts(cells) }) : undefined
    case 'bytea':
      return trinoType === 'varbinary' ? byteaVector : undefined
    case 'text':
    case 'varchar':
    case 'unknown':
      return /^varchar(\(\d+\))?$/.test(trinoType)
        ? (cells) => ({ type: type === 'varchar' ? type : 'text', ...texts(cells) })
        : undefined
  }
}

type Nulls = { readonly validity?: Uint8Array }

function validityOf(cells: readonly JsonValue[]): Nulls {
  if (!cells.includes(null)) return {}
  const validity = new Uint8Array(Math.ceil(cells.length / 8))
  for (let row = 0; row < cells.length; row++)
    if (cells[row] !== null) validity[row >> 3] = (validity[row >> 3] ?? 0) | (1 << (row & 7))
  return { validity }
}

function filled<T extends { [index: number]: number }>(
  cells: readonly JsonValue[],
  array: new (length: number) => T,
  read: (cell: JsonValue) => number,
): { readonly values: T } & Nulls {
  const values = new array(cells.length)
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row] as JsonValue
    if (cell !== null) (values as { [index: number]: number })[row] = read(cell)
  }
  return { values, ...validityOf(cells) }
}

function bigints(
  cells: readonly JsonValue[],
  read: (cell: JsonValue) => bigint,
): { readonly values: BigInt64Array } & Nulls {
  const values = new BigInt64Array(cells.length)
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row] as JsonValue
    if (cell !== null) values[row] = read(cell)
  }
  return { values, ...validityOf(cells) }
}

function texts(cells: readonly JsonValue[]): VariableWidth & Nulls {
  return { ...utf8Values(cells.map((cell) => (cell === null ? '' : text(cell)))), ...validityOf(cells) }
}

function integerVector(type: 'int2' | 'int4' | 'int8'): BuildVector {
  if (type === 'int8') return (cells) => ({ type, ...bigints(cells, integer) })
  const bound = type === 'int2' ? 2 ** 15 : 2 ** 31
  const read = (cell: JsonValue): number => {
    const value = Number(integer(cell))
    if (value < -bound || value >= bound) throw protocolError(`a value is not a valid ${type}`)
    return value
  }
  if (type === 'int2') return (cells) => ({ type, ...filled(cells, Int16Array, read) })
  return (cells) => ({ type, ...filled(cells, Int32Array, read) })
}

/** Quotients and averages are doubles on the engines (docs/sql.md); they are delivered with 15 digits. */
function numericBuilder(
  trinoType: string,
  size: NumericSize | undefined,
  textScale: TextScale | undefined,
): BuildVector | undefined {
  if (trinoType === 'double') return doubleNumericVector(textScale)
  if (/^varchar(\(\d+\))?$/.test(trinoType))
    return (cells) => ({
      type: 'numeric',
      ...exactNumerics(cells.length, (row) => {
        const cell = cells[row] ?? null
        return cell === null ? undefined : text(cell)
      }),
    })
  if (integers.int8.includes(trinoType))
    return (cells) => ({ type: 'numeric', scale: 0, ...bigints(cells, integer) })
  const decimal = /^decimal\((\d+), ?(\d+)\)$/.exec(trinoType)
  if (decimal === null) return undefined
  const scale = Math.max(Number(decimal[2]), size?.[1] ?? 0)
  const digits = Number(decimal[1]) - Number(decimal[2]) + scale
  const read = textAs((value) => parseDecimal(value, scale))
  if (textScale !== undefined && textScale !== scale) return shownDecimalVector(scale, read, textScale)
  return (cells) =>
    digits <= int64Digits
      ? { type: 'numeric', scale, ...bigints(cells, read) }
      : {
          type: 'numeric',
          scale,
          values: cells.map((cell) => (cell === null ? 0n : read(cell))),
          ...validityOf(cells),
        }
}

/** Decimals of one scale, each shown with digits of its own. */
function shownDecimalVector(
  from: number,
  read: (cell: JsonValue) => bigint,
  textScale: TextScale,
): BuildVector {
  return (cells) => {
    const shown = cells.map((cell) => {
      const digits = cell === null ? 0n : read(cell)
      return shownDigits(Number(digits) / 10 ** from, { digits, scale: from }, textScale)
    })
    return {
      type: 'numeric',
      scale: Uint16Array.from(shown, ({ scale }) => scale),
      values: shown.map(({ digits }) => digits),
      ...validityOf(cells),
    }
  }
}

/** Each has a scale of its own: the text of a value must not depend on the values that share its page. */
const doubleNumericVector =
  (textScale: TextScale | undefined): BuildVector =>
  (cells) => {
    const shown = cells.map((cell) => {
      const value = cell === null ? 0 : float(cell)
      const scale = doubleScale(value)
      return shownDigits(value, { digits: doubleDecimal(value, scale), scale }, textScale)
    })
    return {
      type: 'numeric',
      scale: Uint16Array.from(shown, ({ scale }) => scale),
      values: shown.map(({ digits }) => digits),
      ...validityOf(cells),
    }
  }

const boolVector: BuildVector = (cells) => ({
  type: 'bool',
  ...filled(cells, Uint8Array, (cell) => {
    if (typeof cell !== 'boolean') throw protocolError('a value is not a boolean')
    return cell ? 1 : 0
  }),
})

const intervalVector: BuildVector = (cells) => {
  const months = new Int32Array(cells.length)
  const days = new Int32Array(cells.length)
  const micros = new BigInt64Array(cells.length)
  for (const [row, cell] of cells.entries()) {
    if (cell === null) continue
    const interval = parseTrinoInterval(text(cell))
    months[row] = interval.months
    days[row] = interval.days
    micros[row] = interval.micros
  }
  return { type: 'interval', months, days, micros, ...validityOf(cells) }
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

const byteaVector: BuildVector = (cells) => ({
  type: 'bytea',
  ...byteValues(
    cells.map((cell) => {
      if (cell === null) return new Uint8Array(0)
      const encoded = text(cell)
      if (encoded.length % 4 !== 0 || !base64.test(encoded)) throw protocolError('a value is not a varbinary')
      return Buffer.from(encoded, 'base64')
    }),
  ),
  ...validityOf(cells),
})

function arrayVector(cells: readonly JsonValue[], element: BuildVector): ColumnVector {
  const offsets = new Uint32Array(cells.length + 1)
  const elements: JsonValue[] = []
  for (const [row, cell] of cells.entries()) {
    if (Array.isArray(cell)) for (const each of cell) elements.push(each)
    else if (cell !== null) throw protocolError('a value is not an array')
    offsets[row + 1] = elements.length
  }
  return { type: 'array', offsets, elements: element(elements), ...validityOf(cells) }
}

const canonical: Readonly<Partial<Record<SqlType, string>>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  numeric: 'bigint',
  float4: 'real',
  float8: 'double',
  date: 'date',
  time: 'time(6)',
  timestamp: 'timestamp(6)',
  timestamptz: 'timestamp(6) with time zone',
  interval: 'interval day to second',
  uuid: 'uuid',
  json: 'json',
  jsonb: 'json',
  bytea: 'varbinary',
}

function nulls(column: EngineColumn): BuildVector | undefined {
  const { type } = column
  const build = isArray(type)
    ? (cells: readonly JsonValue[]) =>
        arrayVector(cells, nulls({ ...column, type: elementOf(type) }) ?? boolVector)
    : vectorBuilder(column, canonical[type] ?? 'varchar')
  return (
    build &&
    ((cells) => {
      if (cells.some((cell) => cell !== null)) throw protocolError('a value of type unknown is not NULL')
      return build(cells)
    })
  )
}

function text(cell: JsonValue): string {
  if (typeof cell !== 'string') throw protocolError('a value is not a string')
  return cell
}

function textAs<T>(read: (value: string) => T): (cell: JsonValue) => T {
  return (cell) => read(text(cell))
}

function integer(cell: JsonValue): bigint {
  if (typeof cell !== 'bigint') throw protocolError('a value is not an integer')
  return cell
}

function float(cell: JsonValue): number {
  if (typeof cell === 'number' || typeof cell === 'bigint') return Number(cell)
  if (cell === 'NaN' || cell === 'Infinity' || cell === '-Infinity') return Number(cell)
  throw protocolError('a value is not a number')
}

function uuid(value: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) throw protocolError('a value is not a uuid')
  return value
}
