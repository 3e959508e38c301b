/** Maps a table's columns to the columns that one run reads: by field id, with an internal alias and a default. */

import type { GovernedTable } from '../../core/governed-table.ts'
import { EngineError, engineCannotRead } from '../engine-error.ts'
import type { SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { isSameType, type TableField } from '../iceberg/table-schema.ts'
import { duckdbType } from './column-type.ts'
import { defaultLiteral } from './default-literal.ts'

export interface ReadColumn {
  readonly field: TableField
  /** The name inside the relation; it does not depend on the table's name for the column. */
  readonly alias: string
  readonly sqlType: string
  /** SQL of the value in files that were written before the column was added. */
  readonly fallback: string
}

/** A column that statements may name. */
export interface ShownColumn extends ReadColumn {
  readonly name: string
}

/**
 * The columns that a statement may name. Columns of unsupported types are left out, because no statement that
 * compiles reads them.
 * @throws EngineError 0A000 where a column has changed since the statement was compiled
 */
export function shownColumns(table: GovernedTable, plan: SnapshotPlan): readonly ShownColumn[] {
  const columns: ShownColumn[] = []
  const names = new Set<string>()
  for (const { name, fieldId, type } of table.columns) {
    if (duckdbType(type) === undefined) continue
    const field = plan.schemas
      .map((schema) => schema.get(fieldId))
      .find((one) => one && isSameType(one.type, type))
    if (field === undefined)
      throw new EngineError('0A000', 'The table has changed since the statement was compiled; run it again.')
    // DuckDB ignores case in column names.
    const folded = name.toLowerCase()
    if (names.has(folded)) throw engineCannotRead('A table with two columns that differ only in case')
    names.add(folded)
    columns.push({ ...readColumn(field), name })
  }
  return columns
}

/**
 * The column that reads a field.
 * @throws EngineError 0A000 where the field's type or default is not supported
 */
export function readColumn(field: TableField): ReadColumn {
  const sqlType = duckdbType(field.type)
  if (sqlType === undefined) throw engineCannotRead('A column of this type')
  return {
    field,
    alias: `f${field.id}`,
    sqlType,
    fallback: defaultLiteral(field.initialDefault, field.type, sqlType),
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
