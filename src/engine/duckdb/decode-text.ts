/** Decodes strings, byte strings and UUIDs from DuckDB's 16-byte cells (`string_t`, `hugeint_t`). */

import duckdb from '@duckdb/node-bindings'
import { type VariableWidth, variableBytesMax } from '../../core/variable-width.ts'
import { EngineError } from '../engine-error.ts'
import { hasValue, type RawVector } from './raw-vector.ts'

const cellBytes = 16
const cellWords = 4
/** A cell holds values up to this length behind the length itself; to longer ones it has a pointer. */
const inlineBytesMax = 12

/**
 * Copies texts, as UTF-8, and byte strings. NULL rows are left empty, because their cells may point anywhere.
 * @throws EngineError 53000 for more bytes than a batch's column can hold
 */
export function byteStrings(raw: RawVector): VariableWidth {
  const { bytes: cells, count } = raw
  const words = new Int32Array(cells.buffer, cells.byteOffset, count * cellWords)
  const offsets = offsetsOf(raw, words)
  const length = offsets[count] ?? 0
  // Short values are copied in whole words; the last word may pass the value's end.
  const bytes = new Uint8Array(length + inlineBytesMax)
  const view = new DataView(bytes.buffer)
  for (let row = 0; row < count; row++) {
    const start = offsets[row] ?? 0
    const valueBytes = (offsets[row + 1] ?? 0) - start
    if (valueBytes > inlineBytesMax) bytes.set(farBytes(cells, row, valueBytes), start)
    else
      for (let word = 0; word * 4 < valueBytes; word++)
        view.setInt32(start + word * 4, words[row * cellWords + 1 + word] ?? 0, true)
  }
  return { bytes: bytes.subarray(0, length), offsets }
}

function offsetsOf(raw: RawVector, words: Int32Array): Uint32Array {
  const offsets = new Uint32Array(raw.count + 1)
  let length = 0
  for (let row = 0; row < raw.count; row++) {
    if (hasValue(raw, row)) length += (words[row * cellWords] ?? 0) >>> 0
    offsets[row + 1] = length
  }
  if (length > variableBytesMax) throw new EngineError('53000', 'The rows of the result are too long.')
  return offsets
}

/** The value to which a cell points. */
function farBytes(cells: Uint8Array, row: number, length: number): Uint8Array {
  const pointerAt = cells.byteOffset + row * cellBytes + 8
  return duckdb.get_data_from_pointer(cells.buffer as ArrayBuffer, pointerAt, length)
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** UUIDs in canonical form. DuckDB stores their bytes reversed, with the first bit flipped for sorting. */
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
