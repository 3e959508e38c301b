/**
 * Reads the positions of a 64-bit Roaring bitmap in the portable serialisation (RoaringFormatSpec, "extension for
 * 64-bit implementations"; little-endian). Does not write bitmaps.
 */

import { ReadFailure } from '../../storage/read-failure.ts'

const magicWithRuns = 12_347
const magicWithoutRuns = 12_346
/** A bitmap with runs has offsets only from this number of containers on. */
const offsetsFrom = 4
const arrayCountMax = 4_096
const bitmapBytes = 8_192

interface Cursor {
  readonly view: DataView
  at: number
}

/**
 * All positions of a bitmap, ascending.
 * @param countMax most positions that are read, because a few bytes can claim billions
 * @throws ReadFailure where the bytes are not such a bitmap, or hold more positions
 */
export function readRoaring64(bytes: Uint8Array, countMax: number): BigInt64Array {
  const cursor: Cursor = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 }
  const positions = new BigInt64Array(countMax)
  let filled = 0
  const put = (position: bigint) => {
    if (filled >= countMax) throw corrupt()
    positions[filled++] = position
  }
  try {
    const bitmaps = cursor.view.getBigUint64(0, true)
    cursor.at = 8
    let last = -1
    for (let index = 0n; index < bitmaps; index++) {
      const high = uint32(cursor)
      // Positions are signed 64-bit numbers.
      if (high <= last || high > 0x7fff_ffff) throw corrupt()
      last = high
      readBitmap(cursor, BigInt(high) << 32n, put)
    }
  } catch (thrown) {
    throw thrown instanceof ReadFailure ? thrown : corrupt()
  }
  if (cursor.at !== bytes.byteLength) throw corrupt()
  return positions.subarray(0, filled)
}

function readBitmap(cursor: Cursor, base: bigint, put: (position: bigint) => void): void {
  const magic = uint32(cursor)
  const hasRuns = (magic & 0xffff) === magicWithRuns
  if (!hasRuns && magic !== magicWithoutRuns) throw corrupt()
  const containers = hasRuns ? (magic >>> 16) + 1 : uint32(cursor)
  if (containers > 65_536) throw corrupt()
  const runFlagsAt = cursor.at
  if (hasRuns) cursor.at += (containers + 7) >> 3
  const headers = Array.from({ length: containers }, (_, index) => ({
    key: uint16(cursor),
    count: uint16(cursor) + 1,
    isRun: hasRuns && (cursor.view.getUint8(runFlagsAt + (index >> 3)) & (1 << (index & 7))) !== 0,
  }))
  if (!hasRuns || containers >= offsetsFrom) cursor.at += containers * 4
  let last = -1
  for (const { key, count, isRun } of headers) {
    if (key <= last) throw corrupt()
    last = key
    const from = base + (BigInt(key) << 16n)
    if (isRun) readRuns(cursor, from, count, put)
    else if (count <= arrayCountMax) readArray(cursor, from, count, put)
    else readBits(cursor, from, count, put)
  }
}

function readRuns(cursor: Cursor, base: bigint, count: number, put: (position: bigint) => void): void {
  let seen = 0
  let next = 0
  for (let runs = uint16(cursor); runs > 0; runs--) {
    const start = uint16(cursor)
    const end = start + uint16(cursor)
    if (start < next || end > 0xffff) throw corrupt()
    next = end + 1
    for (let low = start; low <= end; low++, seen++) put(base + BigInt(low))
  }
  if (seen !== count) throw corrupt()
}

function readArray(cursor: Cursor, base: bigint, count: number, put: (position: bigint) => void): void {
  let last = -1
  for (let index = 0; index < count; index++) {
    const low = uint16(cursor)
    if (low <= last) throw corrupt()
    last = low
    put(base + BigInt(low))
  }
}

function readBits(cursor: Cursor, base: bigint, count: number, put: (position: bigint) => void): void {
  let seen = 0
  for (let byte = 0; byte < bitmapBytes; byte++) {
    const bits = cursor.view.getUint8(cursor.at + byte)
    for (let bit = 0; bit < 8; bit++)
      if ((bits & (1 << bit)) !== 0) {
        put(base + BigInt(byte * 8 + bit))
        seen++
      }
  }
  cursor.at += bitmapBytes
  if (seen !== count) throw corrupt()
}

function uint32(cursor: Cursor): number {
  const value = cursor.view.getUint32(cursor.at, true)
  cursor.at += 4
  return value
}

function uint16(cursor: Cursor): number {
  const value = cursor.view.getUint16(cursor.at, true)
  cursor.at += 2
  return value
}

function corrupt(): ReadFailure {
  return new ReadFailure('a deletion vector cannot be read: it is corrupt or truncated')
}
