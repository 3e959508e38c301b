/**
 * A snapshot's files in groups that one `read_parquet` reads alike: by how their columns are found, and by
 * which deletes may concern them, so that files without deletes pay nothing for those that have some.
 */

import { ReadFailure } from '../../storage/read-failure.ts'
import { notSupported } from '../engine-error.ts'
import type { PlannedFile } from '../iceberg/applicable-deletes.ts'
import type { SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { assertReads, type FileColumn, type FileShape } from './file-shape.ts'
import type { ReadColumn } from './table-columns.ts'

/** A data file on the local disk. */
export interface LocalFile {
  readonly planned: PlannedFile
  readonly path: string
  readonly shape: FileShape
}

export interface Branch {
  /** In an order that `file_index` counts. */
  readonly files: readonly LocalFile[]
  /** By name, where the files hold no field ids: the file's column of each read column that it has. */
  readonly names: ReadonlyMap<ReadColumn, FileColumn> | undefined
  /** Whether rows may be gone by position, in a delete file or a vector. */
  readonly hasPositions: boolean
  readonly hasEquality: boolean
}

/**
 * Groups files, having looked that every column can be read from each.
 * @throws EngineError 0A000, or ReadFailure, where one would be read wrongly
 */
export function branchesOf(
  files: readonly LocalFile[],
  columns: readonly ReadColumn[],
  plan: SnapshotPlan,
): readonly Branch[] {
  const groups = new Map<string, { readonly first: LocalFile; readonly files: LocalFile[] }>()
  const shapeNumbers = new Map<FileShape, number>()
  const checked = new Set<string>()
  for (const file of files) {
    const { planned, shape } = file
    const shapeNumber = shapeNumbers.get(shape) ?? shapeNumbers.size
    shapeNumbers.set(shape, shapeNumber)
    const { entry } = planned
    const check = `${shapeNumber} ${entry.partitionKey}`
    if (!checked.has(check)) {
      checked.add(check)
      assertReadable(file, columns, plan)
    }
    const key = [
      shape.hasFieldIds ? 'ids' : shapeNumber,
      planned.hasPositions || planned.vector !== undefined,
      planned.hasEquality,
    ].join()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { first: file, files: [file] })
    else group.files.push(file)
  }
  return [...groups.values()].map(({ first, files }) => ({
    files,
    names: first.shape.hasFieldIds ? undefined : columnsByName(first.shape, columns, plan),
    hasPositions: first.planned.hasPositions || first.planned.vector !== undefined,
    hasEquality: first.planned.hasEquality,
  }))
}

function assertReadable(
  { planned, shape }: LocalFile,
  columns: readonly ReadColumn[],
  plan: SnapshotPlan,
): void {
  const byName = shape.hasFieldIds ? undefined : columnsByName(shape, columns, plan)
  for (const column of columns) {
    const found = byName === undefined ? columnById(shape, column.field.id) : byName.get(column)
    if (found !== undefined) assertReads(column.field, found)
    else assertMayBeAbsent(column, planned, plan)
  }
}

function columnById({ columns }: FileShape, id: number): FileColumn | undefined {
  const found = columns.filter(({ fieldId }) => fieldId === id)
  if (found.length > 1) throw new ReadFailure('a data file has two columns of one field')
  return found[0]
}

/** Columns are found by name where files have no ids, and then by the table's name mapping alone. */
function columnsByName(
  shape: FileShape,
  columns: readonly ReadColumn[],
  { nameMapping }: SnapshotPlan,
): ReadonlyMap<ReadColumn, FileColumn> {
  if (nameMapping === undefined)
    throw notSupported('A data file without field ids, in a table without a name mapping,')
  // DuckDB takes names that differ in case for one.
  if (new Set(shape.columns.map(({ name }) => name.toLowerCase())).size !== shape.columns.length)
    throw notSupported('A data file whose columns differ in case alone')
  const found = new Map<ReadColumn, FileColumn>()
  for (const column of shape.columns) {
    const id = nameMapping.get(column.name)
    const read = columns.find(({ field }) => field.id === id)
    if (read === undefined) continue
    if (found.has(read)) throw new ReadFailure('a data file has two columns of one field')
    found.set(read, column)
  }
  return found
}

/** A missing column reads as its default, but a partition's value may stand for it (Column Projection). */
function assertMayBeAbsent({ field }: ReadColumn, { entry }: PlannedFile, { specs }: SnapshotPlan): void {
  const spec = specs.get(entry.specId)
  if (spec === undefined) throw new ReadFailure('a partition spec is not in the metadata file')
  const isPartition = spec.some(
    ({ id, sourceId, transform }) =>
      sourceId === field.id && transform === 'identity' && (entry.partition.get(id) ?? null) !== null,
  )
  if (isPartition) throw notSupported('A data file that leaves out a column of its partition')
  if (field.required && field.initialDefault === null)
    throw new ReadFailure('a data file lacks a required column')
}
