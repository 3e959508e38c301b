/** Which deletes concern which data files (Iceberg specification, Scan Planning). */

import { ReadFailure } from '../../storage/read-failure.ts'
import type { DeleteEntry, FileEntry } from './manifest.ts'
import type { SnapshotPlan } from './snapshot-plan.ts'

/** A data file with what may delete rows of it. */
export interface PlannedFile {
  readonly entry: FileEntry
  /** Takes the place of all position delete files. */
  readonly vector: DeleteEntry | undefined
  /** Whether a position delete file may name it; which rows it names says the file itself. */
  readonly hasPositions: boolean
  readonly hasEquality: boolean
}

export interface PlannedDeletes {
  readonly files: readonly PlannedFile[]
  /** That concern at least one of the files. */
  readonly positions: readonly DeleteEntry[]
  readonly equalities: readonly EqualityDelete[]
}

export interface EqualityDelete extends DeleteEntry {
  /** Whether it concerns every partition: it was written under a spec without fields. */
  readonly isGlobal: boolean
}

/**
 * Matches deletes with these data files of a plan.
 * @throws ReadFailure where two deletion vectors name one file, or a delete's partition spec is not there
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

/** The newest sequence number by key, of a partition where no other key is meant. */
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
