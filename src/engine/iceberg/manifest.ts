/** Reads the live entries of a manifest, with inherited sequence numbers (Iceberg specification, Manifests). */

import { turnTaker } from '../../base/in-turns.ts'
import type { AvroRecord } from '../../storage/avro.ts'
import { fieldNames, fieldsOf, manifestIn, recordField } from '../../storage/avro-fields.ts'
import { deletedStatus, entryStatus } from '../../storage/manifest-files.ts'
import { count, type ManifestRef } from '../../storage/manifest-list.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { engineCannotRead } from '../engine-error.ts'
import { type ColumnStats, type StatsNames, statsNames, statsOf } from './column-stats.ts'

/** One file that a snapshot holds. */
export interface FileEntry {
  readonly location: string
  /** PARQUET, PUFFIN, … in upper case. */
  readonly format: string
  readonly sizeBytes: number
  readonly recordCount: number
  readonly sequenceNumber: number
  readonly specId: number
  /** Values by partition field id, as Avro decoded them. */
  readonly partition: ReadonlyMap<number, unknown>
  /** Two files have the same key only where they have the same spec and partition. */
  readonly partitionKey: string
  readonly stats: ColumnStats
}

/** Approximate memory of an entry; statistics take the most. */
export function entryBytes({ stats }: FileEntry): number {
  return 1_000 + 500 * stats.nullCounts.size
}

/** A position delete file, an equality delete file or a deletion vector. */
export interface DeleteEntry extends FileEntry {
  readonly kind: 'position' | 'equality' | 'vector'
  /** Ids of the fields that an equality delete compares. */
  readonly equalityIds: readonly number[]
  /** The data file that the delete applies to, where it names one. */
  readonly dataFile: string | undefined
  /** Where a deletion vector lies in its file. */
  readonly blob: { readonly offset: number; readonly size: number } | undefined
}

export interface ManifestEntries {
  readonly data: readonly FileEntry[]
  readonly deletes: readonly DeleteEntry[]
}

const entryFields = { status: 0, data_file: 2, sequence_number: 3 } as const
const fileFields = {
  content: 134,
  file_path: 100,
  file_format: 101,
  partition: 102,
  record_count: 103,
  file_size_in_bytes: 104,
  key_metadata: 131,
  equality_ids: 135,
  referenced_data_file: 143,
  content_offset: 144,
  content_size_in_bytes: 145,
} as const

interface Names {
  readonly file: Readonly<Record<keyof typeof fileFields, string>>
  readonly stats: StatsNames
  /** Name and id of each partition field. */
  readonly partition: readonly (readonly [string, number])[]
}

/** Bytes of entries that are reserved at once. */
const heldStep = 256 * 1024

export interface EntryReader {
  /** Is called for each file before it is named. */
  readonly admit: (kind: 'data file' | 'delete file', location: string) => void
  /** Reserves the bytes that the entries take, some at a time. It throws where there are none. */
  readonly hold: (bytes: number) => void
  readonly signal: AbortSignal
}

/**
 * The live files of a manifest.
 * @throws ReadFailure where the manifest is malformed; EngineError where a file is encrypted; what `admit` and `hold`
 *   throw
 */
export async function readManifest(
  bytes: Uint8Array,
  ref: ManifestRef,
  { admit, hold, signal }: EntryReader,
): Promise<ManifestEntries> {
  const { schema, records } = manifestIn(bytes)
  const entry = fieldNames(schema, entryFields)
  const fileSchema = recordField(schema, entry.data_file)
  const file = fieldNames(fileSchema, fileFields)
  const names: Names = {
    file,
    stats: statsNames(fileSchema),
    partition: fieldsOf(recordField(fileSchema, file.partition)).map((field) => [
      String(field.name),
      count(field['field-id']),
    ]),
  }
  const data: FileEntry[] = []
  const deletes: DeleteEntry[] = []
  const turn = turnTaker(signal)
  let unheld = 0
  const holdAll = () => {
    // After an abort, what was held is released already.
    signal.throwIfAborted()
    hold(unheld)
    unheld = 0
  }
  for (const record of records) {
    const next = turn()
    if (next !== undefined) await next
    const status = entryStatus(record[entry.status])
    if (status === deletedStatus) continue
    const fields = record[entry.data_file] as AvroRecord | undefined
    if (typeof fields !== 'object' || fields === null) throw new ReadFailure('a manifest entry names no file')
    const sequence = sequenceOf(record[entry.sequence_number], status, ref)
    const read = fileEntry(fields, names, ref, sequence)
    const content = fields[file.content] ?? 0
    admit(content === 0 ? 'data file' : 'delete file', read.location)
    if (content === 0 && ref.content === 'data') data.push(read)
    else if ((content === 1 || content === 2) && ref.content === 'deletes')
      deletes.push(deleteEntry(read, fields, names, content))
    else throw new ReadFailure('a manifest mixes data files and delete files')
    unheld += entryBytes(read)
    if (unheld >= heldStep) holdAll()
  }
  holdAll()
  return { data, deletes }
}

/** Only an added file inherits the manifest's number. Version 1 has no numbers, which means 0. */
function sequenceOf(own: unknown, status: number, { sequenceNumber }: ManifestRef): number {
  if (own !== null && own !== undefined) return count(own)
  if (status === 1 || sequenceNumber === 0) return sequenceNumber
  throw new ReadFailure('a manifest entry has no sequence number')
}

function fileEntry(fields: AvroRecord, names: Names, ref: ManifestRef, sequenceNumber: number): FileEntry {
  const { file } = names
  const location = fields[file.file_path]
  if (typeof location !== 'string') throw new ReadFailure('a manifest entry names no file')
  if (fields[file.key_metadata]) throw engineCannotRead('An encrypted table')
  const values = (fields[file.partition] ?? {}) as AvroRecord
  const partition = new Map(names.partition.map(([name, id]) => [id, values[name] ?? null]))
  return {
    location,
    format: String(fields[file.file_format] ?? '').toUpperCase(),
    sizeBytes: count(fields[file.file_size_in_bytes]),
    recordCount: count(fields[file.record_count]),
    sequenceNumber,
    specId: ref.specId,
    partition,
    partitionKey: `${ref.specId}:${JSON.stringify([...partition], plainValue)}`,
    stats: statsOf(fields, names.stats),
  }
}

/** Values of different types differ: 1 and '1' are two partitions. So do a double's NaN, 0 and -0. */
function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { long: String(value) }
  if (typeof value === 'number') return { number: Object.is(value, -0) ? '-0' : String(value) }
  return value
}

function deleteEntry(read: FileEntry, fields: AvroRecord, names: Names, content: 1 | 2): DeleteEntry {
  const { file } = names
  const ids = fields[file.equality_ids] ?? []
  const equalityIds = Array.isArray(ids) ? ids.map(count) : []
  const dataFile = fields[file.referenced_data_file] ?? undefined
  if (dataFile !== undefined && typeof dataFile !== 'string')
    throw new ReadFailure('a delete file names no data file')
  if (content === 2 && equalityIds.length === 0)
    throw new ReadFailure('an equality delete file names no fields')
  const base = { ...read, equalityIds, dataFile }
  if (content === 2) return { ...base, kind: 'equality', blob: undefined }
  if (read.format !== 'PUFFIN') return { ...base, kind: 'position', blob: undefined }
  if (dataFile === undefined) throw new ReadFailure('a deletion vector names no data file')
  const blob = {
    offset: count(fields[file.content_offset]),
    size: count(fields[file.content_size_in_bytes]),
  }
  return { ...base, kind: 'vector', blob }
}
