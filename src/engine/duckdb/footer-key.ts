/**
 * Tells Parquet files apart whose columns may differ: by a hash of their footers without what is about the rows. Files
 * with one key have the same columns, so that DuckDB is asked about one of them.
 */

import { createHash } from 'node:crypto'
import { checkThrift } from '../../storage/thrift.ts'

const magic = 'PAR1'
const tailBytes = 8
/** A longer footer is DuckDB's to read, because it would take this thread long. */
const footerBytesMax = 64 * 1024
/** Fields of FileMetaData that hold nothing about columns (parquet.thrift): num_rows and row_groups. */
const rowFields: ReadonlySet<number> = new Set([3, 4])

/**
 * The key of a file's columns.
 * @param end the last bytes of the file
 * @returns undefined where the footer is not whole in these bytes, too long, or malformed
 */
export function footerKey(end: Uint8Array): string | undefined {
  const bytes = Buffer.from(end.buffer, end.byteOffset, end.length)
  if (bytes.length < tailBytes || bytes.toString('latin1', bytes.length - magic.length) !== magic)
    return undefined
  const length = bytes.readUInt32LE(bytes.length - tailBytes)
  const from = bytes.length - tailBytes - length
  if (length > footerBytesMax || from < 0) return undefined
  const footer = bytes.subarray(from, from + length)
  const hash = createHash('sha256')
  try {
    checkThrift(footer, 0, (id, start, stop) => {
      if (!rowFields.has(id)) hash.update(`${id}:${stop - start}:`).update(footer.subarray(start, stop))
    })
  } catch {
    return undefined
  }
  return hash.digest('base64')
}
