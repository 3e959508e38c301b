/**
 * Samples the columns of one Avro data file within its share of the scan's budget: blocks from places all over the
 * file. A block is found by the 16 bytes that end each of them.
 */

import type { Column } from '../../core/commit.ts'
import { limits } from '../../limits.ts'
import { type AvroFile, readAvro } from '../../storage/avro.ts'
import { fieldsOf } from '../../storage/iceberg/avro-fields.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { StoredFile } from '../../storage/storage.ts'
import type { ColumnSamples } from './column-samples.ts'
import type { FileShare } from './scan-file.ts'

const headerBytesMin = 64 * 1024
const headerBytesMax = 4 * 1024 * 1024
const windowBytesMin = 64 * 1024
const syncBytes = 16
const depthMax = 32

/**
 * Adds a file's values to `samples`.
 * @param columns of the table; a column is found by field id, or by name where the file has no ids
 * @throws ReadFailure
 */
export async function scanAvroFile(
  file: StoredFile,
  columns: readonly Column[],
  samples: ColumnSamples,
  share: FileShare,
): Promise<void> {
  const { bytes: header, schema } = await readHeader(file)
  const leaves = leavesOf(schema, columns)
  for (const { name, fieldId } of leaves) samples.add(name, fieldId)
  const dataBytes = file.size - header.length
  if (dataBytes <= 0) return
  const count = dataBytes > windowBytesMin * 4 ? limits.detectionRowGroupsMax : 1
  const windowBytes = Math.max(Math.floor(Math.min(share.bytesMax, dataBytes) / count), windowBytesMin)
  const valuesMax = Math.ceil(share.valuesMax / count)
  for (let index = 0; index < count; index++) {
    const start = header.length + Math.floor((dataBytes * index) / count)
    const blocks = await readBlocks(file, header, start, windowBytes)
    let left = valuesMax
    for (const record of recordsOf(Buffer.concat([header, blocks]))) {
      for (const { name, fieldId, path } of leaves) {
        const values = textsAt(record, path, 0)
        if (values.length > 0) samples.add(name, fieldId, values)
      }
      if (--left === 0) break
    }
  }
}

/** The header's bytes, and the writer's schema. */
async function readHeader(file: StoredFile): Promise<{ readonly bytes: Buffer; readonly schema: unknown }> {
  for (let length = headerBytesMin; ; length *= 8) {
    const end = Math.min(length, headerBytesMax, file.size)
    const bytes = Buffer.from(await file.read(0, end))
    try {
      const { schema, headerBytes } = open(bytes)
      return { bytes: bytes.subarray(0, headerBytes), schema }
    } catch (thrown) {
      // The header may be longer than what was read.
      if (end === file.size || end === headerBytesMax) throw thrown
    }
  }
}

/** Whole blocks from the first that begins at or after `start`; empty where none begins there. */
async function readBlocks(
  file: StoredFile,
  header: Buffer,
  start: number,
  windowBytes: number,
): Promise<Buffer> {
  const sync = header.subarray(-syncBytes)
  // The end of the block before the place lies in the window too.
  const from = start === header.length ? start : start - syncBytes
  for (let length = windowBytes; ; length *= 4) {
    const end = Math.min(from + length, file.size)
    const bytes = Buffer.from(await file.read(from, end))
    const begin = start === header.length ? 0 : bytes.indexOf(sync) + syncBytes
    const isFound = start === header.length || begin >= syncBytes
    if (end === file.size) return isFound ? bytes.subarray(begin) : Buffer.alloc(0)
    const last = bytes.lastIndexOf(sync)
    if (isFound && last >= begin) return bytes.subarray(begin, last + syncBytes)
    if (length >= limits.detectionPageBytesMax) throw new ReadFailure('a block of a data file is too large')
  }
}

function open(bytes: Buffer): AvroFile {
  try {
    return readAvro(bytes, { bytesMax: limits.detectionPageBytesMax, recordsMax: Number.MAX_SAFE_INTEGER })
  } catch (thrown) {
    throw ofDataFile(thrown)
  }
}

function* recordsOf(bytes: Buffer): Generator<unknown> {
  try {
    yield* open(bytes).records
  } catch (thrown) {
    throw ofDataFile(thrown)
  }
}

/** The reader of Avro says `a manifest`, for which it was made. */
function ofDataFile(thrown: unknown): unknown {
  return thrown instanceof ReadFailure
    ? new ReadFailure(thrown.reason.replace('a manifest', 'a data file'))
    : thrown
}

interface Leaf {
  readonly name: string
  readonly fieldId: bigint | undefined
  /** Members to follow; null: each item of a list or map. */
  readonly path: readonly (string | null)[]
}

/** Texts, integers and lists of them; dates and times are annotated integers and hold no class. */
function leavesOf(schema: unknown, columns: readonly Column[]): readonly Leaf[] {
  const byId = new Map(columns.map((column) => [column.fieldId, column]))
  const byName = new Map(columns.map((column) => [column.name, column]))
  const leaves: Leaf[] = []
  const add = (given: unknown, name: string, id: unknown, path: Leaf['path'], depth: number): void => {
    if (depth > depthMax) return
    const type = Array.isArray(given) ? given.find((branch) => branch !== 'null') : given
    const part: Record<string, unknown> =
      typeof type === 'object' && type !== null ? (type as Record<string, unknown>) : { type }
    if (part.type === 'record') {
      for (const field of fieldsOf(part))
        if (typeof field.name === 'string')
          add(
            field.type,
            name === '' ? field.name : `${name}.${field.name}`,
            field['field-id'],
            [...path, field.name],
            depth + 1,
          )
    } else if (part.type === 'array' && part.logicalType === 'map') {
      for (const field of fieldsOf(part.items))
        if (typeof field.name === 'string')
          add(field.type, `${name}.${field.name}`, field['field-id'], [...path, null, field.name], depth + 1)
    } else if (part.type === 'array')
      add(part.items, `${name}.element`, part['element-id'], [...path, null], depth + 1)
    else if (part.type === 'map')
      add(part.values, `${name}.value`, part['value-id'], [...path, null], depth + 1)
    else if (/^(string|int|long|enum)$/.test(String(part.type)) && part.logicalType === undefined) {
      const column = typeof id === 'number' ? byId.get(BigInt(id)) : byName.get(name)
      leaves.push({ name: column?.name ?? name, fieldId: column?.fieldId, path })
    }
  }
  add(schema, '', undefined, [], 0)
  return leaves
}

function textsAt(value: unknown, path: Leaf['path'], at: number): readonly string[] {
  if (value === null || value === undefined) return []
  const step = path[at]
  if (step === undefined)
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
      ? [String(value)]
      : []
  if (step !== null) return textsAt((value as Record<string, unknown>)[step], path, at + 1)
  const items = Array.isArray(value) ? value : Object.values(value as object)
  return items.flatMap((item) => textsAt(item, path, at + 1))
}
