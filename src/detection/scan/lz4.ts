/**
 * Decompresses LZ4 blocks as Parquet holds them: raw, or in the frames that Hadoop writes under the older codec name. No
 * step goes back in its input or beyond the bytes that the page's header claims, so a damaged page ends.
 */

import { copyForward } from '../../storage/snappy.ts'

/**
 * One raw block (LZ4 block format).
 * @param size of the result
 * @throws RangeError where the block does not hold just these bytes
 */
export function decompressLz4Raw(block: Uint8Array, size: number): Uint8Array {
  const output = new Uint8Array(size)
  let [from, to] = [0, 0]
  /** The rest of a length that its four bits do not hold. */
  const rest = (bits: number): number => {
    let length = bits
    for (let byte = bits === 15 ? 255 : 0; byte === 255; length += byte) {
      if (from >= block.length) throw corrupt()
      byte = block[from++] ?? 0
    }
    return length
  }
  while (from < block.length) {
    const token = block[from++] ?? 0
    const literals = rest(token >>> 4)
    if (from + literals > block.length || to + literals > size) throw corrupt()
    output.set(block.subarray(from, from + literals), to)
    from += literals
    to += literals
    // The last sequence has no match.
    if (from === block.length) break
    const offset = (block[from] ?? 0) + (block[from + 1] ?? 0) * 256
    from += 2
    if (from > block.length || offset === 0 || offset > to) throw corrupt()
    const length = rest(token & 15) + 4
    if (to + length > size) throw corrupt()
    copyForward(output, to - offset, output, to, length)
    to += length
  }
  if (to !== size) throw corrupt()
  return output
}

/**
 * Blocks in Hadoop's frames, or one raw block.
 * @throws RangeError as {@link decompressLz4Raw}
 */
export function decompressLz4(bytes: Uint8Array, size: number): Uint8Array {
  const frames = hadoopFrames(bytes, size)
  if (frames === undefined) return decompressLz4Raw(bytes, size)
  const output = new Uint8Array(size)
  let to = 0
  for (const { block, plainSize } of frames) {
    output.set(decompressLz4Raw(block, plainSize), to)
    to += plainSize
  }
  return output
}

interface Frame {
  readonly block: Uint8Array
  readonly plainSize: number
}

/** Undefined where the bytes are not just frames that together hold this size. */
function hadoopFrames(bytes: Uint8Array, size: number): readonly Frame[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const frames: Frame[] = []
  let [at, plain] = [0, 0]
  while (at < bytes.length) {
    if (at + 8 > bytes.length) return undefined
    const [plainSize, packedSize] = [view.getUint32(at), view.getUint32(at + 4)]
    at += 8 + packedSize
    plain += plainSize
    if (at > bytes.length || plain > size) return undefined
    frames.push({ block: bytes.subarray(at - packedSize, at), plainSize })
  }
  return plain === size ? frames : undefined
}

function corrupt(): RangeError {
  return new RangeError('a block of LZ4 is corrupt or truncated')
}
