/** Converts the parameters of Bind to PostgreSQL's text format, which the read path takes. */

import type { ColumnVector } from '../../core/result-batch.ts'
import { elementOf, isArray, type ScalarType, type SqlType, typeOid } from '../../core/sql-type.ts'
import { byteValues, utf8Values } from '../../core/variable-width.ts'
import { ByteReader, ProtocolViolation } from './byte-reader.ts'
import { infinityDay, infinityMicros, minusInfinityDay, minusInfinityMicros } from './datetime-text.ts'
import type { Format } from './protocol.ts'
import { defaultTextOptions, textOf } from './text-values.ts'
import { ValueError } from './value-error.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const epochDays = 10_957
const epochMicros = 946_684_800_000_000n
/** 24:00:00, which is a valid time. */
const dayMicros = 86_400_000_000n

/**
 * A parameter's text form.
 * @throws ValueError 22P03 for binary data that does not fit the type; 22008 for a time out of range; 22021 for text
 *   that is not UTF-8
 */
export function parameterText(bytes: Uint8Array, format: Format, type: SqlType): string {
  if (format === 0 || type === 'unknown') return decodeText(bytes)
  try {
    const reader = new ByteReader(bytes)
    const text = isArray(type) ? arrayText(reader, elementOf(type)) : scalarText(reader, type)
    reader.end()
    return text
  } catch (thrown) {
    if (!(thrown instanceof ProtocolViolation)) throw thrown
    throw new ValueError('22P03', `incorrect binary data format for a parameter of type ${type}`)
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    const text = utf8.decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // Falls through to the same error as for a zero byte.
  }
  throw new ValueError('22021', 'invalid byte sequence for encoding "UTF8"')
}

function scalarText(reader: ByteReader, type: ScalarType): string {
  if (type === 'numeric') return numericText(reader)
  return textOf(oneRow(reader, type), 0, defaultTextOptions)
}

/** The value as a column of one row, so that the encoder of results can print it. */
function oneRow(reader: ByteReader, type: Exclude<ScalarType, 'numeric'>): ColumnVector {
  switch (type) {
    case 'bool':
      return { type, values: Uint8Array.of(reader.byte()) }
    case 'int2':
      return { type, values: Int16Array.of(reader.int16()) }
    case 'int4':
      return { type, values: Int32Array.of(reader.int32()) }
    case 'int8':
      return { type, values: BigInt64Array.of(int64(reader)) }
    case 'time': {
      const micros = int64(reader)
      if (micros < 0n || micros > dayMicros) throw new ValueError('22008', 'time out of range')
      return { type, values: BigInt64Array.of(micros) }
    }
    case 'float4':
      return { type, values: Float32Array.of(view(reader, 4).getFloat32(0)) }
    case 'float8':
      return { type, values: Float64Array.of(view(reader, 8).getFloat64(0)) }
    case 'date': {
      const day = reader.int32()
      const isInfinite = day === infinityDay || day === minusInfinityDay
      return { type, values: Int32Array.of(isInfinite ? day : day + epochDays) }
    }
    case 'timestamp':
    case 'timestamptz': {
      const micros = int64(reader)
      const isInfinite = micros === infinityMicros || micros === minusInfinityMicros
      return { type, values: BigInt64Array.of(isInfinite ? micros : micros + epochMicros) }
    }
    case 'interval': {
      const micros = BigInt64Array.of(int64(reader))
      return { type, micros, days: Int32Array.of(reader.int32()), months: Int32Array.of(reader.int32()) }
    }
    case 'uuid': {
      const hex = Buffer.from(reader.bytes(16)).toString('hex')
      return { type, values: [hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')] }
    }
    case 'bytea':
      return { type, ...byteValues([reader.rest()]) }
    case 'jsonb':
      if (reader.byte() !== 1) throw new ProtocolViolation('unsupported jsonb version number')
      return { type, ...utf8Values([decodeText(reader.rest())]) }
    case 'text':
    case 'varchar':
    case 'json':
      return { type, ...utf8Values([decodeText(reader.rest())]) }
  }
}

function view(reader: ByteReader, count: number): DataView {
  const bytes = reader.bytes(count)
  return new DataView(bytes.buffer, bytes.byteOffset, count)
}

function int64(reader: ByteReader): bigint {
  return view(reader, 8).getBigInt64(0)
}

const specialNumerics: ReadonlyMap<number, string> = new Map([
  [0xc000, 'NaN'],
  [0xd000, 'Infinity'],
  [0xf000, '-Infinity'],
])

function numericText(reader: ByteReader): string {
  const count = reader.uint16()
  const weight = reader.int16()
  const sign = reader.uint16()
  const scale = reader.uint16()
  if (count * 2 !== reader.remaining) throw new ProtocolViolation('invalid numeric')
  const special = specialNumerics.get(sign)
  if (special !== undefined) return special
  if (sign !== 0 && sign !== 0x4000) throw new ProtocolViolation('invalid sign in numeric')
  const groups = Array.from({ length: count }, () => {
    const group = reader.uint16()
    if (group > 9999) throw new ProtocolViolation('invalid digit in numeric')
    return String(group).padStart(4, '0')
  })
  const wholeGroups = Math.max(weight + 1, 0)
  const whole = groups
    .slice(0, wholeGroups)
    .join('')
    .padEnd(wholeGroups * 4, '0')
    .replace(/^0+/, '')
  const fraction = ('0000'.repeat(Math.max(-weight - 1, 0)) + groups.slice(wholeGroups).join(''))
    .padEnd(scale, '0')
    .slice(0, scale)
  return `${sign === 0 ? '' : '-'}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`
}

/** Reads array_send's format; one dimension only. */
function arrayText(reader: ByteReader, type: ScalarType): string {
  const dimensions = reader.int32()
  reader.int32()
  const oid = reader.uint32()
  if (oid !== typeOid(type)) throw new ProtocolViolation('wrong element type')
  if (dimensions === 0) return '{}'
  if (dimensions !== 1) throw new ValueError('0A000', 'Arrays of more than one dimension are not supported.')
  const count = reader.int32()
  reader.int32()
  if (count < 0 || count * 4 > reader.remaining) throw new ProtocolViolation('invalid array size')
  const elements: string[] = []
  for (let index = 0; index < count; index++) {
    const length = reader.int32()
    elements.push(length === -1 ? 'NULL' : elementText(scalarElement(reader.bytes(length), type)))
  }
  return `{${elements.join(',')}}`
}

/** As array_out: quoted where it is empty, looks like NULL or contains a character of the array syntax. */
function elementText(text: string): string {
  return /^(null)?$|[{}",\\ \t\n\v\f\r]/i.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text
}

function scalarElement(bytes: Uint8Array, type: ScalarType): string {
  const reader = new ByteReader(bytes)
  const text = scalarText(reader, type)
  reader.end()
  return text
}
