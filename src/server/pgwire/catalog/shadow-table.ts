/** Describes a governed table as pg_catalog shows it: empty, with the types that statements see. */

import type { NumericSize, SqlType } from '../../../core/sql-type.ts'
import { elementOf, isArray } from '../../../core/sql-type.ts'
import { limits } from '../../../limits.ts'
import { servedType } from '../../../query/compile/base/types.ts'
import { isShownColumn, isValidIdentifier } from '../../../query/compile/output/shown-columns.ts'
import type { ReadableTable } from '../../../store/governance/readable-tables.ts'

export interface ShadowColumn {
  readonly name: string
  readonly type: SqlType
  readonly size?: NumericSize
  readonly notNull: boolean
  readonly comment?: string
}

export interface ShadowForeignKey {
  readonly columns: readonly string[]
  readonly schemaName: string
  readonly tableName: string
  readonly referencedColumns: readonly string[]
}

export interface ShadowTable {
  readonly schemaName: string
  readonly tableName: string
  readonly columns: readonly ShadowColumn[]
  readonly comment?: string
  readonly primaryKey?: readonly string[]
  /** Only keys whose target table is shown. */
  readonly foreignKeys?: readonly ShadowForeignKey[]
  /** Roles that show more columns to who has one of them. */
  readonly rolesThatShow?: readonly string[]
}

const reservedSchema = /^(?:pg_.*|information_schema)$/

/**
 * A readable table as it is shown.
 * @returns undefined where PostgreSQL cannot hold it: truncated names, reserved schemas, too many columns
 */
export function shadowTable({ ref, columns, doc, rolesThatShow }: ReadableTable): ShadowTable | undefined {
  const schemaName = ref.namespace.join('.')
  if (!isValidIdentifier(schemaName) || !isValidIdentifier(ref.name) || reservedSchema.test(schemaName))
    return undefined
  const shown = columns.filter(isShownColumn).flatMap((column): ShadowColumn[] => {
    const { name, type, required, masked, doc: comment } = column
    const served = servedType(type)
    if (served === undefined) return []
    // A masked column is nullable, because a mask may return NULL.
    return [{ name, ...served, notNull: required && !masked, ...(comment !== undefined && { comment }) }]
  })
  const names = new Set(shown.map(({ name }) => name))
  if (shown.length > limits.catalogColumnsMax || names.size < shown.length) return undefined
  return {
    ...{ schemaName, tableName: ref.name, columns: shown },
    ...(doc !== undefined && { comment: doc }),
    ...(rolesThatShow.length > 0 && { rolesThatShow }),
  }
}

/** The type as SQL text for a column definition. */
export function typeText({ type, size }: Pick<ShadowColumn, 'type' | 'size'>): string {
  if (type === 'unknown') return 'text'
  if (isArray(type)) return `${typeText({ type: elementOf(type), ...(size && { size }) })}[]`
  return type === 'numeric' && size ? `numeric(${size[0]},${size[1]})` : type
}
