/** Says which columns PostgreSQL's catalog can show, and their numbers there, which clients compare with results. */

import type { GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import type { IcebergType } from '../../../core/iceberg-type.ts'
import { servedType } from '../base/types.ts'

/** PostgreSQL and its parser truncate longer identifiers, so no statement can name them. */
const nameBytesMax = 63

/** Whether PostgreSQL can hold a name and a statement can use it. */
export function isValidIdentifier(name: string): boolean {
  return name !== '' && name.isWellFormed() && !name.includes('\0') && Buffer.byteLength(name) <= nameBytesMax
}

/** Every PostgreSQL table has these columns, so it cannot declare columns of these names. */
const systemColumns: ReadonlySet<string> = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'])

/** Whether the catalog shows a column: PostgreSQL can hold its name, and its type is served. */
export function isShownColumn({
  name,
  type,
}: {
  readonly name: string
  readonly type: IcebergType
}): boolean {
  return isValidIdentifier(name) && !systemColumns.has(name) && servedType(type) !== undefined
}

const attributes = new WeakMap<GovernedTable, ReadonlyMap<GovernedColumn, number>>()

/** A column's number in pg_attribute; undefined where the catalog does not show it. */
export function attributeOf(table: GovernedTable, column: GovernedColumn): number | undefined {
  const known = attributes.get(table)
  if (known !== undefined) return known.get(column)
  const made = new Map(table.columns.filter(isShownColumn).map((shown, index) => [shown, index + 1]))
  attributes.set(table, made)
  return made.get(column)
}
