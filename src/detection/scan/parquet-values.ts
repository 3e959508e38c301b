/** Reads the values of one decompressed Parquet page as text, by encoding. The caller bounds every count. */

import { deltaBinaryUnpack } from 'hyparquet/src/delta.js'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { Leaf } from './parquet-footer.ts'

export type PageValues = readonly string[]

/** Reads PLAIN values of one physical type, as text. */
export interface ValueReader {
  readonly type: 'BYTE_ARRAY' | 'FIXED_LEN_BYTE_ARRAY' | 'INT32' | 'INT64'
  readonly typeLength: number
}

/** Longer values are cut to this many characters. */
const valueBytesMax = 64 * 1024
const decoder = new TextDecoder()

/** Throws ReadFailure for a physical type that is not read. */
export function valueReader({ element }: Leaf): ValueReader {
  const { type } = element
  if (type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY' || type === 'INT32' || type === 'INT64')
    return { type, typeLength: element.type_length ?? 0 }
  throw new ReadFailure('a column has a physical type that is not read')
}

function text(bytes: Uint8Array, start: number, length: number): string {
  if (length < 0 || start + length > bytes.length) throw new RangeError('a value ends beyond its page')
  return decoder.decode(bytes.subarray(start, start + Math.min(length, valueBytesMax)))
}

/**
 * Reads the values of a page.
 * @param present how many values the page has
 * @param wanted how many are enough
 * @throws RangeError when the page ends early, ReadFailure for an encoding that is not supported
 */
export function readPageValues(
  encoding: string,
  bytes: Uint8Array,
  present: number,
  wanted: number,
  dictionary: PageValues | undefined,
  read: ValueReader,
): PageValues {
  const count = Math.min(present, wanted)
  if (count === 0) return []
  switch (encoding) {
    case 'PLAIN':
      return readPlain(bytes, count, read)
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return readIndices(bytes, count).reduce<string[]>((values, index) => {
        const value = dictionary?.[index]
        if (value === undefined) throw new RangeError('an index beyond its dictionary')
        values.push(value)
        return values
      }, [])
    case 'DELTA_BINARY_PACKED':
      return Array.from(readDelta(bytes, count, read.type).values, String)
    case 'DELTA_LENGTH_BYTE_ARRAY':
      return readDeltaLength(bytes, present, count)
    case 'DELTA_BYTE_ARRAY':
      return readDeltaBytes(bytes, present, count)
  }
  throw new ReadFailure('a data file holds values in an encoding that is not supported')
}

function readPlain(bytes: Uint8Array, count: number, { type, typeLength }: ValueReader): PageValues {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const values: string[] = []
  let at = 0
  for (let index = 0; index < count; index++) {
    if (type === 'INT32') {
      values.push(String(view.getInt32(at, true)))
      at += 4
    } else if (type === 'INT64') {
      values.push(String(view.getBigInt64(at, true)))
      at += 8
    } else {
      const length = type === 'BYTE_ARRAY' ? view.getUint32(at, true) : typeLength
      if (type === 'BYTE_ARRAY') at += 4
      values.push(text(bytes, at, length))
      at += length
    }
  }
  return values
}

/** Runs of the RLE and bit-packing hybrid, as `[value, count]`, or `[undefined, count]` at a packed group of eight. */
class Runs {
  #at: number

  constructor(
    readonly bytes: Uint8Array,
    start: number,
    readonly bitWidth: number,
  ) {
    if (bitWidth > 32) throw new RangeError('a bit width beyond 32')
    this.#at = start
  }

  /** Calls `take` with each value, or with a whole run of one, until `count` values were taken. */
  forEach(count: number, take: (value: number, times: number) => void): void {
    let left = count
    while (left > 0) {
      const header = this.#varint()
      if (header % 2 === 1) left -= this.#packed(((header - 1) / 2) * 8, left, take)
      else {
        const times = Math.min(header / 2, left)
        const value = this.#fixed()
        if (times > 0) take(value, times)
        left -= times
      }
    }
  }

  #packed(groupCount: number, left: number, take: (value: number, times: number) => void): number {
    const { bitWidth, bytes } = this
    const count = Math.min(groupCount, left)
    let bits = 0
    let held = 0
    let at = this.#at
    for (let index = 0; index < count; index++) {
      // Uses arithmetic, because 32 bits and the rest of the next byte do not fit a bitwise operation.
      while (held < bitWidth) {
        const byte = bytes[at++]
        if (byte === undefined) throw new RangeError('packed values end early')
        bits += byte * 2 ** held
        held += 8
      }
      const divisor = 2 ** bitWidth
      take(bits % divisor, 1)
      bits = Math.floor(bits / divisor)
      held -= bitWidth
    }
    this.#at += (groupCount / 8) * bitWidth
    return count
  }

  #fixed(): number {
    let value = 0
    for (let index = 0; index < Math.ceil(this.bitWidth / 8); index++)
      value += this.#byte() * 2 ** (8 * index)
    return value
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 35; scale *= 128) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw new RangeError('a run header beyond 32 bits')
  }

  #byte(): number {
    const byte = this.bytes[this.#at++]
    if (byte === undefined) throw new RangeError('runs end early')
    return byte
  }
}

function bitWidthOf(max: number): number {
  return 32 - Math.clz32(max)
}

/** Counts the definition levels, of `count`, that mark a present value. Throws RangeError when they end early. */
export function countPresent(levels: Uint8Array, levelMax: number, count: number): number {
  let present = 0
  new Runs(levels, 0, bitWidthOf(levelMax)).forEach(count, (level, times) => {
    if (level === levelMax) present += times
  })
  return present
}

function readIndices(bytes: Uint8Array, count: number): readonly number[] {
  const bitWidth = bytes[0]
  if (bitWidth === undefined) throw new RangeError('a page without a bit width')
  const indices: number[] = []
  if (bitWidth === 0) return new Array<number>(count).fill(0)
  new Runs(bytes, 1, bitWidth).forEach(count, (index, times) => {
    for (let time = 0; time < times; time++) indices.push(index)
  })
  return indices
}

function readDelta(bytes: Uint8Array, count: number, type: ValueReader['type'], start = 0) {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), offset: start }
  // The library allocates by these two numbers before it reads on.
  const [blockSize, at] = leb128(bytes, start)
  const [miniblocks] = leb128(bytes, at)
  if (blockSize > 1 << 20 || miniblocks < 1 || miniblocks > 1 << 12 || blockSize % miniblocks !== 0)
    throw new RangeError('a block of deltas out of bounds')
  const values = type === 'INT64' ? new BigInt64Array(count) : new Int32Array(count)
  deltaBinaryUnpack(reader, count, values)
  return { values, end: reader.offset }
}

function leb128(bytes: Uint8Array, start: number): readonly [value: number, end: number] {
  let value = 0
  for (let index = 0; index < 5; index++) {
    const byte = bytes[start + index]
    if (byte === undefined) break
    value += (byte & 0x7f) * 128 ** index
    if (byte < 0x80) return [value, start + index + 1]
  }
  throw new RangeError('a number without an end')
}

function readDeltaLength(bytes: Uint8Array, present: number, count: number): PageValues {
  const { values: lengths, end } = readDelta(bytes, present, 'INT32')
  const values: string[] = []
  let at = end
  for (let index = 0; index < count; index++) {
    const length = Number(lengths[index])
    values.push(text(bytes, at, length))
    at += length
  }
  return values
}

function readDeltaBytes(bytes: Uint8Array, present: number, count: number): PageValues {
  const prefixes = readDelta(bytes, present, 'INT32')
  const suffixes = readDelta(bytes, present, 'INT32', prefixes.end)
  const values: string[] = []
  let before = new Uint8Array(0)
  let length = 0
  let at = suffixes.end
  for (let index = 0; index < count; index++) {
    const prefix = Number(prefixes.values[index])
    const suffix = Number(suffixes.values[index])
    if (prefix < 0 || suffix < 0 || prefix > before.length || at + suffix > bytes.length)
      throw new RangeError('a value ends beyond its page')
    // Prefixes repeat bytes that the page holds once, so without a bound a small page could expand to gigabytes.
    if (prefix + suffix > valueBytesMax * 16) throw new ReadFailure('a value of a data file is too long')
    const value = new Uint8Array(prefix + suffix)
    value.set(before.subarray(0, prefix))
    value.set(bytes.subarray(at, at + suffix), prefix)
    values.push(text(value, 0, value.length))
    length += Math.min(value.length, valueBytesMax)
    if (length >= limits.detectionChunkTextMax) break
    before = value
    at += suffix
  }
  return values
}
