/** Opens one table's snapshot in a session: plan, files at hand, deletes, and the relation over them. */

import type { DuckDBConnection } from '@duckdb/node-api'
import type { Storage } from '../../storage/storage.ts'
import type { TableSnapshot } from '../engine.ts'
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

export interface OpenTable {
  /** The name of the temporary view. */
  readonly view: string
  /** Of the data files that the relation reads. */
  readonly bytes: number
}

/**
 * Makes a temporary view of a snapshot.
 * @param number tells the session's tables apart
 * @throws EngineError, ReadFailure or what DuckDB throws, where any row could be missing or wrong
 */
export async function openTable(
  connection: DuckDBConnection,
  { table, ranges }: TableSnapshot,
  plan: SnapshotPlan,
  number: number,
  files: LocalFiles,
  storage: Storage,
  signal: AbortSignal,
): Promise<OpenTable> {
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

  const names = { positions: `p${number}`, files: `m${number}`, equalities: `e${number}_` }
  const localDelete = <E extends DeleteEntry>(entry: E): LocalDelete<E> => ({ entry, ...at(entry) })
  if (branches.some(({ hasPositions }) => hasPositions))
    await createPositionTable(
      connection,
      names.positions,
      branches,
      planned.positions.map(localDelete),
      storage,
      signal,
    )
  const partitions = new PartitionNumbers()
  const equalities = await createEqualityTables(
    connection,
    names.equalities,
    planned.equalities.map((entry) => localDelete<EqualityDelete>(entry)),
    compared,
    partitions,
  )
  if (equalities.length > 0) await createFileTable(connection, names.files, branches, partitions)
  const view = `t${number}`
  const sql = relationSql({ shown, hidden, branches, ...names, equalities })
  await connection.run(`CREATE TEMP VIEW ${view} AS ${sql}`)
  return { view, bytes: wanted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }
}

function missing(): never {
  throw new Error('a file was not brought')
}
