/**
 * Plans the reading of one snapshot from its metadata file: data files, delete files and schemas (Iceberg
 * specification, Scan Planning, versions 1 to 3). Does not depend on an engine, opens no data file, and opens and names
 * only files that the table's territory admits. How many files a snapshot has is bounded by the memory that they take.
 */

import { eachInTurns } from '../../base/in-turns.ts'
import type { JsonObject } from '../../base/json.ts'
import { limits } from '../../limits.ts'
import {
  isEncryptedFile,
  isLive,
  type ManifestEntry,
  manifestEntries,
} from '../../storage/iceberg/entries.ts'
import {
  type DeleteEntry,
  deleteEntry,
  entryBytes,
  type FileEntry,
  fileEntry,
} from '../../storage/iceberg/files.ts'
import { manifestsIn } from '../../storage/iceberg/manifest-list.ts'
import { ReadFailure, readingFile } from '../../storage/read-failure.ts'
import type { Storage } from '../../storage/storage.ts'
import { readMetadata } from '../../storage/table-metadata-file.ts'
import type { TableFileKind, TerritoryGuard } from '../../storage/territory-guard.ts'
import {
  currentSchema,
  metadataReader,
  partitionSpecsOf,
  schemasOf,
  snapshotsOf,
} from '../../wire/iceberg/table-metadata.ts'
import { engineCannotRead } from '../engine-error.ts'
import { type NameMapping, nameMapping } from './name-mapping.ts'
import { schemaOfSnapshot, type TableField, type TableSchema, tableSchema } from './table-schema.ts'

/** One field of a partition spec. */
export interface PartitionField {
  readonly id: number
  /** The table's field that the partition field is derived from; undefined where there are several. */
  readonly sourceId: number | undefined
  /** `identity`, `bucket[16]`, `day`, … */
  readonly transform: string
}

export interface SnapshotPlan {
  /** The snapshot's schema, then the current one. */
  readonly schemas: readonly TableSchema[]
  /** Fields of all schemas by id, the newest definition of each; equality deletes may compare dropped fields. */
  readonly fields: ReadonlyMap<number, TableField>
  readonly nameMapping: NameMapping | undefined
  readonly specs: ReadonlyMap<number, readonly PartitionField[]>
  readonly dataFiles: readonly FileEntry[]
  readonly deletes: readonly DeleteEntry[]
  /** What was opened to plan. */
  readonly opened: readonly { readonly kind: TableFileKind; readonly location: string }[]
}

export interface PlanOptions {
  readonly signal: AbortSignal
  /** Judges every file before it is opened or named. */
  readonly guard: TerritoryGuard
  /** Whether files of any format are planned, because another reader opens them. */
  readonly anyFormat?: boolean
  /** Reserves the bytes that the plan's files take, some at a time. It throws where there are none. */
  readonly hold: (bytes: number) => void
}

/** Approximate memory of a plan. */
export function planBytes({ dataFiles, deletes }: SnapshotPlan): number {
  const bytesOf = (files: readonly FileEntry[]) => files.reduce((sum, file) => sum + entryBytes(file), 0)
  return 10_000 + bytesOf(dataFiles) + bytesOf(deletes)
}

/**
 * @param snapshotId undefined for a table without a snapshot, which has no files
 * @throws what `hold` throws; TerritoryFailure where the guard refuses a file; ReadFailure, Fault or EngineError where the snapshot is
 *   missing or cannot be read completely
 */
export async function planSnapshot(
  storage: Storage,
  metadataLocation: string,
  snapshotId: bigint | undefined,
  { signal, guard, hold, anyFormat = false }: PlanOptions,
): Promise<SnapshotPlan> {
  const opened: SnapshotPlan['opened'][number][] = []
  const admit: Admit = (kind, location) => {
    guard.admit(kind, location)
    if (kind !== 'data file' && kind !== 'delete file') opened.push({ kind, location })
  }
  admit('metadata file', metadataLocation)
  const metadata = await readingFile(metadataLocation, () => readMetadata(storage, metadataLocation))
  signal.throwIfAborted()
  const snapshot = snapshotId === undefined ? undefined : snapshotWithId(metadata, snapshotId)
  const files = snapshot && (await snapshotFiles(storage, snapshot, { signal, admit, hold }))
  if (!anyFormat) {
    await eachInTurns(files?.data ?? [], signal, assertReadable)
    await eachInTurns(files?.deletes ?? [], signal, assertReadableDelete)
  }
  return {
    schemas: [tableSchema(schemaOfSnapshot(metadata, snapshot)), tableSchema(currentSchema(metadata))],
    fields: newestFields(metadata),
    nameMapping: nameMapping(metadata),
    specs: partitionFields(metadata),
    dataFiles: files?.data ?? [],
    deletes: files?.deletes ?? [],
    opened,
  }
}

type Admit = TerritoryGuard['admit']

function snapshotWithId(metadata: JsonObject, id: bigint): JsonObject {
  const found = snapshotsOf(metadata).find((one) => one.get('snapshot-id') === id)
  if (found === undefined) throw new ReadFailure('the snapshot is not in the metadata file')
  if (found.has('key-id')) throw engineCannotRead('An encrypted table')
  return found
}

async function snapshotFiles(
  storage: Storage,
  snapshot: JsonObject,
  { signal, admit, hold }: Pick<PlanOptions, 'signal' | 'hold'> & { readonly admit: Admit },
): Promise<{ readonly data: readonly FileEntry[]; readonly deletes: readonly DeleteEntry[] }> {
  const list = metadataReader.optionalString(snapshot, 'manifest-list')
  if (list === undefined) throw engineCannotRead('A snapshot without a manifest list')
  admit('manifest list', list)
  const manifests = await readingFile(list, async () =>
    manifestsIn(await storage.readAll(list, limits.tableMetadataBytesMax), limits.engineManifestsMax),
  )
  const admitted = function* () {
    for (const manifest of manifests) {
      if (manifest.isEncrypted) throw engineCannotRead('An encrypted table')
      admit('manifest', manifest.location)
      yield manifest
    }
  }
  const take = (entry: ManifestEntry) => {
    if (!isLive(entry)) return undefined
    if (isEncryptedFile(entry)) throw engineCannotRead('An encrypted table')
    const isData = entry.content === 'data'
    admit(isData ? 'data file' : 'delete file', entry.location)
    return isData ? fileEntry(entry) : deleteEntry(entry)
  }
  const data: FileEntry[] = []
  const deletes: DeleteEntry[] = []
  const locations = new Set<string>()
  let unheld = 0
  const holdAll = () => {
    // After an abort, what was held is released already.
    signal.throwIfAborted()
    hold(unheld)
    unheld = 0
  }
  for await (const file of manifestEntries(admitted(), take, { storage, signal })) {
    unheld += entryBytes(file)
    if (unheld >= heldStep) holdAll()
    if (isDelete(file)) deletes.push(file)
    else {
      locations.add(file.location)
      data.push(file)
    }
  }
  holdAll()
  if (locations.size !== data.length) throw new ReadFailure('a snapshot names one data file twice')
  return { data, deletes }
}

const isDelete = (file: FileEntry | DeleteEntry): file is DeleteEntry => 'kind' in file

/** Bytes of entries that are reserved at once. */
const heldStep = 256 * 1024

function assertReadable({ format }: FileEntry): void {
  if (format !== 'PARQUET') throw engineCannotRead('A data file that is not Parquet')
}

function assertReadableDelete({ kind, format }: DeleteEntry): void {
  if (kind !== 'vector' && format !== 'PARQUET') throw engineCannotRead('A delete file that is not Parquet')
}

function newestFields(metadata: JsonObject): ReadonlyMap<number, TableField> {
  const fields = new Map<number, TableField>()
  const schemas = [...schemasOf(metadata), currentSchema(metadata)]
  for (const schema of schemas) for (const [id, field] of tableSchema(schema)) fields.set(id, field)
  return fields
}

function partitionFields(metadata: JsonObject): ReadonlyMap<number, readonly PartitionField[]> {
  return new Map(
    partitionSpecsOf(metadata).map((spec) => [
      Number(metadataReader.integer(spec, 'spec-id')),
      metadataReader.objects(spec, 'fields').map((field) => {
        const source = metadataReader.optionalInteger(field, 'source-id')
        return {
          id: Number(metadataReader.optionalInteger(field, 'field-id') ?? -1n),
          sourceId: source === undefined ? undefined : Number(source),
          transform: metadataReader.string(field, 'transform'),
        }
      }),
    ]),
  )
}
