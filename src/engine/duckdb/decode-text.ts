/** Strings, byte strings and UUIDs out of DuckDB's 16-byte cells (`string_t`, `hugeint_t`). */

import duckdb from '@duckdb/node-bindings'
import { hasValue, type RawVector } from './raw-vector.ts'

const cellBytes = 16
/** A cell holds shorter values itself, after their length; longer ones it points to. */
const inlineBytesMax = 12

/** Texts; '' where the row is NULL: what a cell holds there may point anywhere. */
export function strings(raw: RawVector): string[] {
  return cells(raw, '', (from, start, end) => from.toString('utf8', start, end))
}

/** Byte strings, copied. */
export function blobs(raw: RawVector): Uint8Array[] {
  return cells(raw, new Uint8Array(0), (from, start, end) => new Uint8Array(from.subarray(start, end)))
}

/** @param read a value out of a buffer: one for all short values, so that none is made a row */
function cells<T>(raw: RawVector, absent: T, read: (from: Buffer, start: number, end: number) => T): T[] {
  const { bytes, count } = raw
  const inline = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const values = new Array<T>(count)
  for (let row = 0; row < count; row++) {
    if (!hasValue(raw, row)) {
      values[row] = absent
      continue
    }
    const at = row * cellBytes
    const length = inline.readUInt32LE(at)
    if (length <= inlineBytesMax) {
      values[row] = read(inline, at + 4, at + 4 + length)
      continue
    }
    const far = duckdb.get_data_from_pointer(bytes.buffer as ArrayBuffer, bytes.byteOffset + at + 8, length)
    values[row] = read(Buffer.from(far.buffer, far.byteOffset, far.length), 0, length)
  }
  return values
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** UUIDs in canonical form. Their bytes stand in reverse, the first bit turned so that they sort as numbers. */
export function uuids({ bytes, count }: RawVector): string[] {
  return Array.from({ length: count }, (_, row) => {
    let text = ''
    for (let index = 0; index < cellBytes; index++) {
      const byte = bytes[row * cellBytes + cellBytes - 1 - index] ?? 0
      text += hex[index === 0 ? byte ^ 0x80 : byte]
      if (index === 3 || index === 5 || index === 7 || index === 9) text += '-'
    }
    return text
  })
}
