/**
 * Reads which files a manifest names and what it says of each: of their statistics, counts of nulls where these are asked for, and bounds
 * that are not allowed. engine/iceberg/manifest.ts reads what a query needs.
 */

import { threadTurn } from '../base/thread-turns.ts'
import type { AvroRecord } from './avro.ts'
import { fieldNames, manifestIn, recordField } from './avro-fields.ts'
import { type BoundRules, boundChecker } from './manifest-bounds.ts'
import { count, type ManifestRef } from './manifest-list.ts'
import { ReadFailure } from './read-failure.ts'

export interface ManifestFile {
  /** Equal for entries about one file, or about one deletion vector in a file. */
  readonly key: string
  readonly location: string
  /** False where the entry records that the file was deleted. */
  readonly isLive: boolean
  readonly recordCount: number
  /** Whether it deletes rows by their values, which may lie in other partitions. */
  readonly deletesByValue: boolean
  /** Of the file; undefined where the manifest does not say it. */
  readonly fileBytes: number | undefined
  /** The partition's values as they stand in the manifest, by the fields of its spec. */
  readonly partition: AvroRecord
  /**
   * Nulls by field id. Read only where they are asked for.
   * @throws ReadFailure where they are malformed, or more than the values
   */
  readonly nulls: () => ReadonlyMap<number, number>
}

const entryFields = { status: 0, data_file: 2 } as const
const fileFields = {
  content: 134,
  file_path: 100,
  record_count: 103,
  file_size_in_bytes: 104,
  partition: 102,
  value_counts: 109,
  null_value_counts: 110,
  content_offset: 144,
} as const
/** `status` of an entry that the manifest's snapshot added. */
const addedStatus = 1
/** `status` of an entry that records a deletion. */
export const deletedStatus = 2
/** `content` of a file that deletes rows by their values. */
const equalityContent = 2
/** Entries after which other work on this thread gets its turn. */
const turnEntries = 500

/** The `status` of an entry: 0 existing, 1 added, 2 deleted. @throws ReadFailure for any other */
export function entryStatus(status: unknown): 0 | 1 | typeof deletedStatus {
  if (status !== 0 && status !== 1 && status !== deletedStatus)
    throw new ReadFailure('a manifest entry has an unknown status')
  return status
}

/**
 * The entries of a manifest, in turns.
 * @param bytes of the manifest
 * @param boundRules what it may keep of the files that it adds
 * @throws ReadFailure, of which one is KeptBound
 */
export async function* manifestFiles(
  bytes: Uint8Array,
  ref: ManifestRef,
  boundRules?: BoundRules,
): AsyncGenerator<ManifestFile> {
  // A file that was cut off between two blocks is a whole Avro file: only its length tells.
  if (bytes.length !== ref.sizeBytes)
    throw new ReadFailure('a manifest is not as long as its manifest list says')
  const { schema, records } = manifestIn(bytes)
  const entry = fieldNames(schema, entryFields)
  const fileSchema = recordField(schema, entry.data_file)
  const file = fieldNames(fileSchema, fileFields)
  const checkBounds = boundRules?.size ? boundChecker(fileSchema, boundRules) : undefined
  let seen = 0
  for (const record of records) {
    if (++seen % turnEntries === 0) await threadTurn()
    const status = entryStatus(record[entry.status])
    const fields = record[entry.data_file] as AvroRecord | null | undefined
    const path = fields?.[file.file_path]
    if (typeof path !== 'string') throw new ReadFailure('a manifest entry names no file')
    if (((fields?.[file.content] ?? 0) === 0) !== (ref.content === 'data'))
      throw new ReadFailure('a manifest entry is of a kind that its manifest does not hold')
    if (status === addedStatus && fields) checkBounds?.(fields)
    const rows = count(fields?.[file.record_count])
    const offset = fields?.[file.content_offset]
    const size = fields?.[file.file_size_in_bytes]
    yield {
      location: path,
      key: offset === null || offset === undefined ? path : `${path}\0${offset}`,
      isLive: status !== deletedStatus,
      recordCount: rows,
      deletesByValue: fields?.[file.content] === equalityContent,
      fileBytes: size === null || size === undefined ? undefined : count(size),
      partition: (fields?.[file.partition] ?? {}) as AvroRecord,
      nulls: () => nullsOf(fields?.[file.null_value_counts], fields?.[file.value_counts], rows),
    }
  }
}

/** Nulls by field id. Only what lies in a list or map may have more values than the file has rows, and none without rows. */
function nullsOf(nulls: unknown, values: unknown, rows: number): ReadonlyMap<number, number> {
  const found = countsByField(nulls)
  for (const [id, sum] of found) {
    if (sum <= rows) continue
    if (rows === 0 || sum > (countsByField(values).get(id) ?? rows))
      throw new ReadFailure('a manifest counts more nulls than the file has values')
  }
  return found
}

/** Maps with keys other than strings are arrays of pairs in Avro (specification, Appendix A). */
function countsByField(pairs: unknown): ReadonlyMap<number, number> {
  if (pairs === null || pairs === undefined) return new Map()
  if (!Array.isArray(pairs)) throw malformedCounts()
  return new Map(
    (pairs as readonly { readonly key?: unknown; readonly value?: unknown }[]).map((pair) => {
      if (typeof pair?.key !== 'number') throw malformedCounts()
      return [pair.key, count(pair.value)]
    }),
  )
}

const malformedCounts = () => new ReadFailure('the counts of a manifest entry are malformed')
