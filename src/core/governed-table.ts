/**
 * A table as the read path receives it: its columns, where an engine finds it, and the row filters and column masks
 * that apply to one principal. The caller fills it from the graph; nothing is read here.
 */

import type { LiftedBy } from './access-grant.ts'
import type { IcebergType } from './iceberg-type.ts'
import type { ColumnMask } from './mask.ts'
import type { PurposeDemand } from './purpose.ts'
import type { Reveal } from './reveal.ts'
import type { TableRef } from './table-ref.ts'

/** Where a policy was attached; shown to stewards only. */
export type PolicyOrigin =
  | { readonly kind: 'table' }
  | { readonly kind: 'column' }
  | { readonly kind: 'tag'; readonly tag: string }

/**
 * Field ids of the columns that a policy's expression named when it was saved. A renamed column stays bound, and
 * another column that takes its name does not become bound.
 */
export type BoundNames = Readonly<Record<string, number>>

export interface AttachedMask extends ColumnMask {
  readonly policyId: string
  readonly origin: PolicyOrigin
  /** Absent for a policy of a tag: its names are looked up in each table. */
  readonly names?: BoundNames
}

export interface RowFilter {
  readonly policyId: string
  readonly origin: PolicyOrigin
  /** A boolean SQL expression in the PostgreSQL dialect over the raw columns (docs/reference/masks-and-filters.md 1.1). */
  readonly expression: string
  /** Field id of the column that it is attached to, directly or by a tag: `this_column` in the expression. */
  readonly fieldId?: number
  /** Absent for a policy of a tag, as in {@link AttachedMask}. */
  readonly names?: BoundNames
}

/** The masks of a field inside a column. */
export interface NestedMasks {
  readonly fieldId: number
  /** At least one. */
  readonly masks: readonly AttachedMask[]
}

export interface GovernedColumn {
  readonly name: string
  readonly fieldId: number
  readonly type: IcebergType
  readonly required: boolean
  /** The column's name in policies without bound names, if another, as in an older schema; null: it has none. */
  readonly policyName?: string | null
  /** All that apply to the principal; the stricter wins, an ambiguous pair refuses. */
  readonly masks: readonly AttachedMask[]
  /** The masks that apply to fields inside it; absent where none does. */
  readonly nestedMasks?: readonly NestedMasks[]
  /** Set where its values are protected in storage and the principal, to whom no mask applies, reads them in clear. */
  readonly reveal?: Reveal
  /** The grants that lifted masks of it, or of fields inside it, for the principal; absent where none did. */
  readonly liftedBy?: readonly LiftedBy[]
}

export interface GovernedTable {
  readonly ref: TableRef
  /** Its name in statements: case-sensitive, as in PostgreSQL's catalog. */
  readonly schemaName: string
  readonly tableName: string
  /** Set where its catalog folds names, so that every spelling in a statement is this table. */
  readonly foldsNames?: true
  /** The physical table's identifier parts in each engine, outermost first. */
  readonly relation: { readonly duckdb?: readonly string[]; readonly trino?: readonly string[] }
  readonly columns: readonly GovernedColumn[]
  /** All that apply to the principal; a row must pass every one, and NULL drops it. */
  readonly rowFilters: readonly RowFilter[]
  /** The grants that lifted row filters for the principal; absent where none did. */
  readonly filtersLiftedBy?: readonly LiftedBy[]
  /** Undefined where the table has no active contract. */
  readonly contract?: { readonly id: string; readonly version: number }
  /** Set where the tenant opted in to reading tables without an active contract. */
  readonly readableWithoutContract?: boolean
  /** What is demanded of the purpose of who reads; absent where nothing. */
  readonly purposeDemands?: readonly PurposeDemand[]
}

/** Whether a mask changes any of a column's values, whole or inside. */
export function isMasked({
  masks,
  nestedMasks = [],
}: Pick<GovernedColumn, 'masks' | 'nestedMasks'>): boolean {
  return masks.length > 0 || nestedMasks.length > 0
}
