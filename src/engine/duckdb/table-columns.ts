/** A table's columns as one run reads them: by field id, under names of ours, with their defaults. */

import type { GovernedTable } from '../../core/governed-table.ts'
import { EngineError, notSupported } from '../engine-error.ts'
import type { SnapshotPlan } from '../iceberg/snapshot-plan.ts'
import { isSameType, type TableField } from '../iceberg/table-schema.ts'
import { duckdbType } from './column-type.ts'
import { defaultLiteral } from './default-literal.ts'

export interface ReadColumn {
  readonly field: TableField
  /** The name inside the engine; of our own, whatever the table calls it. */
  readonly alias: string
  readonly sqlType: string
  /** SQL of the value in files that were written before the column was added. */
  readonly fallback: string
}

/** A column that statements name. */
export interface ShownColumn extends ReadColumn {
  readonly name: string
}

/**
 * The columns that a statement may name. Those of types that are not served have no place here: nothing that
 * compiles reads them.
 * @throws EngineError 0A000 where a column is no longer what the statement was compiled for
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
    // DuckDB takes names that differ in case for one.
    const folded = name.toLowerCase()
    if (names.has(folded)) throw notSupported('A table whose columns differ in case alone')
    names.add(folded)
    columns.push({ ...readColumn(field), name })
  }
  return columns
}

/**
 * A field as it is read, shown or not.
 * @throws EngineError 0A000 where its type or default is not one that is read
 */
export function readColumn(field: TableField): ReadColumn {
  const sqlType = duckdbType(field.type)
  if (sqlType === undefined) throw notSupported('A column of such a type')
  return {
    field,
    alias: `f${field.id}`,
    sqlType,
    fallback: defaultLiteral(field.initialDefault, field.type, sqlType),
  }
}

/** The `schema` argument of read_parquet for these columns. */
export function schemaArgument(columns: readonly ReadColumn[]): string {
  const entries = columns.map(
    ({ field, alias, sqlType, fallback }) =>
      `${field.id}: {name: '${alias}', type: '${sqlType}', default_value: CAST(${fallback} AS VARCHAR)}`,
  )
  return `MAP {${entries.join(', ')}}`
}
