/** Reads a Parquet file's footer: its leaf columns with their Iceberg field ids, and its row groups; no data. */

import { type FileMetaData, parquetMetadata, type SchemaElement } from 'hyparquet'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { checkThrift } from '../../storage/thrift.ts'

/** One Parquet footer. */
const detectionFooterBytesMax = 64 * 1024 * 1024

export interface Leaf {
  /** Index among the leaves, which is also the index among a row group's column chunks. */
  readonly index: number
  /** Names from the root, wrappers of lists and maps included. */
  readonly path: readonly string[]
  readonly fieldId: number | undefined
  readonly element: SchemaElement
  readonly definitionLevelMax: number
  readonly repetitionLevelMax: number
}

interface ParquetFile {
  readonly metadata: FileMetaData
  readonly leaves: readonly Leaf[]
}

const tailBytes = 8
const magic = 'PAR1'
const encryptedMagic = 'PARE'

/** Reads a footer. Throws ReadFailure when the file is no Parquet, is encrypted, or has a footer that is too large. */
export async function readFooter(file: StoredFile): Promise<ParquetFile> {
  if (file.size < 2 * magic.length + 4) throw corrupt()
  const tail = Buffer.from(await file.read(file.size - tailBytes, file.size))
  const end = tail.toString('latin1', 4)
  if (end === encryptedMagic) throw new ReadFailure('a data file is encrypted: it cannot be scanned')
  const length = tail.readUInt32LE(0)
  if (end !== magic || length > file.size - tailBytes) throw corrupt()
  if (length > detectionFooterBytesMax)
    throw new ReadFailure(`a Parquet footer has more than ${detectionFooterBytesMax} bytes`)
  const footer = await file.read(file.size - tailBytes - length, file.size)
  // The library reads the length again, and storage may have returned other bytes this time.
  if (Buffer.from(footer).readUInt32LE(length) !== length) throw corrupt()
  try {
    checkThrift(footer, 0)
    const metadata = parquetMetadata(footer, { geoparquet: false })
    return { metadata, leaves: leavesOf(metadata.schema) }
  } catch (thrown) {
    if (thrown instanceof ReadFailure) throw thrown
    throw corrupt()
  }
}

function leavesOf(schema: readonly SchemaElement[]): readonly Leaf[] {
  const leaves: Leaf[] = []
  let at = 0
  const walk = (path: readonly string[], definition: number, repetition: number, depth: number): void => {
    const element = schema[at++]
    if (element === undefined || depth > limits.jsonDepthMax) throw corrupt()
    const isRoot = depth === 0
    const own = isRoot ? path : [...path, element.name]
    const optional = !isRoot && element.repetition_type !== 'REQUIRED' ? 1 : 0
    const repeated = !isRoot && element.repetition_type === 'REPEATED' ? 1 : 0
    if (element.num_children) {
      for (let child = 0; child < element.num_children; child++)
        walk(own, definition + optional, repetition + repeated, depth + 1)
    } else if (!isRoot) {
      leaves.push({
        index: leaves.length,
        path: own,
        fieldId: element.field_id,
        element,
        definitionLevelMax: definition + optional,
        repetitionLevelMax: repetition + repeated,
      })
      if (leaves.length > limits.detectionColumnsMax)
        throw new ReadFailure(`a data file has more than ${limits.detectionColumnsMax} columns`)
    }
  }
  walk([], 0, 0, 0)
  return leaves
}

function corrupt(): ReadFailure {
  return new ReadFailure('a Parquet file cannot be read: it is corrupt or truncated')
}
