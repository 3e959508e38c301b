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
  let [from, to] = [start, 0]
  while (from < block.length) {
    const tag = block[from++] ?? 0
    const kind = tag & 3
    const upper = tag >>> 2
    if (kind === 0) {
      // A literal. Lengths from 61 on are the number of bytes that hold it.
      const lengthBytes = Math.max(upper - 59, 0)
      const length = (lengthBytes === 0 ? upper : littleEndian(block, from, lengthBytes)) + 1
      from += lengthBytes
      if (from + length > block.length || to + length > size) throw corrupt()
      output.set(block.subarray(from, from + length), to)
      from += length
      to += length
      continue
    }
    const offsetBytes = kind === 3 ? 4 : kind
    const length = kind === 1 ? (upper & 7) + 4 : upper + 1
    const offset = littleEndian(block, from, offsetBytes) + (kind === 1 ? (tag >>> 5) * 256 : 0)
    from += offsetBytes
    if (offset === 0 || offset > to || to + length > size) throw corrupt()
    // A copy may overlap itself, which repeats what it has just written.
    if (offset >= length) output.copyWithin(to, to - offset, to - offset + length)
    else for (let index = to; index < to + length; index++) output[index] = output[index - offset] ?? 0
    to += length
  }
  if (to !== size) throw corrupt()
  return output
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

/** Not by bitwise operators, whose results may be negative. */
function littleEndian(block: Uint8Array, at: number, bytes: number): number {
  if (at + bytes > block.length) throw corrupt()
  let value = 0
  for (let index = 0; index < bytes; index++) value += (block[at + index] ?? 0) * 256 ** index
  return value
}

function corrupt(): RangeError {
  return new RangeError('a block of Snappy is corrupt or truncated')
}
