/** Maps a table's columns to the columns that one run reads: by field id, with an internal alias and a default. */

import type { GovernedTable } from '../../core/governed-table.ts'
import { fieldsIn, type IcebergType, type NestedField } from '../../core/iceberg-type.ts'
import { EngineError, engineCannotRead } from '../engine-error.ts'
import type { SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { isSameType, type TableField } from '../iceberg/table-schema.ts'
import { defaultLiteral } from './default-literal.ts'
import { nestedType } from './nested-value.ts'

export interface ReadColumn {
  readonly field: TableField
  /** The name inside the relation; it does not depend on the table's name for the column. */
  readonly alias: string
  readonly sqlType: string
  /** SQL of the value in files that were written before the column was added. */
  readonly fallback: string
  /** Set for a nested column, and for a field of one: the way from the column to the field. */
  readonly path?: readonly NestedField[]
}

/** A column that statements may name. */
export interface ShownColumn extends ReadColumn {
  readonly name: string
}

/**
 * The columns that a statement may name. Columns of unsupported types are left out, because no statement that
 * compiles reads them, and so are nested ones that it does not read.
 * @param nested see `TableSnapshot`
 * @throws EngineError 0A000 where a column has changed since the statement was compiled
 */
export function shownColumns(
  table: GovernedTable,
  plan: SnapshotPlan,
  nested: ReadonlySet<number> = new Set(),
): readonly ShownColumn[] {
  const columns: ShownColumn[] = []
  const names = new Set<string>()
  for (const { name, fieldId, type } of table.columns) {
    const isRead = nested.has(fieldId)
    const paths = nested.size > 0 && isNested(type) ? pathsIn(type, nested) : []
    if (nestedType(type) === undefined || (isNested(type) && !isRead && paths.length === 0)) continue
    if (name.startsWith(fieldPrefix)) throw engineCannotRead('A table with a column of this name')
    const field = plan.schemas
      .map((schema) => schema.get(fieldId))
      .find((one) => one && isSameType(one.type, type))
    if (field === undefined)
      throw new EngineError('0A000', 'The table has changed since the statement was compiled; run it again.')
    // DuckDB ignores case in column names.
    const folded = name.toLowerCase()
    if (names.has(folded)) throw engineCannotRead('A table with two columns that differ only in case')
    names.add(folded)
    if (isRead || !isNested(type)) columns.push({ ...readColumn(field), name })
    for (const path of paths) columns.push(fieldColumn(field, path))
  }
  return columns
}

/**
 * The column that reads a field.
 * @throws EngineError 0A000 where the field's type or default is not supported
 */
export function readColumn(field: TableField): ReadColumn {
  const sqlType = nestedType(field.type)
  if (sqlType === undefined) throw engineCannotRead('A column of this type')
  return {
    ...(isNested(field.type) && { path: [] }),
    field,
    alias: `f${field.id}`,
    sqlType,
    fallback: defaultLiteral(field.initialDefault, field.type, sqlType),
  }
}

/** Whether a column is read file by file, because DuckDB finds nested fields by name. */
export function isNested(type: IcebergType): boolean {
  return typeof type !== 'string' && (type.type !== 'list' || typeof type.element !== 'string')
}

/** The ways to the fields that are read alone, through structs. */
function pathsIn(type: IcebergType, wanted: ReadonlySet<number>): readonly (readonly NestedField[])[] {
  if (typeof type === 'string' || type.type !== 'struct') return []
  return fieldsIn(type).flatMap((field) => [
    ...(wanted.has(field.fieldId) ? [[field]] : []),
    ...pathsIn(field.type, wanted).map((path) => [field, ...path]),
  ])
}

/** The first character of the name under which a field is read alone, before its id. */
const fieldPrefix = '\u0001'

function fieldColumn(field: TableField, path: readonly NestedField[]): ShownColumn {
  const last = path.at(-1)
  const sqlType = last && nestedType(last.type)
  if (last === undefined || sqlType === undefined) throw engineCannotRead('A column of this type')
  if (field.initialDefault !== null) throw engineCannotRead('A column with a default of this type')
  return {
    ...{ field, alias: `f${last.fieldId}`, sqlType, path, name: `${fieldPrefix}${last.fieldId}` },
    fallback: `CAST(NULL AS ${sqlType})`,
  }
}

/** The `schema` argument of `read_parquet` for these columns. */
export function schemaArgument(columns: readonly ReadColumn[]): string {
  const entries = columns.map(
    ({ field, alias, sqlType, fallback }) =>
      `${field.id}: {name: '${alias}', type: '${sqlType}', default_value: CAST(${fallback} AS VARCHAR)}`,
  )
  return `MAP {${entries.join(', ')}}`
}
