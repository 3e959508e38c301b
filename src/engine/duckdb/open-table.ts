/** One table's snapshot for a session: its files at hand, and the relation that is made over them. */

import type { DuckDBConnection } from '@duckdb/node-api'
import type { GovernedTable } from '../../core/governed-table.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ColumnRange, TableSnapshot } from '../engine.ts'
import { applicableDeletes, type EqualityDelete } from '../iceberg/applicable-deletes.ts'
import type { DeleteEntry, FileEntry } from '../iceberg/manifest.ts'
import { prunedFiles } from '../iceberg/prune.ts'
import type { SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { branchesOf, type LocalFile } from './branches.ts'
import {
  createEqualityTables,
  createFileTable,
  createPositionTable,
  equalityColumns,
  type LocalDelete,
  PartitionNumbers,
} from './delete-tables.ts'
import type { LocalFiles } from './local-files.ts'
import { relationSql } from './relation-sql.ts'
import { shownColumns } from './table-columns.ts'

export interface TableAtHand {
  /** The name of the temporary view. */
  readonly view: string
  /** Of the data files that the relation reads. */
  readonly bytes: number
  /**
   * The view's SQL, where it depends on nothing but files. Else it is known once the tables of its deletes are
   * made on the connection.
   */
  readonly relation: string | ((connection: DuckDBConnection) => Promise<string>)
}

/** Made of files alone, and what it was made of: the same files of the same plan make the same. */
interface Made {
  readonly table: GovernedTable
  readonly ranges: readonly ColumnRange[] | undefined
  readonly number: number
  readonly files: readonly FileEntry[]
  readonly paths: readonly string[]
  readonly atHand: TableAtHand
}

/** By plan, which is of one scope, what was made of it last. */
const madeLast = new WeakMap<SnapshotPlan, Made>()

/**
 * Brings a snapshot's files here and says how they become a relation.
 * @param plan the snapshot's, as the scope of `files` sees it and nobody else
 * @param number tells the session's tables apart
 * @throws EngineError, ReadFailure or what DuckDB throws, where any row could be missing or wrong
 */
export async function tableAtHand(
  snapshot: TableSnapshot,
  plan: SnapshotPlan,
  number: number,
  files: LocalFiles,
  storage: Storage,
  signal: AbortSignal,
): Promise<TableAtHand> {
  const { table, ranges } = snapshot
  const last = madeLast.get(plan)
  if (last?.table === table && last.ranges === ranges && last.number === number) {
    const local = await files.bring(last.files, signal)
    // A path is never given to another file.
    if (last.files.every(({ location }, index) => local.get(location)?.path === last.paths[index]))
      return last.atHand
  }
  return await makeTable(snapshot, plan, number, files, storage, signal)
}

async function makeTable(
  { table, ranges }: TableSnapshot,
  plan: SnapshotPlan,
  number: number,
  files: LocalFiles,
  storage: Storage,
  signal: AbortSignal,
): Promise<TableAtHand> {
  const shown = shownColumns(table, plan)
  const wanted = prunedFiles(plan, ranges ?? [])
  const planned = applicableDeletes(plan, wanted)
  const compared = equalityColumns(plan, planned.equalities)
  const shownIds = new Set(shown.map(({ field }) => field.id))
  const hidden = [...compared.values()].filter(({ field }) => !shownIds.has(field.id))

  const deletes = [...planned.positions, ...planned.equalities]
  const local = await files.bring([...wanted, ...deletes], signal)
  const at = (entry: FileEntry) => local.get(entry.location) ?? missing()
  const data = planned.files.map((file): LocalFile => ({ planned: file, ...at(file.entry) }))
  const branches = branchesOf(data, [...shown, ...hidden], plan)

  const view = `t${number}`
  const bytes = wanted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const names = { positions: `p${number}`, files: `m${number}`, equalities: `e${number}_` }
  const parts = { shown, hidden, branches, ...names }
  const hasPositions = branches.some((branch) => branch.hasPositions)
  if (!hasPositions && planned.equalities.length === 0) {
    const atHand = { view, bytes, relation: relationSql({ ...parts, equalities: [] }) }
    const paths = wanted.map((entry) => at(entry).path)
    if (deletes.length === 0) madeLast.set(plan, { table, ranges, number, files: wanted, paths, atHand })
    return atHand
  }

  const localDelete = <E extends DeleteEntry>(entry: E): LocalDelete<E> => ({ entry, ...at(entry) })
  const positions = planned.positions.map(localDelete)
  const equalDeletes = planned.equalities.map((entry) => localDelete<EqualityDelete>(entry))
  const relation = async (connection: DuckDBConnection) => {
    if (hasPositions)
      await createPositionTable(connection, names.positions, branches, positions, storage, signal)
    const partitions = new PartitionNumbers()
    const equalities = await createEqualityTables(
      connection,
      names.equalities,
      equalDeletes,
      compared,
      partitions,
    )
    if (equalities.length > 0) await createFileTable(connection, names.files, branches, partitions)
    return relationSql({ ...parts, equalities })
  }
  return { view, bytes, relation }
}

/** Makes a table's temporary view on a connection. @throws as tableAtHand */
export async function createRelation(
  connection: DuckDBConnection,
  { view, relation }: TableAtHand,
): Promise<void> {
  const sql = typeof relation === 'string' ? relation : await relation(connection)
  await connection.run(`CREATE TEMP VIEW ${view} AS ${sql}`)
}

function missing(): never {
  throw new Error('a file was not brought')
}
