/** Samples the columns of one Parquet data file within its share of the scan's budget. */

import type { ColumnMetaData } from 'hyparquet'
import type { Column } from '../../core/commit.ts'
import { limits } from '../../limits.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { StoredFile } from '../../storage/storage.ts'
import type { ColumnSamples } from './column-samples.ts'
import { spread } from './manifests.ts'
import { readChunk } from './parquet-chunk.ts'
import { type Leaf, readFooter } from './parquet-footer.ts'

export interface FileShare {
  readonly valuesMax: number
  readonly bytesMax: number
}

interface Target {
  readonly leaf: Leaf
  readonly name: string
  readonly fieldId: bigint | undefined
  /** Whether values of this type can hold what the classifiers look for. */
  readonly hasValues: boolean
}

const chunkBytesMin = 16 * 1024

/**
 * Adds a file's values to `samples`: from row groups spread over the file, from the start of each chunk.
 * @param columns of the table; a column is found by field id, or by name when the file has no ids
 * @throws ReadFailure
 */
export async function scanFile(
  file: StoredFile,
  columns: readonly Column[],
  samples: ColumnSamples,
  share: FileShare,
): Promise<void> {
  const { metadata, leaves } = await readFooter(file)
  // Booleans hold no class, whatever the column is called.
  const targets = targetsOf(
    leaves.filter(({ element }) => element.type !== 'BOOLEAN'),
    columns,
  )
  for (const { name, fieldId } of targets) samples.add(name, fieldId)
  const readable = targets.filter(({ hasValues }) => hasValues)
  const groups = spread(
    metadata.row_groups.filter((group) => group.num_rows > 0n),
    limits.detectionRowGroupsMax,
  )
  const chunkCount = Math.max(readable.length * groups.length, 1)
  const budget = {
    valuesMax: Math.ceil(share.valuesMax / Math.max(groups.length, 1)),
    bytesMax: Math.max(Math.floor(share.bytesMax / chunkCount), chunkBytesMin),
  }
  for (const group of groups)
    for (const { leaf, name, fieldId } of readable) {
      const chunk = group.columns[leaf.index]
      if (chunk?.crypto_metadata !== undefined || chunk?.encrypted_column_metadata !== undefined)
        throw new ReadFailure('a data file is encrypted: it cannot be scanned')
      const meta: ColumnMetaData | undefined = chunk?.meta_data
      if (meta === undefined || chunk?.file_path)
        throw new ReadFailure('a Parquet file cannot be read: it is corrupt or truncated')
      samples.add(name, fieldId, await readChunk(file, meta, leaf, budget))
    }
}

function targetsOf(leaves: readonly Leaf[], columns: readonly Column[]): readonly Target[] {
  const byId = new Map(columns.map((column) => [column.fieldId, column]))
  const byName = new Map(columns.map((column) => [column.name, column]))
  const hasIds = leaves.some((leaf) => leaf.fieldId !== undefined)
  return leaves.map((leaf) => {
    const name = plainName(leaf.path)
    const column = hasIds
      ? leaf.fieldId === undefined
        ? undefined
        : byId.get(BigInt(leaf.fieldId))
      : byName.get(name)
    return {
      leaf,
      name: column?.name ?? name,
      fieldId: column?.fieldId,
      hasValues: column === undefined ? holdsValues(leaf) : isValueType(column.type) && isReadable(leaf),
    }
  })
}

/** Converts a Parquet path to Iceberg's name, without the wrappers of lists and maps. */
function plainName(path: readonly string[]): string {
  return path.filter((part, index) => index === 0 || !/^(list|bag|key_value|map)$/.test(part)).join('.')
}

function isValueType(type: string): boolean {
  return type === 'string' || type === 'int' || type === 'long'
}

function isReadable({ element }: Leaf): boolean {
  return /^(BYTE_ARRAY|FIXED_LEN_BYTE_ARRAY|INT32|INT64)$/.test(element.type ?? '')
}

/** For a column that the schema does not have: texts and plain integers. */
function holdsValues({ element }: Leaf): boolean {
  const { type, logical_type: logical, converted_type: converted } = element
  if (type === 'BYTE_ARRAY')
    return /^(STRING|JSON|ENUM)$/.test(logical?.type ?? '') || /^(UTF8|JSON|ENUM)$/.test(converted ?? '')
  const plain = logical === undefined || logical.type === 'INTEGER'
  return (
    (type === 'INT32' || type === 'INT64') && plain && (converted === undefined || /INT_/.test(converted))
  )
}
