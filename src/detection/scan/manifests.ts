/**
 * Reads a metadata file and its manifests, to find the data files that its snapshots added (Iceberg versions 1 to 3).
 * It ignores delete files and deletion vectors, because a deleted row is still in its data file.
 */

import type { JsonObject } from '../../base/json.ts'
import type { Column } from '../../core/commit.ts'
import { limits } from '../../limits.ts'
import { encryptedManifest, manifestEntriesMax } from '../../storage/iceberg/avro-fields.ts'
import {
  entrySnapshot,
  formatOf,
  isEncryptedFile,
  type ManifestEntry,
  manifestEntries,
} from '../../storage/iceberg/entries.ts'
import { inlineManifest, listedManifests, type NamedManifest } from '../../storage/iceberg/manifest-list.ts'
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

/** Manifests of one snapshot. */
const detectionManifestsMax = 10_000

interface ScannedTable {
  readonly tableUuid: string | undefined
  /** Columns of the newest snapshot's schema; nested ones have dotted names. */
  readonly columns: readonly Column[]
  /** The snapshots that this metadata file added to the one before it. */
  readonly snapshots: readonly JsonObject[]
  readonly metadata: JsonObject
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
    return { tableUuid: metadataReader.optionalString(metadata, 'table-uuid'), columns, snapshots, metadata }
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
  const take = (entry: ManifestEntry): DataFile | undefined => {
    // An absent id is inherited from the manifest, which this snapshot added.
    if (entry.status !== 'added' || (entrySnapshot(entry) ?? snapshotId) !== snapshotId) return undefined
    const { location: path, recordCount } = entry
    return { path, format: formatOf(entry), recordCount, isEncrypted: isEncryptedFile(entry) }
  }
  const files: DataFile[] = []
  const manifests = await manifestsOf(storage, snapshot, snapshotId)
  for await (const file of manifestEntries(manifests, take, { storage })) {
    files.push(file)
    if (files.length > manifestEntriesMax)
      throw new ReadFailure(`a snapshot adds more than ${manifestEntriesMax} files`)
  }
  return { files: spread(files, filesMax), count: files.length }
}

/** The data manifests that the snapshot added. */
async function manifestsOf(
  storage: Storage,
  snapshot: JsonObject,
  snapshotId: bigint,
): Promise<readonly NamedManifest[]> {
  const list = metadataReader.optionalString(snapshot, 'manifest-list')
  // Version 1 may list its manifests in the metadata file.
  if (list === undefined)
    return snapshot.has('manifests') ? metadataReader.strings(snapshot, 'manifests').map(inlineManifest) : []
  if (snapshot.has('key-id')) throw new ReadFailure(encryptedManifest)
  const manifests: NamedManifest[] = []
  for (const manifest of listedManifests(await storage.readAll(list, limits.tableMetadataBytesMax))) {
    const { content, addedSnapshotId = snapshotId } = manifest
    if (content !== 'data' || addedSnapshotId !== snapshotId) continue
    manifests.push(manifest)
    if (manifests.length > detectionManifestsMax)
      throw new ReadFailure(`a snapshot adds more than ${detectionManifestsMax} manifests`)
  }
  return manifests
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
