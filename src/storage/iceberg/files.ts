/** Data files and delete files of a snapshot as a plan keeps them. entries.ts reads them. */

import { ReadFailure } from '../read-failure.ts'
import { type ColumnStats, statsOf } from './column-stats.ts'
import { formatOf, type ManifestEntry, partitionKeyOf, partitionOf, sequenceNumberOf } from './entries.ts'
import { count } from './manifest-list.ts'

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

/** Approximate memory of an entry; statistics take the most. */
export function entryBytes({ stats }: FileEntry): number {
  return 1_000 + 500 * stats.nullCounts.size
}

/** @throws ReadFailure where the entry says too little to read the file */
export function fileEntry(entry: ManifestEntry): FileEntry {
  const { location, recordCount, manifest } = entry
  return {
    location,
    recordCount,
    format: formatOf(entry),
    sizeBytes: count(entry.fileBytes),
    sequenceNumber: sequenceNumberOf(entry),
    specId: manifest.specId,
    partition: partitionOf(entry),
    partitionKey: partitionKeyOf(entry),
    stats: statsOf(entry),
  }
}

/** @throws ReadFailure where the entry says too little to apply the delete */
export function deleteEntry(entry: ManifestEntry): DeleteEntry {
  const { file, content } = entry
  const names = entry.names.file
  const read = fileEntry(entry)
  const ids = file[names.equality_ids] ?? []
  const equalityIds = Array.isArray(ids) ? ids.map(count) : []
  const dataFile = file[names.referenced_data_file] ?? undefined
  if (dataFile !== undefined && typeof dataFile !== 'string')
    throw new ReadFailure('a delete file names no data file')
  const base = { ...read, equalityIds, dataFile }
  if (content === 'values') {
    if (equalityIds.length === 0) throw new ReadFailure('an equality delete file names no fields')
    return { ...base, kind: 'equality', blob: undefined }
  }
  if (read.format !== 'PUFFIN') return { ...base, kind: 'position', blob: undefined }
  if (dataFile === undefined) throw new ReadFailure('a deletion vector names no data file')
  const blob = { offset: count(file[names.content_offset]), size: count(file[names.content_size_in_bytes]) }
  return { ...base, kind: 'vector', blob }
}
