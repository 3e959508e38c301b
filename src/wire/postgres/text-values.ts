/** Values in PostgreSQL's text format: one writer a column, chosen once a batch. */

import { type ColumnVector, isNull } from '../../core/result-batch.ts'
import {
  infinityMicros,
  minusInfinityMicros,
  writeDate,
  writeInterval,
  writeTime,
  writeTimestamp,
  writeTimestampBig,
} from './datetime-text.ts'
import { floatText, Int64Reader, writeInteger, writeScaled, writeScaledNumber } from './decimal-text.ts'
import { MessageWriter } from './message-writer.ts'

/** Writes the value of a row that is not NULL, without its length. */
export type ValueWriter = (out: MessageWriter, row: number) => void

export interface TextOptions {
  /** PostgreSQL's extra_float_digits, -15 to 3. */
  readonly extraFloatDigits: number
}

/** The text writer of a column. It throws ValueError 22008 for a date that PostgreSQL cannot hold. */
export function textWriter(column: ColumnVector, options: TextOptions): ValueWriter {
  switch (column.type) {
    case 'bool': {
      const { values } = column
      return (out, row) => out.byte(values[row] ? 0x74 : 0x66)
    }
    case 'int2':
    case 'int4': {
      const { values } = column
      return (out, row) => writeInteger(out, values[row] ?? 0)
    }
    case 'int8':
      return scaledWriter(column.values, 0)
    case 'numeric':
      return scaledWriter(column.values, column.scale)
    case 'float4':
    case 'float8': {
      const { values } = column
      const width = column.type === 'float4' ? 4 : 8
      return (out, row) => out.ascii(floatText(values[row] ?? 0, width, options.extraFloatDigits))
    }
    case 'date': {
      const { values } = column
      return (out, row) => writeDate(out, values[row] ?? 0)
    }
    case 'time': {
      const reader = new Int64Reader(column.values)
      return (out, row) => writeTime(out, reader.number(row))
    }
    case 'timestamp':
    case 'timestamptz':
      return timestampWriter(column.values, column.type === 'timestamptz')
    case 'interval': {
      const { months, days, micros } = column
      return (out, row) => writeInterval(out, months[row] ?? 0, days[row] ?? 0, micros[row] ?? 0n)
    }
    case 'text':
    case 'varchar':
    case 'json':
    case 'jsonb':
    case 'uuid': {
      const { values } = column
      return (out, row) => out.utf8(values[row] ?? '')
    }
    case 'bytea': {
      const { values } = column
      return (out, row) => writeHex(out, values[row] ?? new Uint8Array())
    }
    case 'array':
      return arrayWriter(column, options)
  }
}

function scaledWriter(values: BigInt64Array | readonly bigint[], scale: number): ValueWriter {
  if (!(values instanceof BigInt64Array)) return (out, row) => writeScaled(out, values[row] ?? 0n, scale)
  const reader = new Int64Reader(values)
  if (scale < 0 || scale > 15) return (out, row) => writeScaled(out, reader.bigint(row), scale)
  return (out, row) => {
    const unscaled = reader.number(row)
    if (Number.isNaN(unscaled)) writeScaled(out, reader.bigint(row), scale)
    else writeScaledNumber(out, unscaled, scale)
  }
}

function timestampWriter(values: BigInt64Array, zoned: boolean): ValueWriter {
  const reader = new Int64Reader(values)
  return (out, row) => {
    const micros = reader.number(row)
    if (Number.isNaN(micros)) writeTimestampBig(out, reader.bigint(row), zoned)
    else writeTimestamp(out, micros, zoned)
  }
}

/** Whether a timestamp's microseconds stand for an infinity. */
export function isInfinite(micros: bigint): boolean {
  return micros === infinityMicros || micros === minusInfinityMicros
}

const hexDigits = Buffer.from('0123456789abcdef', 'latin1')

function writeHex(out: MessageWriter, value: Uint8Array): void {
  out.ensure(2 + value.length * 2)
  const { bytes } = out
  let at = out.length
  bytes[at++] = 0x5c
  bytes[at++] = 0x78
  for (const each of value) {
    bytes[at++] = hexDigits[each >> 4] ?? 0
    bytes[at++] = hexDigits[each & 15] ?? 0
  }
  out.length = at
}

type ArrayColumn = Extract<ColumnVector, { readonly type: 'array' }>

function arrayWriter({ offsets, elements }: ArrayColumn, options: TextOptions): ValueWriter {
  const write = textWriter(elements, options)
  const scratch = new MessageWriter()
  return (out, row) => {
    const end = offsets[row + 1] ?? 0
    const start = offsets[row] ?? 0
    out.byte(0x7b)
    for (let element = start; element < end; element++) {
      if (element > start) out.byte(0x2c)
      if (isNull(elements, element)) out.ascii('NULL')
      else {
        scratch.clear()
        write(scratch, element)
        writeElement(out, scratch.view())
      }
    }
    out.byte(0x7d)
  }
}

const quote = 0x22
const backslash = 0x5c

/** Writes one element by array_out's rule: quoted where it is empty, looks like NULL or holds a character of the array's own syntax. */
export function writeElement(out: MessageWriter, text: Uint8Array): void {
  if (!needsQuotes(text)) {
    out.raw(text)
    return
  }
  out.ensure(text.length * 2 + 2)
  const { bytes } = out
  let at = out.length
  bytes[at++] = quote
  for (const each of text) {
    if (each === quote || each === backslash) bytes[at++] = backslash
    bytes[at++] = each
  }
  bytes[at++] = quote
  out.length = at
}

const elementSyntax = new Set(Buffer.from('{}",\\ \t\n\v\f\r', 'latin1'))

function needsQuotes(text: Uint8Array): boolean {
  if (text.length === 0) return true
  if (text.length === 4 && Buffer.from(text).toString('latin1').toLowerCase() === 'null') return true
  return text.some((each) => elementSyntax.has(each))
}
