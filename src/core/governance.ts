/**
 * The graph's record of reading one table, the same for each principal: contract, pin, columns, tags, row filters and
 * column masks. `seen-table.ts` tells the part that a principal sees; the store fills it.
 */

import type { StoredGrant } from './access-grant.ts'
import type { AttachedMask, BoundNames, PolicyOrigin } from './governed-table.ts'
import type { IcebergType } from './iceberg-type.ts'
import type { PurposeDemand } from './purpose.ts'
import type { RevealRule } from './reveal.ts'
import type { TableRef } from './table-ref.ts'

/** A row filter or column mask. */
export interface StoredProtection {
  readonly policyId: string
  /** It does not apply to a principal with one of these roles. */
  readonly exemptRoles: readonly string[]
  readonly names?: BoundNames
}

export interface StoredRowFilter extends StoredProtection {
  readonly expression: string
  readonly origin: PolicyOrigin
  /** Field id of the column to which it is attached, directly or by a tag. */
  readonly fieldId?: number
}

export interface StoredMask extends StoredProtection, Pick<AttachedMask, 'action' | 'expression'> {
  readonly origin: PolicyOrigin
}

export interface StoredColumn {
  /** Its id in the graph. */
  readonly id: string
  readonly fieldId: number
  /** Nested names joined by dots. */
  readonly name: string
  readonly type: IcebergType
  readonly required: boolean
  /** False for a dropped column, which is in older snapshots only. */
  readonly current: boolean
  /** Set for an identifier field of the table's schema; absent also where the last commit is older than this property. */
  readonly isIdentifier?: true
  readonly tags: readonly string[]
  readonly masks: readonly StoredMask[]
  /** From the table's metadata, where it is in the graph. */
  readonly doc?: string
  /** Its place in the schema, nested fields counted; absent where the last commit is older than this property. */
  readonly place?: number
}

/** A snapshot to which a table is pinned. */
export interface Pin {
  readonly snapshotId: bigint
  /** The schema with which the snapshot is read. */
  readonly schemaId: bigint
}

export interface Governance {
  readonly ref: TableRef
  /** As the last recorded commit said it, in lower case; absent where none did. */
  readonly tableUuid?: string
  readonly contract: { readonly id: string; readonly version: number } | undefined
  /** Undefined where the table is not pinned. */
  readonly pin: Pin | undefined
  /** What the contract demands of the purpose of who reads, and those of the tables whose files it shares; absent where nothing. */
  readonly purposeDemands?: readonly PurposeDemand[]
  /** Whether the tenant opted in to reading tables without an active contract. */
  readonly readableWithoutContract: boolean
  /** With those of the tables whose files it shares, where it is a clone; so are the columns' masks. */
  readonly rowFilters: readonly StoredRowFilter[]
  /** The table's own, which its columns inherit. */
  readonly tags: readonly string[]
  readonly columns: readonly StoredColumn[]
  readonly isClone?: true
  /** Who reads the values of protected columns in clear; a clone does not inherit it. Absent where nobody does. */
  readonly reveals?: readonly StoredReveal[]
  /** Grants on this table that nobody has ended, of any time; a clone does not inherit them. Absent where there is none. */
  readonly grants?: readonly StoredGrant[]
}

/** A reveal rule, with the version that its scope has now. */
export interface StoredReveal extends RevealRule {
  readonly fieldId: number
  readonly version: number
}
