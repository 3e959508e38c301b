/** Reads deletion vectors: positions of deleted rows (Puffin specification, blob type `deletion-vector-v1`). */

import { crc32 } from 'node:zlib'
import { limits } from '../../limits.ts'
import type { DeleteEntry } from '../../storage/iceberg/files.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { Storage } from '../../storage/storage.ts'
import { readRoaring64 } from './roaring.ts'

/** Rows that one deletion vector may delete. */
const engineDeletedRowsMax = 16_000_000

const magic = 0xd1d33964
/** The length, the magic number and the checksum. */
const frameBytes = 12

/**
 * The positions in the blob that a delete entry points to.
 * @throws ReadFailure where it is corrupt, too large, or its number of positions differs from the entry's
 */
export async function readDeletionVector(storage: Storage, entry: DeleteEntry): Promise<BigInt64Array> {
  const { offset, size } = entry.blob ?? { offset: 0, size: 0 }
  if (size > limits.tableMetadataBytesMax || entry.recordCount > engineDeletedRowsMax)
    throw new ReadFailure('a deletion vector is too large')
  const file = await storage.open(entry.location)
  return decodeDeletionVector(await file.read(offset, offset + size), entry.recordCount)
}

/**
 * The positions in one blob: a length, the magic number, the bitmap, and a CRC-32 of number and bitmap.
 * @param count the required number of positions
 * @throws ReadFailure as {@link readDeletionVector}
 */
export function decodeDeletionVector(bytes: Uint8Array, count: number): BigInt64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = bytes.length - 4
  if (
    bytes.length < frameBytes ||
    view.getUint32(0) !== bytes.length - 8 ||
    view.getUint32(4) !== magic ||
    view.getUint32(end) !== crc32(bytes.subarray(4, end))
  )
    throw new ReadFailure('a deletion vector cannot be read: it is corrupt or truncated')
  const positions = readRoaring64(bytes.subarray(8, end), count)
  if (positions.length !== count)
    throw new ReadFailure('a deletion vector holds another number of positions than its manifest says')
  return positions
}
