/**
 * The record of one query of the read path (docs/reference/read-path.md 5.4). It holds no value, no literal and no text
 * of the statement.
 */

import type { RawReadKind, RawReadProtection } from './raw-read.ts'
import type { TableRef } from './table-ref.ts'

export const usageOutcomes = ['completed', 'refused', 'failed', 'cancelled'] as const
export type UsageOutcome = (typeof usageOutcomes)[number]

/** One table that a query read; for a refused query, one that it names. */
interface TableUsage extends TableRef {
  readonly columns: readonly string[]
  /** Decimal; absent where the table had no snapshot, or none was chosen. */
  readonly snapshot_id?: string
  readonly pinned?: boolean
}

/** `reveal`: the values of a protected column were given in clear. `grant`: access that was granted for a time. */
export const protectionKinds = ['row_filter', 'column_mask', 'reveal', 'grant'] as const
export type ProtectionKind = (typeof protectionKinds)[number]

export interface PolicyUsage {
  readonly id: string
  readonly kind: ProtectionKind
  readonly table: TableRef
  readonly column?: string
  readonly action?: string
  /** Of a grant. */
  readonly purpose?: string
}

/** What governed the rows of a query: the contracts of its tables, the snapshots, and the policies that applied. */
export interface AppliedGovernance {
  readonly contracts: readonly { readonly id: string; readonly version: number }[]
  readonly reads: readonly TableUsage[]
  readonly policies: readonly PolicyUsage[]
}

export interface UsageRecord extends AppliedGovernance {
  readonly queryId: string
  /** Milliseconds since the Unix epoch. */
  readonly startedAtMs: number
  readonly principal: string
  /** The step that gave the principal (docs/reference/identity.md 3.1). */
  readonly principalSource: string
  readonly surface: string
  /** Nickname of the catalog credential; undefined where none has that name. */
  readonly catalog: string | undefined
  /** The engine's dialect; undefined where the query ended before one was chosen. */
  readonly engine: string | undefined
  /** Rows that the surface received from the engine, whether or not they reached the client. */
  readonly rowsOut: number
  /** Size of the values in memory; text has one byte a UTF-16 unit. */
  readonly bytesOut: number
  /** Bytes of data files; undefined where the engine does not report them. */
  readonly bytesScanned: number | undefined
  readonly queueMs: number
  readonly planMs: number
  readonly runMs: number
  readonly outcome: UsageOutcome
  /** Undefined where it completed. */
  readonly sqlState: string | undefined
  /** Fingerprint of the statement without its literals; undefined for text that is no statement. */
  readonly fingerprint: string | undefined
  /** The tool by which an agent asked, and what its client calls itself: text by a stranger, 64 characters at most. */
  readonly tool?: string
  readonly client?: string
  /** The purpose that the session named; those of grants are among the policies. */
  readonly statedPurpose?: string
  /** Of a record of the surface `iceberg`: what was given, to which session, how often, and until when. */
  readonly raw?: {
    readonly sessionId: string | undefined
    readonly given: RawReadKind
    readonly times: number
    readonly lastAtMs: number
    readonly protection: RawReadProtection
  }
}
