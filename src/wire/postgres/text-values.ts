/** Encodes values in PostgreSQL's text format, a column at a time. */

import { type ColumnVector, isNull, scaleAt } from '../../core/result-batch.ts'
import { offsetText, type TimeZone } from '../../core/time-zone.ts'
import type { VariableWidth } from '../../core/variable-width.ts'
import {
  datetimeRoom,
  infinityMicros,
  minusInfinityMicros,
  writeDate,
  writeTime,
  writeTimestamp,
  writeTimestampBig,
} from './datetime-text.ts'
import {
  floatRoom,
  floatText,
  Int64Reader,
  integerRoom,
  scaledText,
  writeAscii,
  writeFloat8,
  writeInteger,
  writeScaled,
} from './decimal-text.ts'
import { bytesOf, encodedAlready, scratch, type VariableEncoder, viewOf } from './encoded.ts'
import { type IntervalStyle, intervalText } from './interval-text.ts'

export interface TextOptions {
  /** PostgreSQL's extra_float_digits, -15 to 3. */
  readonly extraFloatDigits: number
  readonly intervalStyle: IntervalStyle
  /** The session's time zone, in which instants are written. Absent: UTC. */
  readonly timeZone?: TimeZone | undefined
}

/** What PostgreSQL does unless it is told otherwise. */
export const defaultTextOptions: TextOptions = { extraFloatDigits: 1, intervalStyle: 'postgres' }

/** The text encoder of a column; it throws ValueError 22008 for a date or timestamp that PostgreSQL cannot hold. */
export function textEncoder(column: ColumnVector, options: TextOptions): VariableEncoder {
  switch (column.type) {
    case 'bool': {
      const { values } = column
      return encoder(column, 1, (view, at, row) => {
        view.setUint8(at, values[row] ? 0x74 : 0x66)
        return at + 1
      })
    }
    case 'int2': {
      const { values } = column
      return encoder(column, integerRoom, (view, at, row) => writeInteger(view, at, values[row] ?? 0))
    }
    case 'int4': {
      const { values } = column
      return encoder(column, integerRoom, (view, at, row) => writeInteger(view, at, values[row] ?? 0))
    }
    case 'int8':
      return scaledEncoder(column, column.values, 0)
    case 'numeric':
      return scaledEncoder(column, column.values, column.scale)
    case 'float4':
    case 'float8':
      return floatEncoder(column, options)
    case 'date': {
      const { values } = column
      return encoder(column, datetimeRoom, (view, at, row) => writeDate(view, at, values[row] ?? 0))
    }
    case 'time': {
      const reader = new Int64Reader(column.values)
      return encoder(column, datetimeRoom, (view, at, row) => writeTime(view, at, reader.number(row)))
    }
    case 'timestamp':
      return timestampEncoder(column, column.values, '')
    case 'timestamptz': {
      const { values } = column
      const { timeZone } = options
      return timeZone ? zonedEncoder(column, values, timeZone) : timestampEncoder(column, values, '+00')
    }
    case 'interval': {
      const { months, days, micros } = column
      const { intervalStyle } = options
      return textsEncoder(column, (row) =>
        intervalText(months[row] ?? 0, days[row] ?? 0, micros[row] ?? 0n, intervalStyle),
      )
    }
    case 'text':
    case 'varchar':
    case 'json':
    case 'jsonb':
      return encodedAlready(column)
    case 'uuid': {
      const { values } = column
      return textsEncoder(column, (row) => values[row] ?? '')
    }
    case 'bytea':
      return hexEncoder(column)
    case 'array':
      return arrayEncoder(column, options)
  }
}

/** Writes a row's value. @returns the index behind it */
type WriteValue = (view: DataView, at: number, row: number) => number

/** @param room the most bytes that a value takes */
function encoder(column: ColumnVector, room: number, write: WriteValue): VariableEncoder {
  return {
    width: undefined,
    encode(from, to) {
      scratch.ensure(room * (to - from))
      const { view } = scratch
      const offsets = scratch.takeOffsets(to)
      let at = scratch.length
      offsets[from] = at
      for (let row = from; row < to; row++) {
        if (!isNull(column, row)) at = write(view, at, row)
        offsets[row + 1] = at
      }
      scratch.length = at
      return { bytes: undefined, offsets }
    },
  }
}

/** The encoder of values that are made as ASCII strings. */
function textsEncoder(column: ColumnVector, textOf: (row: number) => string): VariableEncoder {
  return {
    width: undefined,
    encode(from, to) {
      const offsets = scratch.takeOffsets(to)
      offsets[from] = scratch.length
      for (let row = from; row < to; row++) {
        if (!isNull(column, row)) {
          const text = textOf(row)
          scratch.ensure(text.length)
          scratch.length = writeAscii(scratch.view, scratch.length, text)
        }
        offsets[row + 1] = scratch.length
      }
      return { bytes: undefined, offsets }
    },
  }
}

function scaledEncoder(
  column: ColumnVector,
  values: BigInt64Array | readonly bigint[],
  scale: number | Uint16Array,
): VariableEncoder {
  if (typeof scale !== 'number' || !(values instanceof BigInt64Array) || scale < 0 || scale > 15)
    return textsEncoder(column, (row) => scaledText(values[row] ?? 0n, scaleAt(scale, row)))
  const reader = new Int64Reader(values)
  return encoder(column, integerRoom + scale, (view, at, row) => {
    const unscaled = reader.number(row)
    return Number.isNaN(unscaled)
      ? writeAscii(view, at, scaledText(reader.bigint(row), scale))
      : writeScaled(view, at, unscaled, scale)
  })
}

function floatEncoder(
  column: Extract<ColumnVector, { readonly type: 'float4' | 'float8' }>,
  { extraFloatDigits }: TextOptions,
): VariableEncoder {
  const { type, values } = column
  const width = type === 'float4' ? 4 : 8
  if (type === 'float8' && extraFloatDigits > 0)
    return encoder(column, floatRoom, (view, at, row) => writeFloat8(view, at, values[row] ?? 0))
  return textsEncoder(column, (row) => floatText(values[row] ?? 0, width, extraFloatDigits))
}

function timestampEncoder(column: ColumnVector, values: BigInt64Array, offset: string): VariableEncoder {
  const reader = new Int64Reader(values)
  return encoder(column, datetimeRoom, (view, at, row) => {
    const micros = reader.number(row)
    return Number.isNaN(micros)
      ? writeTimestampBig(view, at, reader.bigint(row), offset)
      : writeTimestamp(view, at, micros, offset)
  })
}

/** Instants as the clocks of a zone show them. */
function zonedEncoder(column: ColumnVector, values: BigInt64Array, { offsetAt }: TimeZone): VariableEncoder {
  const reader = new Int64Reader(values)
  return encoder(column, datetimeRoom, (view, at, row) => {
    const micros = reader.number(row)
    if (!Number.isNaN(micros)) {
      const offset = offsetAt(micros / 1_000_000)
      return writeTimestamp(view, at, micros + offset * 1_000_000, offsetText(offset))
    }
    const big = reader.bigint(row)
    if (isInfinite(big)) return writeTimestampBig(view, at, big, '')
    const offset = offsetAt(Number(big / 1_000_000n))
    return writeTimestampBig(view, at, big + BigInt(offset) * 1_000_000n, offsetText(offset))
  })
}

/** One value, which must not be NULL, as text. @throws ValueError as {@link textEncoder} */
export function textOf(column: ColumnVector, row: number, options: TextOptions): string {
  try {
    const encoded = textEncoder(column, options).encode(row, row + 1)
    return Buffer.from(bytesOf(encoded).subarray(encoded.offsets[row], encoded.offsets[row + 1])).toString()
  } finally {
    scratch.clear()
  }
}

/** Whether a timestamp's microseconds mean an infinity. */
export function isInfinite(micros: bigint): boolean {
  return micros === infinityMicros || micros === minusInfinityMicros
}

/** The two hexadecimal digits of each byte as one 16-bit word. */
const hexDigits = Int16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0'), 'latin1').readInt16BE(),
)

const hexPrefix = Buffer.from('\\x', 'latin1').readInt16BE()

function hexEncoder(column: ColumnVector & VariableWidth): VariableEncoder {
  const { bytes, offsets: ends } = column
  return {
    width: undefined,
    encode(from, to) {
      scratch.ensure(((ends[to] ?? 0) - (ends[from] ?? 0) + to - from) * 2)
      const { view } = scratch
      const offsets = scratch.takeOffsets(to)
      let at = scratch.length
      offsets[from] = at
      for (let row = from; row < to; row++) {
        if (!isNull(column, row)) {
          view.setInt16(at, hexPrefix)
          at += 2
          for (let index = ends[row] ?? 0; index < (ends[row + 1] ?? 0); index++, at += 2)
            view.setInt16(at, hexDigits[bytes[index] ?? 0] ?? 0)
        }
        offsets[row + 1] = at
      }
      scratch.length = at
      return { bytes: undefined, offsets }
    },
  }
}

type ArrayColumn = Extract<ColumnVector, { readonly type: 'array' }>

const [open, close, comma] = [0x7b, 0x7d, 0x2c]
const nullWord = Buffer.from('NULL', 'latin1').readInt32BE()

function arrayEncoder(column: ArrayColumn, options: TextOptions): VariableEncoder {
  const { offsets: ends, elements } = column
  const elementEncoder = textEncoder(elements, options)
  return {
    width: undefined,
    encode(from, to) {
      const first = ends[from] ?? 0
      const last = ends[to] ?? 0
      const encoded = elementEncoder.encode(first, last)
      const { offsets: elementEnds } = encoded
      const bytesMax = (elementEnds[last] ?? 0) - (elementEnds[first] ?? 0)
      // Every character may need a backslash, and every element a comma and quotes or NULL.
      scratch.ensure(bytesMax * 2 + (last - first) * 5 + (to - from) * 2)
      const source = viewOf(encoded)
      const { view } = scratch
      const offsets = scratch.takeOffsets(to)
      let at = scratch.length
      offsets[from] = at
      for (let row = from; row < to; row++) {
        if (!isNull(column, row)) {
          view.setUint8(at++, open)
          for (let element = ends[row] ?? 0; element < (ends[row + 1] ?? 0); element++) {
            if (element > (ends[row] ?? 0)) view.setUint8(at++, comma)
            if (isNull(elements, element)) {
              view.setInt32(at, nullWord)
              at += 4
            } else
              at = writeElement(view, at, source, elementEnds[element] ?? 0, elementEnds[element + 1] ?? 0)
          }
          view.setUint8(at++, close)
        }
        offsets[row + 1] = at
      }
      scratch.length = at
      return { bytes: undefined, offsets }
    },
  }
}

const quote = 0x22
const backslash = 0x5c

/**
 * Writes one element as array_out does: quoted where it is empty, looks like NULL or contains a character of the array
 * syntax. It takes at most twice its bytes plus two.
 */
function writeElement(view: DataView, at: number, source: DataView, start: number, end: number): number {
  const quoted = needsQuotes(source, start, end)
  if (quoted) view.setUint8(at++, quote)
  for (let from = start; from < end; from++) {
    const each = source.getUint8(from)
    if (each === quote || each === backslash) view.setUint8(at++, backslash)
    view.setUint8(at++, each)
  }
  if (quoted) view.setUint8(at++, quote)
  return at
}

/** By character code: 1 where an element with the character must be quoted. */
const elementSyntax = new Uint8Array(256)
for (const each of Buffer.from('{}",\\ \t\n\v\f\r', 'latin1')) elementSyntax[each] = 1

function needsQuotes(source: DataView, start: number, end: number): boolean {
  if (start === end) return true
  // Compared in lower case, because NULL in any case needs quotes.
  if (end - start === 4 && (source.getInt32(start) | 0x20202020) === (nullWord | 0x20202020)) return true
  for (let from = start; from < end; from++) if (elementSyntax[source.getUint8(from)] === 1) return true
  return false
}
