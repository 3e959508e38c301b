/**
 * Reads a metadata file and its manifests, to find the data files that its snapshots added (Iceberg versions 1 to 3).
 * It ignores delete files and deletion vectors, because a deleted row is still in its data file.
 */

import type { JsonObject } from '../../base/json.ts'
import type { Column } from '../../core/commit.ts'
import { limits } from '../../limits.ts'
import type { AvroRecord } from '../../storage/avro.ts'
import {
  encryptedManifest,
  fieldNames,
  manifestEntriesMax,
  openManifest,
  recordField,
} from '../../storage/avro-fields.ts'
import { ReadFailure, toReadFailure } from '../../storage/read-failure.ts'
import type { Storage } from '../../storage/storage.ts'
import { readMetadata } from '../../storage/table-metadata-file.ts'
import {
  currentSchema,
  currentSnapshotId,
  metadataReader,
  schemaColumns,
  schemasOf,
  snapshotsOf,
} from '../../wire/iceberg/table-metadata.ts'

export interface ScannedTable {
  readonly tableUuid: string | undefined
  /** Columns of the newest snapshot's schema; nested ones have dotted names. */
  readonly columns: readonly Column[]
  /** The snapshots that this metadata file added to the one before it. */
  readonly snapshots: readonly JsonObject[]
}

export interface DataFile {
  readonly path: string
  /** PARQUET, ORC, AVRO, … in upper case. */
  readonly format: string
  readonly recordCount: number
  readonly isEncrypted: boolean
}

/**
 * Reads the table from a metadata file, and finds the snapshots that are new in that file. They are those that the
 * previous file of the metadata log does not have. If that file cannot be read, the current and the newest snapshot
 * are taken.
 * @param isRescan whether the current and the newest snapshot are taken in any case
 * @throws ReadFailure
 */
export async function readTable(storage: Storage, location: string, isRescan = false): Promise<ScannedTable> {
  const metadata = await readMetadata(storage, location)
  const known = isRescan ? undefined : await snapshotsBefore(storage, metadata)
  try {
    const all = snapshotsOf(metadata)
    const snapshots =
      known === undefined ? newestOf(metadata, all) : all.filter((one) => !known.has(idOf(one)))
    const columns = schemaColumns(schemaAt(metadata, snapshots.at(-1)))
    if (columns.length > limits.detectionColumnsMax)
      throw new ReadFailure(`the table has more than ${limits.detectionColumnsMax} columns`)
    return { tableUuid: metadataReader.optionalString(metadata, 'table-uuid'), columns, snapshots }
  } catch (thrown) {
    throw toReadFailure(thrown, 'the metadata file')
  }
}

function idOf(snapshot: JsonObject): bigint {
  return metadataReader.integer(snapshot, 'snapshot-id')
}

async function snapshotsBefore(
  storage: Storage,
  metadata: JsonObject,
): Promise<ReadonlySet<bigint> | undefined> {
  try {
    const log = metadataReader.optionalObjects(metadata, 'metadata-log') ?? []
    const last = log.at(-1)
    if (last === undefined) return undefined
    const before = await readMetadata(storage, metadataReader.string(last, 'metadata-file'))
    return new Set(snapshotsOf(before).map(idOf))
  } catch {
    return undefined
  }
}

function newestOf(metadata: JsonObject, all: readonly JsonObject[]): readonly JsonObject[] {
  const age = (one: JsonObject) =>
    metadataReader.optionalInteger(one, 'sequence-number') ?? metadataReader.integer(one, 'timestamp-ms')
  let newest = all[0]
  for (const one of all) if (newest !== undefined && age(one) >= age(newest)) newest = one
  const currentId = currentSnapshotId(metadata)
  const current = all.find((one) => idOf(one) === currentId)
  return [...new Set([newest, current])].filter((one) => one !== undefined)
}

function schemaAt(metadata: JsonObject, snapshot: JsonObject | undefined): JsonObject {
  const id = snapshot && metadataReader.optionalInteger(snapshot, 'schema-id')
  const own =
    id === undefined ? undefined : schemasOf(metadata).find((schema) => schema.get('schema-id') === id)
  return own ?? currentSchema(metadata)
}

/**
 * Finds the data files that a snapshot added.
 * @returns at most `filesMax` files, evenly spread, and the number of all
 * @throws ReadFailure
 */
export async function addedFiles(
  storage: Storage,
  snapshot: JsonObject,
  filesMax: number,
): Promise<{ readonly files: readonly DataFile[]; readonly count: number }> {
  const snapshotId = idOf(snapshot)
  const files: DataFile[] = []
  for (const manifest of await manifestsOf(storage, snapshot, snapshotId)) {
    const { schema, records } = await openManifest(storage, manifest)
    const field = fieldNames(schema, entryFields)
    const inner = fieldNames(recordField(schema, field.data_file), fileFields)
    for (const entry of records) {
      const owner = entry[field.snapshot_id]
      // An absent id is inherited from the manifest, which this snapshot added.
      if (entry[field.status] !== added || (typeof owner === 'bigint' && owner !== snapshotId)) continue
      const file = entry[field.data_file] as AvroRecord | undefined
      const path = file?.[inner.file_path]
      if (file === undefined || typeof path !== 'string')
        throw new ReadFailure('a manifest entry names no file')
      if (isDelete(file[inner.content])) continue
      files.push({
        path,
        format: String(file[inner.file_format] ?? '').toUpperCase(),
        recordCount: Number(file[inner.record_count] ?? 0n),
        isEncrypted: Boolean(file[inner.key_metadata]),
      })
      if (files.length > manifestEntriesMax)
        throw new ReadFailure(`a snapshot adds more than ${manifestEntriesMax} files`)
    }
  }
  return { files: spread(files, filesMax), count: files.length }
}

/** `status` of a manifest entry whose file this snapshot added. */
const added = 1

/** Iceberg's field ids. Files without ids are read by name, on which version 1 and 2 writers agree. */
const entryFields = { status: 0, snapshot_id: 1, data_file: 2 } as const
const fileFields = {
  content: 134,
  file_path: 100,
  file_format: 101,
  record_count: 103,
  key_metadata: 131,
} as const
const listFields = { manifest_path: 500, content: 517, added_snapshot_id: 503, key_metadata: 519 } as const

function isDelete(content: unknown): boolean {
  return typeof content === 'number' && content !== 0
}

async function manifestsOf(
  storage: Storage,
  snapshot: JsonObject,
  snapshotId: bigint,
): Promise<readonly string[]> {
  const list = metadataReader.optionalString(snapshot, 'manifest-list')
  // Version 1 may list its manifests in the metadata file.
  if (list === undefined)
    return snapshot.has('manifests') ? metadataReader.strings(snapshot, 'manifests') : []
  if (snapshot.has('key-id')) throw new ReadFailure(encryptedManifest)
  const { schema, records } = await openManifest(storage, list)
  const field = fieldNames(schema, listFields)
  const paths: string[] = []
  for (const record of records) {
    const owner = record[field.added_snapshot_id]
    if (isDelete(record[field.content]) || (typeof owner === 'bigint' && owner !== snapshotId)) continue
    if (record[field.key_metadata]) throw new ReadFailure(encryptedManifest)
    const path = record[field.manifest_path]
    if (typeof path !== 'string') throw new ReadFailure('a manifest list names no manifest')
    paths.push(path)
    if (paths.length > limits.detectionManifestsMax)
      throw new ReadFailure(`a snapshot adds more than ${limits.detectionManifestsMax} manifests`)
  }
  return paths
}

/** Picks at most `count` items, evenly spread, including the first and the last. */
export function spread<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items
  if (count === 1) return items.slice(0, 1)
  return Array.from(
    { length: count },
    (_, index) => items[Math.round((index * (items.length - 1)) / (count - 1))],
  ).filter((item) => item !== undefined)
}
