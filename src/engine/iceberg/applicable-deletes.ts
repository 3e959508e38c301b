/** Matches delete files with data files (Iceberg specification, Scan Planning). Does not read either. */

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
 * @throws ReadFailure where two deletion vectors name one file, or a delete's partition spec is missing
 */
export function applicableDeletes(plan: SnapshotPlan, files: readonly FileEntry[]): PlannedDeletes {
  const vectors = vectorsByFile(plan.deletes)
  const positions = plan.deletes.filter(({ kind }) => kind === 'position')
  const equalities = plan.deletes
    .filter(({ kind }) => kind === 'equality')
    .map((entry) => ({ ...entry, isGlobal: isUnpartitioned(plan, entry.specId) }))
  const newestPosition = newest(positions.filter(({ dataFile }) => dataFile === undefined))
  const newestNamed = newest(positions, ({ dataFile }) => dataFile)
  const newestEquality = newest(equalities.filter(({ isGlobal }) => !isGlobal))
  const globals = equalities.filter(({ isGlobal }) => isGlobal)
  const newestGlobal = newest(globals, () => '').get('') ?? -1
  const planned = files.map((entry): PlannedFile => {
    const vector = vectors.get(entry.location)
    if (vector !== undefined && vector.sequenceNumber < entry.sequenceNumber)
      throw new ReadFailure('a deletion vector is older than its data file')
    const position = Math.max(
      newestPosition.get(entry.partitionKey) ?? -1,
      newestNamed.get(entry.location) ?? -1,
    )
    const equality = Math.max(newestEquality.get(entry.partitionKey) ?? -1, newestGlobal)
    return {
      entry,
      vector,
      hasPositions: vector === undefined && position >= entry.sequenceNumber,
      hasEquality: equality > entry.sequenceNumber,
    }
  })
  return {
    files: planned,
    positions: planned.some(({ hasPositions }) => hasPositions) ? positions : [],
    equalities: planned.some(({ hasEquality }) => hasEquality) ? equalities : [],
  }
}

function vectorsByFile(deletes: readonly DeleteEntry[]): ReadonlyMap<string, DeleteEntry> {
  const vectors = new Map<string, DeleteEntry>()
  for (const entry of deletes) {
    if (entry.kind !== 'vector' || entry.dataFile === undefined) continue
    if (vectors.has(entry.dataFile)) throw new ReadFailure('two deletion vectors name one data file')
    vectors.set(entry.dataFile, entry)
  }
  return vectors
}

function isUnpartitioned(plan: SnapshotPlan, specId: number): boolean {
  const fields = plan.specs.get(specId)
  if (fields === undefined) throw new ReadFailure('a partition spec is not in the metadata file')
  return fields.every(({ transform }) => transform === 'void')
}

/** The newest sequence number by key; the default key is the partition. */
function newest(
  deletes: readonly DeleteEntry[],
  keyOf: (entry: DeleteEntry) => string | undefined = ({ partitionKey }) => partitionKey,
): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>()
  for (const entry of deletes) {
    const key = keyOf(entry)
    if (key !== undefined) numbers.set(key, Math.max(numbers.get(key) ?? -1, entry.sequenceNumber))
  }
  return numbers
}
