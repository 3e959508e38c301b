/** Values in PostgreSQL's binary format: one writer a column, chosen once a batch. */

import { type ColumnVector, isNull } from '../../core/result-batch.ts'
import { type ScalarType, typeOid } from '../../core/sql-type.ts'
import { checkDay, checkMicros, infinityDay, minusInfinityDay } from './datetime-text.ts'
import { Int64Reader } from './decimal-text.ts'
import type { MessageWriter } from './message-writer.ts'
import { isInfinite, type ValueWriter } from './text-values.ts'
import { ValueError } from './value-error.ts'

/** From 1970-01-01 to PostgreSQL's epoch, 2000-01-01. */
const epochDays = 10_957
const epochMicros = 946_684_800_000_000n

/** The binary writer of a column. It throws ValueError for a value that PostgreSQL's type cannot hold. */
export function binaryWriter(column: ColumnVector): ValueWriter {
  switch (column.type) {
    case 'bool': {
      const { values } = column
      return (out, row) => out.byte(values[row] ? 1 : 0)
    }
    case 'int2': {
      const { values } = column
      return (out, row) => out.int16(values[row] ?? 0)
    }
    case 'int4': {
      const { values } = column
      return (out, row) => out.int32(values[row] ?? 0)
    }
    case 'int8':
    case 'time':
      return int64Writer(column.values)
    case 'float4': {
      const { values } = column
      return (out, row) => {
        out.ensure(4)
        out.length = out.bytes.writeFloatBE(values[row] ?? 0, out.length)
      }
    }
    case 'float8': {
      const { values } = column
      return (out, row) => {
        out.ensure(8)
        out.length = out.bytes.writeDoubleBE(values[row] ?? 0, out.length)
      }
    }
    case 'numeric': {
      const { values, scale } = column
      if (!(values instanceof BigInt64Array) || scale < 0 || scale > 15)
        return (out, row) => writeNumeric(out, values[row] ?? 0n, scale)
      const reader = new Int64Reader(values)
      return (out, row) => {
        const unscaled = reader.number(row)
        if (Number.isNaN(unscaled)) writeNumeric(out, reader.bigint(row), scale)
        else writeNumericNumber(out, unscaled, scale)
      }
    }
    case 'date': {
      const { values } = column
      return (out, row) => out.int32(postgresDay(values[row] ?? 0))
    }
    case 'timestamp':
    case 'timestamptz': {
      const { values } = column
      return (out, row) => out.int64(postgresMicros(values[row] ?? 0n))
    }
    case 'interval': {
      const { months, days, micros } = column
      return (out, row) => {
        out.int64(micros[row] ?? 0n)
        out.int32(days[row] ?? 0)
        out.int32(months[row] ?? 0)
      }
    }
    case 'jsonb': {
      const { values } = column
      return (out, row) => {
        out.byte(1)
        out.utf8(values[row] ?? '')
      }
    }
    case 'text':
    case 'varchar':
    case 'json': {
      const { values } = column
      return (out, row) => out.utf8(values[row] ?? '')
    }
    case 'uuid': {
      const { values } = column
      return (out, row) => out.raw(Buffer.from((values[row] ?? '').replaceAll('-', ''), 'hex'))
    }
    case 'bytea': {
      const { values } = column
      return (out, row) => out.raw(values[row] ?? new Uint8Array())
    }
    case 'array':
      return arrayWriter(column)
  }
}

/** Eight bytes in the other order, without a bigint a value. */
function int64Writer(values: BigInt64Array): ValueWriter {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2)
  return (out, row) => {
    out.int32(halves[row * 2 + 1] ?? 0)
    out.int32(halves[row * 2] ?? 0)
  }
}

function postgresDay(day: number): number {
  if (day === infinityDay || day === minusInfinityDay) return day
  checkDay(day)
  return day - epochDays
}

function postgresMicros(micros: bigint): bigint {
  if (isInfinite(micros)) return micros
  checkMicros(micros)
  return micros - epochMicros
}

const signPositive = 0
const signNegative = 0x4000
/** PostgreSQL's greatest display scale, and what the count of digits before the point fits. */
const scaleMax = 0x3fff

/** numeric_send: base-10000 digits, those before the point counted by the weight. @throws ValueError 22003 */
function writeNumeric(out: MessageWriter, unscaled: bigint, scale: number): void {
  if (scale > scaleMax) throw new ValueError('22003', 'A numeric has too many digits.')
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString()
  const shown = scale < 0 ? digits + '0'.repeat(-scale) : digits
  const dscale = Math.max(scale, 0)
  const whole = shown.length > dscale ? shown.slice(0, shown.length - dscale) : ''
  const fraction = shown.slice(whole.length).padStart(dscale, '0')
  const aligned =
    whole.padStart(Math.ceil(whole.length / 4) * 4, '0') +
    fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0')
  const groups = aligned.length / 4
  let first = 0
  while (first < groups && aligned.startsWith('0000', first * 4)) first++
  let end = groups
  while (end > first && aligned.startsWith('0000', (end - 1) * 4)) end--
  const isZero = first === end
  out.uint16(end - first)
  out.int16(isZero ? 0 : Math.ceil(whole.length / 4) - 1 - first)
  out.uint16(unscaled < 0n ? signNegative : signPositive)
  out.uint16(dscale)
  for (let group = first; group < end; group++) out.uint16(Number(aligned.slice(group * 4, group * 4 + 4)))
}

/** Base-10000 digits of the number under way, the last one first; at most 4 of a fraction and 4 of the rest. */
const groupsOf = new Uint16Array(10)

/** `writeNumeric` for an unscaled value that is exact as a number and a scale from 0 to 15. */
function writeNumericNumber(out: MessageWriter, unscaled: number, scale: number): void {
  const magnitude = Math.abs(unscaled)
  const unit = 10 ** scale
  let whole = Math.floor(magnitude / unit)
  let fraction = magnitude - whole * unit
  const fractionGroups = (scale + 3) >> 2
  let count = 0
  let size = scale & 3 ? 4 - (scale & 3) : 0
  for (let group = 0; group < fractionGroups; group++) {
    // The last group may have fewer digits than four; zeros fill it.
    const width = 10 ** (4 - size)
    const rest = Math.floor(fraction / width)
    groupsOf[count++] = (fraction - rest * width) * 10 ** size
    fraction = rest
    size = 0
  }
  while (whole > 0) {
    const rest = Math.floor(whole / 10_000)
    groupsOf[count++] = whole - rest * 10_000
    whole = rest
  }
  let last = 0
  while (last < count && groupsOf[last] === 0) last++
  while (count > last && groupsOf[count - 1] === 0) count--
  out.uint16(count - last)
  out.int16(count === last ? 0 : count - 1 - fractionGroups)
  out.uint16(unscaled < 0 ? signNegative : signPositive)
  out.uint16(scale)
  for (let group = count - 1; group >= last; group--) out.uint16(groupsOf[group] ?? 0)
}

type ArrayColumn = Extract<ColumnVector, { readonly type: 'array' }>

/** array_send: one dimension with the lower bound 1; none for an empty array. */
function arrayWriter({ offsets, elements }: ArrayColumn): ValueWriter {
  const write = binaryWriter(elements)
  const oid = typeOid(elements.type as ScalarType)
  return (out, row) => {
    const start = offsets[row] ?? 0
    const end = offsets[row + 1] ?? 0
    out.int32(end > start ? 1 : 0)
    const hasNullAt = out.openLength()
    out.int32(oid)
    let hasNull = 0
    if (end > start) {
      out.int32(end - start)
      out.int32(1)
    }
    for (let element = start; element < end; element++) {
      if (isNull(elements, element)) {
        hasNull = 1
        out.int32(-1)
        continue
      }
      const lengthAt = out.openLength()
      write(out, element)
      out.closeLength(lengthAt)
    }
    out.bytes.writeInt32BE(hasNull, hasNullAt)
  }
}
