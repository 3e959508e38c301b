/** Fetches the files of one table's snapshot and writes the relation that reads them. */

import type { DuckDBConnection } from '@duckdb/node-api'
import { mapInTurns } from '../../base/in-turns.ts'
import { applicableDeletes, type EqualityDelete } from '../../storage/iceberg/deletes.ts'
import type { DeleteEntry, FileEntry } from '../../storage/iceberg/files.ts'
import type { Storage } from '../../storage/storage.ts'
import type { TableSnapshot } from '../engine.ts'
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
import { duckdbRelationSql } from './relation-sql.ts'
import { shownColumns } from './table-columns.ts'

/** A table whose files are on the local disk. */
export interface LocalTable {
  /** The name of the temporary view. */
  readonly view: string
  /** Size of the data files that the relation reads. */
  readonly bytes: number
  /** The view's SQL. A function where delete tables must first be created on the connection. */
  readonly relation: string | ((connection: DuckDBConnection) => Promise<string>)
}

/**
 * Fetches a snapshot's files and writes its relation.
 * @param number unique among the statement's tables
 * @throws EngineError, ReadFailure or an error of DuckDB where any row could be missing or wrong
 */
export async function localTable(
  { table, ranges, nested }: TableSnapshot,
  plan: SnapshotPlan,
  number: number,
  files: LocalFiles,
  storage: Storage,
  signal: AbortSignal,
): Promise<LocalTable> {
  const shown = shownColumns(table, plan, nested)
  const wanted = await prunedFiles(plan, ranges ?? [], signal)
  const planned = await applicableDeletes(plan, wanted, signal)
  const compared = equalityColumns(plan, planned.equalities)
  const shownIds = new Set(shown.map(({ field }) => field.id))
  const hidden = [...compared.values()].filter(({ field }) => !shownIds.has(field.id))

  const deletes = [...planned.positions, ...planned.equalities]
  const local = await files.bring([...wanted, ...deletes], signal)
  const at = (entry: FileEntry) => local.get(entry.location) ?? missing()
  const data = await mapInTurns(
    planned.files,
    signal,
    (file): LocalFile => ({ planned: file, ...at(file.entry) }),
  )
  const branches = await branchesOf(data, [...shown, ...hidden], plan, signal)

  const view = `t${number}`
  const bytes = wanted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const names = { positions: `p${number}`, files: `m${number}`, equalities: `e${number}_` }
  const parts = { shown, hidden, branches, ...names }
  const hasPositions = branches.some((branch) => branch.hasPositions)
  if (!hasPositions && planned.equalities.length === 0)
    return { view, bytes, relation: await duckdbRelationSql({ ...parts, equalities: [] }, signal) }

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
    return await duckdbRelationSql({ ...parts, equalities }, signal)
  }
  return { view, bytes, relation }
}

/** Creates a table's temporary view on a connection. @throws as localTable */
export async function createRelation(
  connection: DuckDBConnection,
  { view, relation }: LocalTable,
): Promise<void> {
  const sql = typeof relation === 'string' ? relation : await relation(connection)
  await connection.run(`CREATE TEMP VIEW ${view} AS ${sql}`)
}

function missing(): never {
  throw new Error('a file was not fetched')
}
