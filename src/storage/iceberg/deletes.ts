/** The one matcher of deletes and data files (Iceberg specification, Scan Planning). Reads neither. */

import { eachInTurns, mapInTurns } from '../../base/in-turns.ts'
import { ReadFailure } from '../read-failure.ts'
import type { DeleteEntry, FileEntry } from './files.ts'

/** The deletes of a snapshot, and the partition specs of its table. */
interface TableDeletes {
  readonly deletes: readonly DeleteEntry[]
  readonly specs: ReadonlyMap<number, readonly { readonly transform: string }[]>
}

/**
 * How the sequence number of a delete compares with that of a file it applies to. Rows and their position deletes may come
 * in one commit, as Flink writes them. TypeScript and SQL both take it from here.
 */
export const appliesFrom = { position: '>=', vector: '>=', equality: '>' } as const

/** Whether a delete of this number, or the newest of several, applies to a file of that one. */
function reaches(kind: DeleteEntry['kind'], deleteNumber: number, fileNumber: number): boolean {
  return appliesFrom[kind] === '>=' ? deleteNumber >= fileNumber : deleteNumber > fileNumber
}

export interface EqualityDelete extends DeleteEntry {
  /** Whether it applies to every partition, because its partition spec has no fields. */
  readonly isGlobal: boolean
}

/** What may apply to one data file. */
interface MatchedDeletes {
  /** Replaces all position delete files. */
  readonly vector: DeleteEntry | undefined
  /** Whether a position delete file may name the data file; the delete file itself has the rows. */
  readonly hasPositions: boolean
  readonly hasEquality: boolean
  /** Each of them; found where it is asked for, because of many files each may have many. */
  readonly list: () => readonly DeleteEntry[]
}

/** Deletes, grouped once, so that a data file is compared with few. */
interface DeleteIndex {
  /** @throws ReadFailure where two deletion vectors name one file, or a delete's partition spec is missing */
  add(entry: DeleteEntry): void
  /** @throws ReadFailure where a deletion vector is older than the file */
  of(data: FileEntry): MatchedDeletes
}

/** An empty index. @param specs partition specs of the table by their ids */
export function deleteIndex(specs: TableDeletes['specs']): DeleteIndex {
  const vectors = new Map<string, DeleteEntry>()
  const [named, positions, equalities] = [new DeleteGroups(), new DeleteGroups(), new DeleteGroups()]
  return {
    add(entry) {
      const { kind, dataFile, partitionKey } = entry
      if (kind === 'vector') {
        if (dataFile === undefined) throw new ReadFailure('a deletion vector names no data file')
        if (vectors.has(dataFile)) throw new ReadFailure('two deletion vectors name one data file')
        vectors.set(dataFile, entry)
      } else if (kind === 'equality')
        equalities.add(isGlobal(specs, entry) ? everywhere : partitionKey, entry)
      else if (dataFile === undefined) positions.add(partitionKey, entry)
      // One that names its data file applies to it in any partition.
      else named.add(dataFile, entry)
    },
    of({ location, partitionKey, sequenceNumber }) {
      const vector = vectors.get(location)
      if (vector !== undefined && !reaches('vector', vector.sequenceNumber, sequenceNumber))
        throw new ReadFailure('a deletion vector is older than its data file')
      const byPosition = vector === undefined ? [positions.of(partitionKey), named.of(location)] : []
      const byValue = [equalities.of(partitionKey), equalities.of(everywhere)]
      const some = (groups: readonly DeleteGroup[]) =>
        groups.some(({ kind, newest }) => reaches(kind, newest, sequenceNumber))
      return {
        vector,
        hasPositions: some(byPosition),
        hasEquality: some(byValue),
        list: () => [
          ...(vector === undefined ? [] : [vector]),
          ...[...byPosition, ...byValue].flatMap(({ entries }) =>
            entries.filter((entry) => reaches(entry.kind, entry.sequenceNumber, sequenceNumber)),
          ),
        ],
      }
    },
  }
}

/** The key of deletes that apply to every partition; no partition has it. */
const everywhere = '*'

/** @throws ReadFailure where the partition spec is missing */
function isGlobal(specs: TableDeletes['specs'], { specId }: DeleteEntry): boolean {
  const fields = specs.get(specId)
  if (fields === undefined) throw new ReadFailure('a partition spec is not in the metadata file')
  return fields.every(({ transform }) => transform === 'void')
}

interface DeleteGroup {
  readonly kind: DeleteEntry['kind']
  readonly newest: number
  readonly entries: readonly DeleteEntry[]
}

const noDeletes: DeleteGroup = { kind: 'position', newest: -1, entries: [] }

/** Deletes of one kind by what they apply to. */
class DeleteGroups {
  readonly #groups = new Map<string, { kind: DeleteEntry['kind']; newest: number; entries: DeleteEntry[] }>()

  add(key: string, entry: DeleteEntry): void {
    const { kind, sequenceNumber } = entry
    const group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, { kind, newest: sequenceNumber, entries: [entry] })
    else {
      group.newest = Math.max(group.newest, sequenceNumber)
      group.entries.push(entry)
    }
  }

  of(key: string): DeleteGroup {
    return this.#groups.get(key) ?? noDeletes
  }
}

/** A data file with what may apply to it. */
export interface PlannedFile extends Pick<MatchedDeletes, 'vector' | 'hasPositions' | 'hasEquality'> {
  readonly entry: FileEntry
}

interface PlannedDeletes {
  readonly files: readonly PlannedFile[]
  /** Position deletes that may apply to at least one of the files. */
  readonly positions: readonly DeleteEntry[]
  readonly equalities: readonly EqualityDelete[]
}

/**
 * Matches a table's deletes with these data files.
 * @throws ReadFailure as {@link DeleteIndex}; the signal's reason
 */
export async function applicableDeletes(
  { deletes, specs }: TableDeletes,
  files: readonly FileEntry[],
  signal: AbortSignal,
): Promise<PlannedDeletes> {
  const index = deleteIndex(specs)
  await eachInTurns(deletes, signal, (entry) => index.add(entry))
  const planned = await mapInTurns(files, signal, (entry): PlannedFile => {
    const { vector, hasPositions, hasEquality } = index.of(entry)
    return { entry, vector, hasPositions, hasEquality }
  })
  const ofKind = (kind: DeleteEntry['kind']) => deletes.filter((entry) => entry.kind === kind)
  return {
    files: planned,
    positions: planned.some(({ hasPositions }) => hasPositions) ? ofKind('position') : [],
    equalities: planned.some(({ hasEquality }) => hasEquality)
      ? ofKind('equality').map((entry) => ({ ...entry, isGlobal: isGlobal(specs, entry) }))
      : [],
  }
}
