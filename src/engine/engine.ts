/**
 * What every compute engine offers the read path: it names the snapshot of a table for its own SQL, and runs
 * one compiled statement. It knows nothing of policies: what it is given is protected already.
 */

import type { GovernedTable } from '../core/governed-table.ts'
import type { ResultBatch } from '../core/result-batch.ts'
import type { DialectName, NumericSize, SqlType } from '../core/sql-type.ts'
import type { TenantId } from '../core/tenant.ts'
import type { EngineErrorCode } from './engine-error.ts'

/** One column that a run must deliver, exactly. */
export interface EngineColumn {
  readonly name: string
  readonly type: SqlType
  readonly size?: NumericSize | undefined
}

/** A table that a statement reads, at the snapshot that it must be read at. */
export interface TableSnapshot {
  readonly table: GovernedTable
  /** The metadata file that holds the snapshot. */
  readonly metadataLocation: string
  /** Undefined where the table has no snapshot: it reads as empty. */
  readonly snapshotId: bigint | undefined
  /** What the statement can use of the table at most, where that is known. */
  readonly ranges?: readonly ColumnRange[] | undefined
}

/**
 * Values of a column among which every row of use lies: for leaving out files, never for dropping rows. NULL
 * is of no use.
 */
export interface ColumnRange {
  readonly fieldId: number
  /** Inclusive; undefined where there is no bound. */
  readonly lower: RangeBound | undefined
  readonly upper: RangeBound | undefined
}

/** Integers, also days, and micros of `time`, `timestamp` and `timestamptz`, as bigints; texts as they are. */
export type RangeBound = bigint | string | boolean

export interface EngineRun {
  /** In the engine's usage and logs; a UUID. */
  readonly queryId: string
  readonly tenant: TenantId
  /** The session user where the engine has one. */
  readonly principal: string
  /** Ends queueing, planning and the run alike. */
  readonly signal: AbortSignal
}

/** A statement that is prepared for one run: every relation it reads is open. */
export interface EngineStatement {
  readonly sql: string
  readonly columns: readonly EngineColumn[]
}

/** What a run cost, as far as it is known; whole once the batches have ended. */
export interface EngineStats {
  /** Milliseconds before the engine began. */
  readonly queueMs: number
  /** Milliseconds from then to the end. */
  readonly runMs: number
  /** Of data files, before decompression, where the engine tells. */
  readonly bytesScanned: number | undefined
}

/**
 * The result of a run. The iteration pulls: an engine whose consumer does not ask computes no further than a
 * bounded number of batches. It ends normally only when every row was delivered; a run that was cut short
 * throws. Returning early stops the engine.
 */
export interface EngineResult extends AsyncIterable<ResultBatch> {
  stats(): EngineStats
}

/** Tables that are open for one statement. */
export interface OpenTables {
  /** How the emitted SQL names a table: a relation's SQL, to be used once per mention. */
  relation(table: GovernedTable): string
  /**
   * Whether the relation drops rows that the table's files still hold: what the statement does to such a table must
   * not fail on them. False where the engine sees to that itself.
   */
  hasDeletes(table: GovernedTable): boolean
}

/** One open engine session for one statement; `close` frees the snapshots and the engine's place. */
export interface EngineSession extends OpenTables {
  /** @throws EngineError on a pull, never at the call: see engine-error.ts for what it may say */
  run(statement: EngineStatement): EngineResult
  close(): Promise<void>
}

/** How a run ended: with all of its rows, or by an error. */
export type Ending = 'whole' | EngineErrorCode

/** A statement that failed, to be run once more over copies of what its reader sees. */
export interface CopiedStatement {
  readonly tables: readonly TableSnapshot[]
  readonly run: EngineRun
  /** By which the statement failed. */
  readonly failed: EngineErrorCode
  /** Whether filters or masks keep something from its reader; where they do not, row deletes alone might. */
  readonly hides: boolean
  readonly columns: readonly EngineColumn[]
  /** Of all copies together. */
  readonly rowsMax: number
  readonly bytesMax: number
  write(opened: OpenTables): string
  /**
   * @param copy how the SQL names a copy, by its id
   * @returns the SELECT of each copy by its id, and the statement, which reads nothing but copies
   */
  writeCopied(
    opened: OpenTables,
    copy: (id: string) => string,
  ): { readonly copies: ReadonlyMap<string, string>; readonly sql: string }
}

/**
 * What came of it. `unsteady`: the statement itself does not fail so any more. `different`: it fails over its tables,
 * and over copies of what its reader sees it ends as `copied` says. `busy`: there was no place that nobody wants.
 */
export type CopiedRun =
  | { readonly outcome: 'same' | 'unsteady' | 'nothing_hidden' | 'busy' | 'too_large' }
  | { readonly outcome: 'different'; readonly copied: Ending }

export interface Engine {
  readonly dialect: DialectName
  /**
   * Opens the snapshots for one statement, waiting for a place where the engine is full.
   * @throws EngineError where a snapshot cannot be read whole, the queue is full or `signal` fires
   */
  open(tables: readonly TableSnapshot[], run: EngineRun): Promise<EngineSession>
  /**
   * Never waits for a place, and gives its own up for a statement that waits. Absent where the engine makes no copies.
   * @throws EngineError where it could not be told, the run's end included
   */
  runOnCopies?(statement: CopiedStatement): Promise<CopiedRun>
  close(): Promise<void>
}
