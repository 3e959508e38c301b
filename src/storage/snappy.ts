/**
 * Decompresses Snappy's raw format (google/snappy, format_description.txt). Written here because hyparquet's goes back
 * in its input for a literal of a negative length, and then never ends: 2 of 10,000 damaged files did that. Every element
 * here moves ahead in input and output, so a block ends after as many steps as it has bytes.
 */

/**
 * The bytes of a block.
 * @param bytesMax checked before anything is allocated
 * @returns undefined where the block says that it has more
 * @throws RangeError where it is corrupt
 */
export function decompressSnappy(block: Uint8Array, bytesMax: number): Uint8Array | undefined {
  const [size, start] = claimedSize(block)
  if (size > bytesMax) return undefined
  const output = new Uint8Array(size)
  let from = start
  let to = 0
  while (from < block.length) {
    const tag = block[from++] as number
    const kind = tag & 3
    const upper = tag >>> 2
    if (kind === 0) {
      // Lengths from 61 on are the number of bytes that hold it.
      const lengthBytes = upper < 60 ? 0 : upper - 59
      const length = (lengthBytes === 0 ? upper : littleEndian(block, from, lengthBytes)) + 1
      from += lengthBytes
      if (from + length > block.length || to + length > size) throw corrupt()
      if (length > shortMax) output.set(block.subarray(from, from + length), to)
      else copyForward(block, from, output, to, length)
      from += length
      to += length
      continue
    }
    const offsetBytes = kind === 3 ? 4 : kind
    const length = kind === 1 ? (upper & 7) + 4 : upper + 1
    const offset = littleEndian(block, from, offsetBytes) + (kind === 1 ? (tag >>> 5) << 8 : 0)
    from += offsetBytes
    if (offset === 0 || offset > to || to + length > size) throw corrupt()
    copyForward(output, to - offset, output, to, length)
    to += length
  }
  if (to !== size) throw corrupt()
  return output
}

/** Bytes up to which a loop is faster than `set`. */
const shortMax = 64

/** Copies byte by byte: a copy that overlaps itself repeats what it has just written, as Snappy and LZ4 mean it. */
export function copyForward(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  length: number,
): void {
  for (let index = 0; index < length; index++) target[to + index] = source[from + index] as number
}

/** The size that a block says it has, and where its elements start. */
function claimedSize(block: Uint8Array): readonly [size: number, start: number] {
  let size = 0
  for (let index = 0; index < 5; index++) {
    const byte = block[index]
    if (byte === undefined) break
    size += (byte & 0x7f) * 128 ** index
    if (byte < 0x80) return [size, index + 1]
  }
  throw corrupt()
}

/** Never negative. */
function littleEndian(block: Uint8Array, at: number, bytes: number): number {
  if (at + bytes > block.length) throw corrupt()
  let value = block[at] as number
  if (bytes > 1) value |= (block[at + 1] as number) << 8
  if (bytes > 2) value |= (block[at + 2] as number) << 16
  if (bytes > 3) value |= (block[at + 3] as number) << 24
  return value >>> 0
}

function corrupt(): RangeError {
  return new RangeError('a block of Snappy is corrupt or truncated')
}
