/** Encodes values in PostgreSQL's binary format, a column at a time. */

import { type ColumnVector, isNull } from '../../core/result-batch.ts'
import { type ScalarType, typeOid } from '../../core/sql-type.ts'
import { checkDay, checkMicros, infinityDay, minusInfinityDay } from './datetime-text.ts'
import { Int64Reader } from './decimal-text.ts'
import {
  type ColumnEncoder,
  copyValue,
  encodedAlready,
  type FixedEncoder,
  scratch,
  type VariableEncoder,
  viewOf,
} from './encoded.ts'
import { numericEncoder } from './numeric-binary.ts'
import { isInfinite } from './text-values.ts'

/** Days and microseconds from 1970-01-01 to PostgreSQL's epoch, 2000-01-01. */
const epochDays = 10_957
const epochMicros = 946_684_800_000_000n
const epochHigh = Number(epochMicros >> 32n)
const epochLow = Number(epochMicros & 0xffff_ffffn)

/** The binary encoder of a column; it throws ValueError for a value that PostgreSQL's type cannot hold. */
export function binaryEncoder(column: ColumnVector): ColumnEncoder {
  switch (column.type) {
    case 'bool': {
      const { values } = column
      return fixed(1, (view, places, from, to) => {
        for (let row = from; row < to; row++) view.setUint8(places[row - from] ?? 0, values[row] ? 1 : 0)
      })
    }
    case 'int2': {
      const { values } = column
      return fixed(2, (view, places, from, to) => {
        for (let row = from; row < to; row++) view.setInt16(places[row - from] ?? 0, values[row] ?? 0)
      })
    }
    case 'int4':
      return words(column.values)
    case 'float4':
      return words(bits(column.values))
    case 'int8':
    case 'time':
    case 'float8':
      return doubleWords(bits(column.values))
    case 'numeric':
      return numericEncoder(column)
    case 'date':
      return dates(column)
    case 'timestamp':
    case 'timestamptz':
      return timestamps(column, column.values)
    case 'interval':
      return intervals(column)
    case 'jsonb':
      return jsonb(column)
    case 'text':
    case 'varchar':
    case 'json':
    case 'bytea':
      return encodedAlready(column)
    case 'uuid': {
      const { values } = column
      return fixed(16, (view, places, from, to) => {
        for (let row = from; row < to; row++) writeUuid(view, places[row - from] ?? 0, values[row] ?? '')
      })
    }
    case 'array':
      return arrayEncoder(column)
  }
}

function fixed(width: number, fill: FixedEncoder['fill']): FixedEncoder {
  return { width, fill }
}

/** The values' memory as 32-bit words, the lower one first. */
function bits({ buffer, byteOffset, byteLength }: BigInt64Array | Float64Array | Float32Array): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength >> 2)
}

function words(values: Int32Array): FixedEncoder {
  return fixed(4, (view, places, from, to) => {
    for (let row = from; row < to; row++) view.setInt32(places[row - from] ?? 0, values[row] ?? 0)
  })
}

/** Writes eight bytes in reverse order without allocating a bigint per value. */
function doubleWords(halves: Int32Array): FixedEncoder {
  return fixed(8, (view, places, from, to) => {
    for (let row = from; row < to; row++) {
      const at = places[row - from] ?? 0
      view.setInt32(at, halves[row * 2 + 1] ?? 0)
      view.setInt32(at + 4, halves[row * 2] ?? 0)
    }
  })
}

type DateColumn = Extract<ColumnVector, { readonly type: 'date' }>

function dates(column: DateColumn): FixedEncoder {
  const { values } = column
  return fixed(4, (view, places, from, to) => {
    for (let row = from; row < to; row++)
      if (!isNull(column, row)) view.setInt32(places[row - from] ?? 0, postgresDay(values[row] ?? 0))
  })
}

function postgresDay(day: number): number {
  if (day === infinityDay || day === minusInfinityDay) return day
  checkDay(day)
  return day - epochDays
}

function timestamps(column: ColumnVector, values: BigInt64Array): FixedEncoder {
  const halves = bits(values)
  const reader = new Int64Reader(values)
  return fixed(8, (view, places, from, to) => {
    for (let row = from; row < to; row++) {
      const at = places[row - from] ?? 0
      // A value that is exact as a number is in range and not an infinity.
      if (Number.isNaN(reader.number(row))) {
        if (!isNull(column, row)) view.setBigInt64(at, postgresMicros(reader.bigint(row)))
        continue
      }
      const low = ((halves[row * 2] ?? 0) >>> 0) - epochLow
      view.setInt32(at, (halves[row * 2 + 1] ?? 0) - epochHigh - (low < 0 ? 1 : 0))
      view.setInt32(at + 4, low | 0)
    }
  })
}

function postgresMicros(micros: bigint): bigint {
  if (isInfinite(micros)) return micros
  checkMicros(micros)
  return micros - epochMicros
}

type IntervalColumn = Extract<ColumnVector, { readonly type: 'interval' }>

function intervals({ months, days, micros }: IntervalColumn): FixedEncoder {
  const halves = bits(micros)
  return fixed(16, (view, places, from, to) => {
    for (let row = from; row < to; row++) {
      const at = places[row - from] ?? 0
      view.setInt32(at, halves[row * 2 + 1] ?? 0)
      view.setInt32(at + 4, halves[row * 2] ?? 0)
      view.setInt32(at + 8, days[row] ?? 0)
      view.setInt32(at + 12, months[row] ?? 0)
    }
  })
}

/** @param text the UUID in canonical form; '' where the row is NULL */
function writeUuid(view: DataView, at: number, text: string): void {
  const hex = text.replaceAll('-', '')
  for (let word = 0; word < 4; word++)
    view.setInt32(at + word * 4, Number.parseInt(hex.slice(word * 8, word * 8 + 8), 16))
}

type JsonColumn = Extract<ColumnVector, { readonly type: 'text' | 'varchar' | 'json' | 'jsonb' | 'bytea' }>

/** The text behind the version number, 1. */
function jsonb(column: JsonColumn): VariableEncoder {
  const { offsets: ends } = column
  const source = viewOf(column)
  return {
    width: undefined,
    encode(from, to) {
      scratch.ensure((ends[to] ?? 0) - (ends[from] ?? 0) + to - from)
      const { view } = scratch
      const offsets = scratch.takeOffsets(to)
      let at = scratch.length
      offsets[from] = at
      for (let row = from; row < to; row++) {
        view.setUint8(at, 1)
        at = copyValue(view, at + 1, source, ends[row] ?? 0, ends[row + 1] ?? 0)
        offsets[row + 1] = at
      }
      scratch.length = at
      return { bytes: undefined, offsets }
    },
  }
}

type ArrayColumn = Extract<ColumnVector, { readonly type: 'array' }>

const arrayHeadBytes = 20

/** array_send: one dimension with the lower bound 1; none for an empty array. */
function arrayEncoder(column: ArrayColumn): VariableEncoder {
  const { offsets: ends, elements } = column
  const elementsOf = valuesEncoder(binaryEncoder(elements))
  const oid = typeOid(elements.type as ScalarType)
  return {
    width: undefined,
    encode(from, to) {
      const first = ends[from] ?? 0
      const last = ends[to] ?? 0
      const encoded = elementsOf.encode(first, last)
      const { offsets: elementEnds } = encoded
      const bytesMax = (elementEnds[last] ?? 0) - (elementEnds[first] ?? 0)
      scratch.ensure(bytesMax + (last - first) * 4 + (to - from) * arrayHeadBytes)
      const source = viewOf(encoded)
      const { view } = scratch
      const offsets = scratch.takeOffsets(to)
      let at = scratch.length
      offsets[from] = at
      for (let row = from; row < to; row++) {
        const start = ends[row] ?? 0
        const end = ends[row + 1] ?? 0
        const head = at
        at = writeArrayHead(view, at, oid, end - start)
        for (let element = start; element < end; element++) {
          if (isNull(elements, element)) {
            view.setInt32(head + 4, 1)
            view.setInt32(at, -1)
            at += 4
            continue
          }
          const valueStart = elementEnds[element] ?? 0
          const valueEnd = elementEnds[element + 1] ?? 0
          view.setInt32(at, valueEnd - valueStart)
          at = copyValue(view, at + 4, source, valueStart, valueEnd)
        }
        offsets[row + 1] = at
      }
      scratch.length = at
      return { bytes: undefined, offsets }
    },
  }
}

/** Writes the head with the flag for NULL elements unset. */
function writeArrayHead(view: DataView, at: number, oid: number, count: number): number {
  view.setInt32(at, count > 0 ? 1 : 0)
  view.setInt32(at + 4, 0)
  view.setUint32(at + 8, oid)
  if (count === 0) return at + 12
  view.setInt32(at + 12, count)
  view.setInt32(at + 16, 1)
  return at + arrayHeadBytes
}

/** Adapts an encoder of fixed width to the interface of variable width. */
function valuesEncoder(encoder: ColumnEncoder): VariableEncoder {
  if (encoder.width === undefined) return encoder
  const { width, fill } = encoder
  return {
    width: undefined,
    encode(from, to) {
      scratch.ensure(width * (to - from))
      const offsets = scratch.takeOffsets(to)
      for (let row = from; row <= to; row++) offsets[row] = scratch.length + (row - from) * width
      fill(scratch.view, offsets.subarray(from), from, to)
      scratch.length += width * (to - from)
      return { bytes: undefined, offsets }
    },
  }
}
