/**
 * Reading a snapshot as the system: every row and value, without row filters and masks. Check runs alone use it. They
 * keep numbers and never values, and decide who sees a number. The read path implements it, because statements go
 * through its compiler for every reader.
 */

import { quoteIdentifier } from '../base/sql-text.ts'
import type { IcebergType } from './iceberg-type.ts'
import type { ReadEngineName } from './read-engine.ts'
import type { SqlType } from './sql-type.ts'
import type { TableRef } from './table-ref.ts'
import type { TenantId } from './tenant.ts'

/** A snapshot to read. */
export interface SystemSnapshot {
  readonly tenant: TenantId
  /** Nickname of the catalog credential. */
  readonly catalog: string
  readonly table: TableRef
  /** Undefined: the current one. */
  readonly snapshotId?: bigint | undefined
  /** Undefined: the engine that the credential names. */
  readonly engine?: ReadEngineName | undefined
}

/** A value in text form, as PostgreSQL writes it. */
export type SystemCell = string | boolean | null

export interface SystemRows {
  readonly rows: readonly (readonly SystemCell[])[]
  /** The engine's dialect. */
  readonly engine: string
  /** Bytes of data files before decompression; 0 where the engine does not say. */
  readonly bytes: number
}

export interface SystemColumn {
  readonly name: string
  readonly fieldId: number
  readonly type: IcebergType
}

/** What a statement reads and gives. */
export interface CheckedStatement {
  /** Field ids of the columns that it reads. */
  readonly fieldIds: readonly number[]
  /** Types of its result columns. */
  readonly types: readonly SqlType[]
}

/** A second table beside a snapshot that is open, for statements over both. */
export interface SystemPair {
  /** Of the second table. */
  readonly columns: readonly SystemColumn[]
  /** The second table in FROM, quoted. */
  readonly relation: string
  /** As of a {@link SystemTable}, over both tables. */
  readonly check: (text: string) => void
  readonly run: SystemTable['run']
}

/** A snapshot that is open for statements. It holds no place in an engine between them. */
export interface SystemTable {
  /** Undefined where the table has no snapshot. */
  readonly snapshotId: bigint | undefined
  /** The table's current snapshot. */
  readonly currentSnapshotId: bigint | undefined
  /** When the snapshot was committed, in milliseconds since 1970. */
  readonly committedAtMs: number | undefined
  /** The columns that the statements can name. */
  readonly columns: readonly SystemColumn[]
  /** The table in FROM, quoted. */
  readonly relation: string
  /**
   * Checks a statement without running it: one SELECT in PostgreSQL's dialect, over this table alone.
   * @throws Fault with a SQLSTATE in `members`
   */
  check(text: string): CheckedStatement
  /**
   * Runs a statement.
   * @param rowsMax more rows than these are an error
   * @throws Fault with a SQLSTATE in `members`; its message holds no value
   */
  run(text: string, rowsMax: number, signal: AbortSignal): Promise<SystemRows>
  /**
   * Runs SQL of the engine's own dialect, which the service writes itself. Every result column is text.
   * @param write the SQL, by the name of the table in FROM; the names are c1, c2 and so on
   * @throws as `run`
   */
  runNative(
    write: (relation: string) => { readonly sql: string; readonly names: readonly string[] },
    rowsMax: number,
    signal: AbortSignal,
  ): Promise<SystemRows>
  /**
   * Opens another table of the same catalog beside this one, at the snapshot that it is pinned to, else its current one.
   * @throws Fault with a SQLSTATE in `members` where it cannot be read
   */
  beside(other: TableRef, signal: AbortSignal): Promise<SystemPair>
}

/** A table in FROM of a statement of the system, quoted. */
export function quotedTable({ namespace, name }: TableRef): string {
  return `${quoteIdentifier(namespace.join('.'))}.${quoteIdentifier(name)}`
}

export interface SystemReads {
  /** @throws Fault with a SQLSTATE in `members` where the snapshot cannot be read */
  open(snapshot: SystemSnapshot, signal?: AbortSignal): Promise<SystemTable>
}
