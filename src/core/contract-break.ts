/** A commit that a contract in force refuses, as the gateway tells it to the contract. */

import type { Column, IntentHead } from './commit.ts'
import type { IdentifiedPrincipal } from './principal.ts'
import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

/** The columns of a table's current schema. */
export interface TableColumns {
  /** Nested ones included, as `schemaColumns` lists them. */
  readonly columns: readonly Column[]
  readonly identifierFieldIds: readonly bigint[]
}

/** What a commit would make of a table, against the version in force. */
export interface ContractBreak {
  readonly contract: string
  readonly number: number
  /** What the document of the version says of itself. */
  readonly version: string
  readonly table: TableRef
  /** Undefined for a table that the commit creates. */
  readonly before: TableColumns | undefined
  readonly after: TableColumns
  /** The session through which the commit came: its subject does not sign what the commit proposes. */
  readonly session: IdentifiedPrincipal['session']
}

/** The commit that a version is proposed for. */
export interface BreakEvidence {
  readonly tenant: TenantId
  readonly intent: Pick<IntentHead, 'commitId' | 'principal' | 'principalSource' | 'requestId' | 'origin'>
}
