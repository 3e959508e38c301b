/**
 * Groups a snapshot's files so that one `read_parquet` can read each group: by how columns are found, and by which
 * deletes may apply. Files without deletes therefore pay nothing for those that have some.
 */

import { eachInTurns } from '../../base/in-turns.ts'
import type { PlannedFile } from '../../storage/iceberg/deletes.ts'
import { ReadFailure } from '../../storage/read-failure.ts'
import { engineCannotRead } from '../engine-error.ts'
import type { SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { assertReads, type FileColumn, type FileShape, hasTypeOf } from './file-shape.ts'
import { fieldValue, nestedValue } from './nested-value.ts'
import type { ReadColumn } from './table-columns.ts'

/** A data file on the local disk. */
export interface LocalFile {
  readonly planned: PlannedFile
  readonly path: string
  readonly shape: FileShape
}

export interface Branch {
  /** In the order of `file_index`. */
  readonly files: readonly LocalFile[]
  /**
   * The file column of each read column, by its alias, where files are read by name: they have no field ids, or all have the same
   * shape and the very types that are read, which is faster than reading by id, or nested columns are read.
   */
  readonly names: ReadonlyMap<ReadColumn['alias'], FileColumn> | undefined
  /** Whether position delete files or deletion vectors may apply. */
  readonly hasPositions: boolean
  readonly hasEquality: boolean
}

/**
 * Groups files after checking that every column can be read from each.
 * @throws EngineError 0A000 or ReadFailure where a column would be read wrongly
 */
export async function branchesOf(
  files: readonly LocalFile[],
  columns: readonly ReadColumn[],
  plan: SnapshotPlan,
  signal: AbortSignal,
): Promise<readonly Branch[]> {
  const isByShape = columns.some(({ path }) => path !== undefined)
  const groups = new Map<string, Group>()
  const shapeNumbers = new Map<FileShape, number>()
  const checked = new Set<string>()
  await eachInTurns(files, signal, (file) => {
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
      shape.hasFieldIds && !isByShape ? 'ids' : shapeNumber,
      planned.hasPositions || planned.vector !== undefined,
      planned.hasEquality,
    ].join()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { first: file, files: [file], shapes: new Set([shape]) })
    else {
      group.files.push(file)
      group.shapes.add(shape)
    }
  })
  return [...groups.values()].map((group) => branchOf(group, columns, plan))
}

interface Group {
  readonly first: LocalFile
  readonly files: LocalFile[]
  readonly shapes: Set<FileShape>
}

function branchOf(
  { first: { planned, shape }, files, shapes }: Group,
  columns: readonly ReadColumn[],
  plan: SnapshotPlan,
): Branch {
  const hasPositions = planned.hasPositions || planned.vector !== undefined
  const { hasEquality } = planned
  if (!shape.hasFieldIds) {
    const names = columnsByName(shape, columns, plan)
    if (hasPositions || hasEquality) assertNoPositionNames(shape)
    return { files, names, hasPositions, hasEquality }
  }
  if (columns.some(({ path }) => path !== undefined)) {
    if (!hasDistinctNames(shape))
      throw engineCannotRead('A data file with two columns that differ only in case')
    if (hasPositions || hasEquality) assertNoPositionNames(shape)
    return { files, names: columnsById(shape, columns), hasPositions, hasEquality }
  }
  const isPlain = shapes.size === 1 && !hasPositions && !hasEquality
  return { files, names: isPlain ? columnsAlike(shape, columns) : undefined, hasPositions, hasEquality }
}

/** The columns that a file of one shape has. */
function columnsById(shape: FileShape, columns: readonly ReadColumn[]): ReadonlyMap<string, FileColumn> {
  return new Map(
    columns.flatMap((column) => {
      const held = columnById(shape, column.field.id)
      return held === undefined ? [] : [[column.alias, held] as const]
    }),
  )
}

/** Undefined where a column is missing, needs a conversion or has an ambiguous name. */
function columnsAlike(
  shape: FileShape,
  columns: readonly ReadColumn[],
): ReadonlyMap<string, FileColumn> | undefined {
  if (!hasDistinctNames(shape) || shape.columns.some(({ type }) => type === undefined)) return undefined
  const found = new Map<string, FileColumn>()
  for (const column of columns) {
    const held = columnById(shape, column.field.id)
    if (held === undefined || !hasTypeOf(column.field, held)) return undefined
    found.set(column.alias, held)
  }
  return found
}

/** DuckDB ignores case in column names. */
function hasDistinctNames({ columns }: FileShape): boolean {
  return new Set(columns.map(({ name }) => name.toLowerCase())).size === columns.length
}

/** Deletes find rows by DuckDB's columns of these names; a file's columns of the same name would hide them. */
function assertNoPositionNames({ columns }: FileShape): void {
  if (columns.some(({ name }) => /^(file_index|file_row_number)$/i.test(name)))
    throw engineCannotRead(
      'A data file with deletes, read by names, and with a column file_index or file_row_number',
    )
}

function assertReadable(
  { planned, shape }: LocalFile,
  columns: readonly ReadColumn[],
  plan: SnapshotPlan,
): void {
  const byName = shape.hasFieldIds ? undefined : columnsByName(shape, columns, plan)
  for (const column of columns) {
    const found = byName === undefined ? columnById(shape, column.field.id) : byName.get(column.alias)
    if (found !== undefined && column.path !== undefined) assertReadsNested(column, found)
    else if (found !== undefined) assertReads(column.field, found)
    else assertMayBeAbsent(column, planned, plan)
  }
}

function assertReadsNested({ field, path = [] }: ReadColumn, { node }: FileColumn): void {
  if (path.length === 0) nestedValue(field.type, node, '')
  else fieldValue(path, node, '')
}

function columnById({ columns }: FileShape, id: number): FileColumn | undefined {
  const found = columns.filter(({ fieldId }) => fieldId === id)
  if (found.length > 1) throw new ReadFailure('a data file has two columns of one field')
  return found[0]
}

/** Finds columns of a file without field ids, only by the table's name mapping. */
function columnsByName(
  shape: FileShape,
  columns: readonly ReadColumn[],
  { nameMapping }: SnapshotPlan,
): ReadonlyMap<string, FileColumn> {
  if (nameMapping === undefined)
    throw engineCannotRead('A data file without field ids, in a table without a name mapping,')
  if (!hasDistinctNames(shape))
    throw engineCannotRead('A data file with two columns that differ only in case')
  const found = new Map<string, FileColumn>()
  for (const column of shape.columns) {
    const id = nameMapping.get(column.name)
    for (const read of columns.filter(({ field }) => field.id === id)) {
      if (found.has(read.alias)) throw new ReadFailure('a data file has two columns of one field')
      found.set(read.alias, column)
    }
  }
  return found
}

/** A missing column reads as its default, unless a partition value replaces it (Column Projection). */
function assertMayBeAbsent({ field }: ReadColumn, { entry }: PlannedFile, { specs }: SnapshotPlan): void {
  const spec = specs.get(entry.specId)
  if (spec === undefined) throw new ReadFailure('a partition spec is not in the metadata file')
  const isPartition = spec.some(
    ({ id, sourceId, transform }) =>
      sourceId === field.id && transform === 'identity' && (entry.partition.get(id) ?? null) !== null,
  )
  if (isPartition) throw engineCannotRead('A data file without a column of its partition')
  if (field.required && field.initialDefault === null)
    throw new ReadFailure('a data file lacks a required column')
}
