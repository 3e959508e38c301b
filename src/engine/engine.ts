/**
 * The interface of a compute engine: it opens table snapshots and runs one compiled statement over them. It does
 * not apply row filters or masks: the statement has them already.
 */

import type { ColumnRange } from '../core/column-range.ts'
import type { GovernedTable } from '../core/governed-table.ts'
import type { TextScale } from '../core/quotient-scale.ts'
import type { ResultBatch } from '../core/result-batch.ts'
import type { DialectName, NumericSize, SqlType } from '../core/sql-type.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Territory } from '../core/territory.ts'
import type { OutsideFile } from '../storage/territory-guard.ts'
import type { EngineErrorCode } from './engine-error.ts'

/** One column of the result; the engine must deliver exactly this type. */
export interface EngineColumn {
  readonly name: string
  readonly type: SqlType
  readonly size?: NumericSize | undefined
  /** Digits after the point of a numeric that the engine computes as a double. */
  readonly textScale?: TextScale | undefined
}

/** A table that a statement reads, and the snapshot at which it must be read. */
export interface TableSnapshot {
  readonly table: GovernedTable
  /** The metadata file that holds the snapshot. */
  readonly metadataLocation: string
  /** Undefined where the table has no snapshot; it then reads as empty. */
  readonly snapshotId: bigint | undefined
  /** Bounds of the rows that the statement can use, where the compiler found any. */
  readonly ranges?: readonly ColumnRange[] | undefined
  /**
   * Field ids of the nested columns that the statement reads whole, and of the fields that it reads alone. Others of
   * nested types need not be readable.
   */
  readonly nested?: ReadonlySet<number> | undefined
  /** Where the table's files may lie. Undefined: anywhere below the credential's storage roots. */
  readonly territory?: TableTerritory | undefined
}

export interface TableTerritory {
  readonly territory: Territory
  /** Receives the files outside that were read, because the territory is only observed. Never throws. */
  readonly report: (outside: readonly OutsideFile[]) => void
}

/** One execution of a statement: who runs it, and the signal that cancels it. */
export interface EngineRun {
  /** A UUID that the engine's usage and logs carry. */
  readonly queryId: string
  readonly tenant: TenantId
  /** The session user, on engines that have one. */
  readonly principal: string
  /** Cancels queueing, planning and the run. */
  readonly signal: AbortSignal
}

/** A compiled statement; every relation that it reads is open. */
export interface EngineStatement {
  readonly sql: string
  readonly columns: readonly EngineColumn[]
}

/** The cost of a run so far; final once the iteration has ended. */
export interface EngineStats {
  /** Milliseconds in the queue. */
  readonly queueMs: number
  /** Milliseconds from the start to the end. */
  readonly runMs: number
  /** Bytes of data files before decompression; undefined where the engine does not report it. */
  readonly bytesScanned: number | undefined
}

/**
 * The result of a run. It has backpressure: the engine computes at most a bounded number of batches ahead. The
 * iteration ends normally only after every row was delivered; otherwise it throws. Returning early stops the engine.
 */
export interface EngineResult extends AsyncIterable<ResultBatch> {
  stats(): EngineStats
}

/** Tables that are open for one statement. */
export interface OpenTables {
  /** The SQL by which a statement names the table in FROM. */
  relation(table: GovernedTable): string
  /**
   * Whether the relation removes deleted rows that the table's files still hold. The statement must then not fail
   * on those rows. False where the engine guarantees that itself.
   */
  hasDeletes(table: GovernedTable): boolean
}

/** One statement's hold on an engine; `close` frees the snapshots and the place. */
export interface EngineHandle extends OpenTables {
  /** @throws EngineError while iterating, never at the call */
  run(statement: EngineStatement): EngineResult
  close(): Promise<void>
}

/** How a run ended: with all of its rows, or with an error. */
export type Ending = 'whole' | EngineErrorCode

/** A failed statement that is run again over copies of the rows that its reader may see. */
export interface CopiedStatement {
  readonly tables: readonly TableSnapshot[]
  readonly run: EngineRun
  /** The error with which the statement failed. */
  readonly failed: EngineErrorCode
  /** Whether filters or masks hide data from the reader. Row deletes may hide rows even where it is false. */
  readonly hides: boolean
  readonly columns: readonly EngineColumn[]
  /** Limits of all copies together. */
  readonly rowsMax: number
  readonly bytesMax: number
  /** The statement's SQL over the tables. */
  write(opened: OpenTables): string
  /**
   * @param copy the SQL name of a copy, by its id
   * @returns the SELECT of each copy by its id, and the statement, which reads only copies
   */
  writeCopied(
    opened: OpenTables,
    copy: (id: string) => string,
  ): { readonly copies: ReadonlyMap<string, string>; readonly sql: string }
}

/**
 * The outcome of a run on copies. `same`: the statement fails in the same way on copies. `different`: it fails on
 * the tables and ends as `copied` on copies. `unsteady`: it no longer fails in that way on the tables. `busy`: no
 * place was free, or another statement needed it.
 */
export type CopiedRun =
  | { readonly outcome: 'same' | 'unsteady' | 'nothing_hidden' | 'busy' | 'too_large' }
  | { readonly outcome: 'different'; readonly copied: Ending }

export interface ComputeEngine {
  readonly dialect: DialectName
  /**
   * Opens the snapshots for one statement; waits for a place where the engine is full.
   * @throws EngineError where a snapshot cannot be read completely, the queue is full or `signal` fires
   */
  open(tables: readonly TableSnapshot[], run: EngineRun): Promise<EngineHandle>
  /**
   * Runs a failed statement on copies. It never waits for a place, and gives its place up for a statement that waits.
   * Absent where the engine makes no copies.
   * @throws EngineError where the outcome cannot be found out, also because the run was cancelled
   */
  runOnCopies?(statement: CopiedStatement): Promise<CopiedRun>
  close(): Promise<void>
}
