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
    case 'numeric':
      return numericWriter(column.values, column.scale)
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

/** The greatest scale at which a fraction, in whole groups of four digits, is exact as a number. */
const numberScaleMax = 12

function numericWriter(values: BigInt64Array | readonly bigint[], scale: number): ValueWriter {
  if (!(values instanceof BigInt64Array) || scale < 0 || scale > numberScaleMax)
    return (out, row) => writeNumeric(out, values[row] ?? 0n, scale)
  const reader = new Int64Reader(values)
  const groups = new Uint16Array(8)
  return (out, row) => {
    const unscaled = reader.number(row)
    if (Number.isNaN(unscaled)) writeNumeric(out, reader.bigint(row), scale)
    else writeNumericNumber(out, unscaled, scale, groups)
  }
}

/** `writeNumeric` for an unscaled value that is exact as a number; `groups` is room to work in. */
function writeNumericNumber(out: MessageWriter, unscaled: number, scale: number, groups: Uint16Array): void {
  const magnitude = Math.abs(unscaled)
  const unit = 10 ** scale
  const whole = Math.floor(magnitude / unit)
  const wholeGroups = whole === 0 ? 0 : whole < 1e4 ? 1 : whole < 1e8 ? 2 : whole < 1e12 ? 3 : 4
  const fractionGroups = Math.ceil(scale / 4)
  const fraction = (magnitude - whole * unit) * 10 ** (fractionGroups * 4 - scale)
  splitGroups(groups, whole, 0, wholeGroups)
  splitGroups(groups, fraction, wholeGroups, wholeGroups + fractionGroups)
  let first = 0
  let end = wholeGroups + fractionGroups
  while (first < end && groups[first] === 0) first++
  while (end > first && groups[end - 1] === 0) end--
  out.uint16(end - first)
  out.int16(first === end ? 0 : wholeGroups - 1 - first)
  out.uint16(unscaled < 0 ? signNegative : signPositive)
  out.uint16(scale)
  for (let group = first; group < end; group++) out.uint16(groups[group] ?? 0)
}

/** Base-10000 digits from `start` to before `end`, the last one least. */
function splitGroups(groups: Uint16Array, value: number, start: number, end: number): void {
  let rest = value
  for (let group = end - 1; group >= start; group--) {
    const quotient = Math.floor(rest / 1e4)
    groups[group] = rest - quotient * 1e4
    rest = quotient
  }
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
