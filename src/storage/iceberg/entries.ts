/**
 * The one reader of manifests (Iceberg specification, Manifests): walks through manifests and gives their entries, with
 * inherited sequence numbers. At most `readsMax` manifests are in memory at once, and one decoded entry. What an entry says
 * beyond its file, its counts and its kind is decoded where it is asked for. Which manifests are read, and which files may
 * be named, is the caller's to say.
 */

import { inParallel } from '../../base/in-parallel.ts'
import { turnTaker } from '../../base/in-turns.ts'
import { limits } from '../../limits.ts'
import type { AvroRecord } from '../avro.ts'
import { ReadFailure, readingFile, withLocation } from '../read-failure.ts'
import type { Storage } from '../storage.ts'
import { encryptedManifest, fieldNames, fieldsOf, manifestIn, recordField } from './avro-fields.ts'
import { type StatsNames, statsNames } from './column-stats.ts'
import { count, type NamedManifest } from './manifest-list.ts'

export interface ManifestEntry {
  readonly manifest: NamedManifest
  readonly status: 'existing' | 'added' | 'deleted'
  /** `positions`: a position delete file or a deletion vector; `values`: an equality delete file. */
  readonly content: 'data' | 'positions' | 'values'
  readonly location: string
  readonly recordCount: number
  /** Of the file; undefined where the manifest does not say it. */
  readonly fileBytes: number | undefined
  /** The entry and its file as Avro decoded them, for what is decoded on demand. */
  readonly record: AvroRecord
  readonly file: AvroRecord
  readonly names: EntryNames
}

/** The names of fields in a manifest's schema. */
interface EntryNames {
  readonly entry: Readonly<Record<keyof typeof entryFields, string>>
  readonly file: Readonly<Record<keyof typeof fileFields, string>>
  readonly stats: StatsNames
  readonly partition: readonly PartitionName[]
}

interface PartitionName {
  readonly name: string
  /** Version 1 writers may omit it. */
  readonly id: unknown
  readonly isDecimal: boolean
}

interface EntryReads {
  readonly storage: Storage
  readonly signal?: AbortSignal
  /** Manifests that are read at once; 1 where absent. */
  readonly readsMax?: number
  /** Reads a manifest's bytes. Where absent, a manifest has at most `tableMetadataBytesMax`. */
  readonly bytesOf?: (location: string) => Promise<Uint8Array>
}

/** Iceberg's field ids. */
const entryFields = {
  ...{ status: 0, snapshot_id: 1, data_file: 2 },
  ...{ sequence_number: 3, file_sequence_number: 4 },
} as const
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

const statuses = ['existing', 'added', 'deleted'] as const
const contents = ['data', 'positions', 'values'] as const

/**
 * What `take` makes of each entry, one manifest after the other; undefined is left out.
 * @param manifests asked for the next one where it is about to be read
 * @throws ReadFailure where a manifest cannot be read completely, which names it, as do those of `take`; the signal's
 *   reason; what storage throws
 */
export async function* manifestEntries<T extends object>(
  manifests: Iterable<NamedManifest>,
  take: (entry: ManifestEntry) => T | undefined,
  { storage, signal, readsMax = 1, bytesOf = (location) => wholeManifest(storage, location) }: EntryReads,
): AsyncGenerator<T> {
  const turn = turnTaker(signal)
  for (const some of chunks(manifests, readsMax)) {
    signal?.throwIfAborted()
    using work = storage.work()
    const read = await work.run(() =>
      inParallel(some, readsMax, async (manifest) => {
        if (manifest.isEncrypted) throw new ReadFailure(encryptedManifest)
        return { manifest, bytes: await readingFile(manifest.location, () => bytesOf(manifest.location)) }
      }),
    )
    for (const { manifest, bytes } of read)
      try {
        for (const entry of entriesIn(bytes, manifest)) {
          const next = turn()
          if (next !== undefined) await next
          const taken = take(entry)
          if (taken !== undefined) yield taken
        }
      } catch (thrown) {
        throw withLocation(thrown, manifest.location)
      }
  }
}

/** Visits each entry and keeps none. @throws as manifestEntries; what `visit` throws */
export async function visitEntries(
  manifests: Iterable<NamedManifest>,
  visit: (entry: ManifestEntry) => void,
  reads: EntryReads,
): Promise<void> {
  // Nothing is taken, so the first wait is for the end.
  await manifestEntries<never>(manifests, (entry) => void visit(entry), reads).next()
}

function wholeManifest(storage: Storage, location: string): Promise<Uint8Array> {
  return storage.readAll(location, limits.tableMetadataBytesMax)
}

function* chunks<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let some: T[] = []
  for (const item of items) {
    some.push(item)
    if (some.length < size) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

function* entriesIn(bytes: Uint8Array, manifest: NamedManifest): Generator<ManifestEntry> {
  // A manifest that was cut off between two blocks is still a whole Avro file: only its length tells.
  if (manifest.sizeBytes !== undefined && bytes.length !== manifest.sizeBytes)
    throw new ReadFailure('a manifest is not as long as its manifest list says')
  const { schema, records } = manifestIn(bytes)
  const names = namesIn(schema)
  for (const record of records) yield entryOf(record, names, manifest)
}

function namesIn(schema: unknown): EntryNames {
  const entry = fieldNames(schema, entryFields)
  const fileSchema = recordField(schema, entry.data_file)
  const file = fieldNames(fileSchema, fileFields)
  const partition = fieldsOf(recordField(fileSchema, file.partition)).map((field) => ({
    name: String(field.name),
    id: field['field-id'],
    isDecimal: isDecimal(field.type),
  }))
  return { entry, file, stats: statsNames(fileSchema), partition }
}

function isDecimal(type: unknown): boolean {
  if (Array.isArray(type)) return type.some(isDecimal)
  return (type as { logicalType?: unknown } | null)?.logicalType === 'decimal'
}

/** What every reader relies on is checked for every entry, also where it records a deletion. */
function entryOf(record: AvroRecord, names: EntryNames, manifest: NamedManifest): ManifestEntry {
  const status = numbered(statuses, record[names.entry.status])
  if (status === undefined) throw new ReadFailure('a manifest entry has an unknown status')
  const file = record[names.entry.data_file] as AvroRecord | null | undefined
  const location = file?.[names.file.file_path]
  if (typeof file !== 'object' || file === null || typeof location !== 'string')
    throw new ReadFailure('a manifest entry names no file')
  const content = numbered(contents, file[names.file.content] ?? 0)
  if (content === undefined || (content === 'data') !== (manifest.content === 'data'))
    throw new ReadFailure('a manifest entry is of a kind that its manifest does not hold')
  const size = file[names.file.file_size_in_bytes] ?? undefined
  const recordCount = count(file[names.file.record_count])
  const fileBytes = size === undefined ? undefined : count(size)
  return { manifest, status, content, location, recordCount, fileBytes, record, file, names }
}

function numbered<T>(names: readonly T[], number: unknown): T | undefined {
  return typeof number === 'number' ? names[number] : undefined
}

/** Whether the table still holds the file. */
export const isLive = ({ status }: ManifestEntry): boolean => status !== 'deleted'

/** Equal for entries about one file, or about one deletion vector in a file. */
export function entryKey({ manifest, location, file, names }: ManifestEntry): string {
  const offset = file[names.file.content_offset] ?? undefined
  return `${manifest.content} ${offset === undefined ? location : `${location}\0${offset}`}`
}

/** The snapshot that added or deleted the file; undefined where it is inherited from the manifest. */
export function entrySnapshot({ record, names }: ManifestEntry): bigint | undefined {
  const id = record[names.entry.snapshot_id]
  return typeof id === 'bigint' ? id : undefined
}

/** The sequence number of the snapshot that added the file; undefined where the entry does not say it. */
export function fileSequenceNumberOf({ record, names }: ManifestEntry): bigint | undefined {
  const own = record[names.entry.file_sequence_number]
  return own === undefined || own === null ? undefined : BigInt(count(own))
}

/**
 * Only an added file inherits the manifest's number. Version 1 has no numbers, which means 0.
 * @throws ReadFailure where there is none
 */
export function sequenceNumberOf({ record, names, status, manifest }: ManifestEntry): number {
  const own = record[names.entry.sequence_number] ?? undefined
  if (own !== undefined) return count(own)
  if (status === 'added' || manifest.sequenceNumber === 0) return manifest.sequenceNumber
  throw new ReadFailure('a manifest entry has no sequence number')
}

/** PARQUET, PUFFIN, … in upper case. */
export function formatOf({ file, names }: ManifestEntry): string {
  return String(file[names.file.file_format] ?? '').toUpperCase()
}

/** Whether only a holder of its key can read the file. */
export function isEncryptedFile({ file, names }: ManifestEntry): boolean {
  return Boolean(file[names.file.key_metadata])
}

/** Values by partition field id, as Avro decoded them. @throws ReadFailure where a field has no id */
export function partitionOf({ file, names }: ManifestEntry): ReadonlyMap<number, unknown> {
  const values = (file[names.file.partition] ?? {}) as AvroRecord
  return new Map(names.partition.map(({ name, id }) => [count(id), values[name] ?? null]))
}

/** Whether all values of the partition are null, or it has none. */
export function hasNoPartition({ file, names }: ManifestEntry): boolean {
  return Object.values((file[names.file.partition] ?? {}) as AvroRecord).every(
    (value) => value === null || value === undefined,
  )
}

/** Two files have the same key only where they have the same spec and partition. */
export function partitionKeyOf({ file, names, manifest }: ManifestEntry): string {
  const values = (file[names.file.partition] ?? {}) as AvroRecord
  const pairs = names.partition.map(({ name, id, isDecimal }) => {
    const value = values[name] ?? null
    return [String(id ?? name), isDecimal && value instanceof Uint8Array ? unscaled(value) : value]
  })
  return `${manifest.specId}:${JSON.stringify(pairs, plainValue)}`
}

/** A column that was promoted to a wider type keeps its partitions: its values are compared as numbers. */
function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { number: String(value) }
  // JSON knows neither NaN nor infinity nor -0. The number 1 and the text '1' are two partitions.
  if (typeof value === 'number') return { number: Object.is(value, -0) ? '-0' : String(value) }
  return value
}

/** Two's complement with the first byte first, of a length that depends on the precision. */
function unscaled(bytes: Uint8Array): bigint {
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`))
}
