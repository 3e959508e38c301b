/** Matches delete files with data files (Iceberg specification, Scan Planning). Does not read either. */

import { eachInTurns, mapInTurns } from '../../base/in-turns.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import type { DeleteEntry, FileEntry } from './manifest.ts'
import type { SnapshotPlan } from './snapshot-plan.ts'

/** A data file, and which deletes may apply to it. */
export interface PlannedFile {
  readonly entry: FileEntry
  /** Replaces all position delete files. */
  readonly vector: DeleteEntry | undefined
  /** Whether a position delete file may name the data file; the delete file itself has the rows. */
  readonly hasPositions: boolean
  readonly hasEquality: boolean
}

export interface PlannedDeletes {
  readonly files: readonly PlannedFile[]
  /** Position deletes that may apply to at least one of the files. */
  readonly positions: readonly DeleteEntry[]
  readonly equalities: readonly EqualityDelete[]
}

export interface EqualityDelete extends DeleteEntry {
  /** Whether it applies to every partition, because its partition spec has no fields. */
  readonly isGlobal: boolean
}

/**
 * Matches a plan's deletes with these data files.
 * @throws ReadFailure where two deletion vectors name one file, or a delete's partition spec is missing; the signal's
 *   reason
 */
export async function applicableDeletes(
  plan: SnapshotPlan,
  files: readonly FileEntry[],
  signal: AbortSignal,
): Promise<PlannedDeletes> {
  const { vectors, positions, equalities, newestPosition, newestEquality } = await sorted(plan, signal)
  const planned = await mapInTurns(files, signal, (entry): PlannedFile => {
    const vector = vectors.get(entry.location)
    if (vector !== undefined && vector.sequenceNumber < entry.sequenceNumber)
      throw new ReadFailure('a deletion vector is older than its data file')
    const { sequenceNumber } = entry
    return {
      entry,
      vector,
      hasPositions: vector === undefined && newestPosition(entry) >= sequenceNumber,
      hasEquality: newestEquality(entry) > sequenceNumber,
    }
  })
  return {
    files: planned,
    positions: planned.some(({ hasPositions }) => hasPositions) ? positions : [],
    equalities: planned.some(({ hasEquality }) => hasEquality) ? equalities : [],
  }
}

interface SortedDeletes {
  readonly vectors: ReadonlyMap<string, DeleteEntry>
  readonly positions: readonly DeleteEntry[]
  readonly equalities: readonly EqualityDelete[]
  /** The sequence number of the newest position delete file that may name a data file; -1 where there is none. */
  readonly newestPosition: (data: FileEntry) => number
  readonly newestEquality: (data: FileEntry) => number
}

async function sorted(plan: SnapshotPlan, signal: AbortSignal): Promise<SortedDeletes> {
  const vectors = new Map<string, DeleteEntry>()
  const positions: DeleteEntry[] = []
  const equalities: EqualityDelete[] = []
  /** Newest sequence numbers by data file, by partition, and of all partitions. */
  const [ofFile, ofPartition, ofEquality] = [newest(), newest(), newest()]
  let ofAll = -1
  await eachInTurns(plan.deletes, signal, (entry) => {
    const { kind, dataFile, partitionKey, sequenceNumber } = entry
    if (kind === 'vector') {
      if (dataFile === undefined) return
      if (vectors.has(dataFile)) throw new ReadFailure('two deletion vectors name one data file')
      vectors.set(dataFile, entry)
    } else if (kind === 'position') {
      positions.push(entry)
      if (dataFile === undefined) ofPartition.add(partitionKey, sequenceNumber)
      else ofFile.add(dataFile, sequenceNumber)
    } else {
      const isGlobal = isUnpartitioned(plan, entry.specId)
      equalities.push({ ...entry, isGlobal })
      if (isGlobal) ofAll = Math.max(ofAll, sequenceNumber)
      else ofEquality.add(partitionKey, sequenceNumber)
    }
  })
  return {
    ...{ vectors, positions, equalities },
    newestPosition: ({ partitionKey, location }) =>
      Math.max(ofPartition.of(partitionKey), ofFile.of(location)),
    newestEquality: ({ partitionKey }) => Math.max(ofEquality.of(partitionKey), ofAll),
  }
}

function isUnpartitioned(plan: SnapshotPlan, specId: number): boolean {
  const fields = plan.specs.get(specId)
  if (fields === undefined) throw new ReadFailure('a partition spec is not in the metadata file')
  return fields.every(({ transform }) => transform === 'void')
}

/** The newest sequence number by key. */
function newest() {
  const numbers = new Map<string, number>()
  const of = (key: string) => numbers.get(key) ?? -1
  return { of, add: (key: string, number: number) => numbers.set(key, Math.max(of(key), number)) }
}
