/**
 * What one query of the read path did (docs/reference/read-path.md 5.4): no value, no literal, no text of the
 * statement.
 */

import type { TableRef } from './table-ref.ts'

export const usageOutcomes = ['completed', 'refused', 'failed', 'cancelled'] as const
export type UsageOutcome = (typeof usageOutcomes)[number]

/** One table that a query read; of a refused query, one that it names. */
export interface TableUsage extends TableRef {
  readonly columns: readonly string[]
  /** Decimal; absent where the table had no snapshot, or none was chosen. */
  readonly snapshot_id?: string
  readonly pinned?: boolean
}

export interface PolicyUsage {
  readonly id: string
  readonly kind: 'row_filter' | 'column_mask'
  readonly table: TableRef
  readonly column?: string
  readonly action?: string
}

export interface UsageRecord {
  readonly queryId: string
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  readonly principal: string
  /** The step that gave the principal (docs/reference/identity.md 3.1). */
  readonly principalSource: string
  readonly surface: string
  /** Nickname of the catalog credential; undefined where there is none of that name. */
  readonly catalog: string | undefined
  /** The engine's dialect; undefined where the query ended before one was chosen. */
  readonly engine: string | undefined
  readonly contracts: readonly { readonly id: string; readonly version: number }[]
  readonly reads: readonly TableUsage[]
  readonly policies: readonly PolicyUsage[]
  /** What the surface took, whether or not it got to the client. */
  readonly rowsOut: number
  /** Of the values in memory, text as one byte a UTF-16 unit. */
  readonly bytesOut: number
  /** Of data files; undefined where the engine does not tell. */
  readonly bytesScanned: number | undefined
  readonly queueMs: number
  readonly planMs: number
  readonly runMs: number
  readonly outcome: UsageOutcome
  /** Undefined where it completed. */
  readonly sqlState: string | undefined
  /** Of the statement without its literals; undefined for text that is no statement. */
  readonly fingerprint: string | undefined
}
