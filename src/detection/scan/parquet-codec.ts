/** Decompresses Parquet pages. The caller checks the size in the header, which bounds every codec here. */

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { CompressionCodec } from 'hyparquet'
import { ReadFailure } from '../../storage/read-failure.ts'
import { decompressSnappy } from '../../storage/snappy.ts'
import { decompressLz4, decompressLz4Raw } from './lz4.ts'

const decompressors: Partial<
  Record<CompressionCodec, (bytes: Uint8Array, size: number) => Uint8Array | undefined>
> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: decompressSnappy,
  GZIP: (bytes, size) => gunzipSync(bytes, { maxOutputLength: Math.max(size, 1) }),
  BROTLI: (bytes, size) => brotliDecompressSync(bytes, { maxOutputLength: Math.max(size, 1) }),
  ZSTD: (bytes, size) => zstdDecompressSync(bytes, { maxOutputLength: Math.max(size, 1) }),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
}

/**
 * Decompresses a page.
 * @param size the uncompressed bytes that its header claims; the result is never larger
 * @throws ReadFailure when the codec is not supported, or the page is not what its header claims
 */
export function decompressPage(bytes: Uint8Array, size: number, codec: CompressionCodec): Uint8Array {
  const decompress = decompressors[codec]
  if (decompress === undefined)
    throw new ReadFailure('a data file is compressed by a codec that is not supported')
  let output: Uint8Array | undefined
  try {
    output = size === 0 ? new Uint8Array(0) : decompress(bytes, size)
  } catch {
    throw new ReadFailure('a page of a data file does not decompress to what its header claims')
  }
  if (output?.length !== size)
    throw new ReadFailure('a page of a data file does not decompress to what its header claims')
  return output
}
