/** The interface that every read surface calls to prepare and run statements, so that none can skip protection. */

import type { SelectStmt } from 'libpg-query'
import type { ReadCredential } from '../auth/read-credential.ts'
import type { Principal } from '../core/principal.ts'
import type { ResultBatch } from '../core/result-batch.ts'
import type { SqlType } from '../core/sql-type.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { AppliedGovernance } from '../core/usage.ts'
import type { ResultColumn } from './compile/compile.ts'
import type { ShownOrigin } from './compile/output/output-origins.ts'
import type { AppliedProtection } from './compile/protect/protect.ts'

export type ReadSurface = 'pgwire' | 'xmla' | 'graphql' | 'mcp' | 'rest'

/** The part of a read session (server/read-session.ts) that an open run checks again. */
export type Reader = Pick<ReadCredential, 'stillValid' | 'sessionToCheck' | 'expiresAtMs'>

/** The principal, the catalog and the settings of a connection or a request. */
export interface QueryContext {
  readonly tenant: TenantId
  /** The principal of a verified credential. */
  readonly principal: Principal
  /** Who asked, where the statement runs as another principal: records name this one. */
  readonly recordedAs?: Principal
  /** The step that gave the principal (docs/reference/identity.md 3.1). */
  readonly principalSource: string
  /** Checked again while a run is open. */
  readonly reader: Reader
  readonly surface: ReadSurface
  /** What the usage record names besides the surface. */
  readonly agent?: { readonly tool: string; readonly client?: string }
  /** Nickname of the catalog credential: the database that the client named. */
  readonly catalog: string
  /** Schemas that an unqualified name is looked for in, in order. */
  readonly searchPath: readonly string[]
  /** The purpose that the session named, which a contract may demand; undefined for none. */
  readonly purpose?: string | undefined
  /** The name of the session's time zone; undefined is UTC. */
  readonly timeZone?: string | undefined
  /** Whether to refuse a statement that a row filter applies to, as PostgreSQL does where `row_security` is off. */
  readonly refusesFilters?: boolean
  /** Whether the service wrote the statement itself, from a request for metrics (metrics/request.ts). */
  readonly generated?: boolean
}

/**
 * A statement: its text, or its tree where the service wrote it from a request for metrics. A tree may name metric
 * relations, which are written out like those of a text, and is checked and protected like one.
 */
export type StatementSource = string | SelectStmt

/** A statement that compiles for a context. A run compiles it again if the governance of its tables changed. */
export interface PreparedQuery<Source extends StatementSource = StatementSource> {
  readonly source: Source
  readonly columns: readonly ResultColumn[]
  /** The columns of tables that they are, by place; undefined for others. */
  readonly origins?: readonly (ShownOrigin | undefined)[]
  /** The filters and masks that apply to the principal. */
  readonly protections?: readonly AppliedProtection[]
  /** Whom to ask about its tables, in words; undefined where their contracts name nobody. @throws Fault of the store */
  readonly ask?: () => Promise<string | undefined>
  /** How access to what is hidden is asked for, in words; undefined where nothing is. */
  readonly howToAsk?: () => string | undefined
  /** Bytes of the files of a table's snapshot; undefined where its summary does not tell them. */
  readonly tableBytes?: (table: TableRef) => bigint | undefined
  /** Types of `$1` … in order. */
  readonly parameters: readonly SqlType[]
  /** Numbers of the parameters that must be literals: a run compiles the statement with their values. */
  readonly needsValues: readonly number[]
}

/** Lets the load of a statement check the reader's session too, which saves a round trip. */
export interface SessionCheck {
  /**
   * The service session that the caller must check; it passes the result to `report`.
   * @returns undefined where another call checks it, or the store alone cannot decide
   */
  take(): string | undefined
  /** @param isValid the store's reply to a call that began after `take` or belongs to the same request */
  report(isValid: boolean): void
}

export interface PrepareOptions {
  /**
   * Whether the client requested a run before this call, which begins as soon as this call resolves. That one run, if
   * its context is the same, takes the load of this call; every other run loads again.
   */
  readonly runsAtOnce?: boolean
  /** Fires when that run can no longer come, so that no later run takes its load. */
  readonly runMissed?: AbortSignal
  /** Ends the load and what was started for that run. */
  readonly signal?: AbortSignal
  /** Checks the session. The surface sends nothing before the result; an invalid session stops the statement. */
  readonly sessionCheck?: SessionCheck | undefined
}

export interface RunOptions {
  /** PostgreSQL text forms, `$1` first. */
  readonly parameters?: readonly (string | null)[]
  /** Ends the query; the engine stops. */
  readonly signal: AbortSignal
  /** Milliseconds from start to end, the client's pauses included. The service's own bound applies if it is less. */
  readonly timeMs?: number
  /** As in PrepareOptions. */
  readonly sessionCheck?: SessionCheck | undefined
}

/**
 * The rows of one query. Pulling drives the engine. The iteration completes only when every row was delivered and
 * the usage record is written. Returning early stops the engine and records the query as cancelled. A run that was
 * never pulled never began.
 */
export interface QueryRun extends AsyncIterable<ResultBatch> {
  /** A UUID, also of the usage record. */
  readonly queryId: string
  readonly columns: readonly ResultColumn[]
  /**
   * What governs the rows that the run gives, as its usage record has it. It stays the same from the first rows on,
   * because a run starts again only before them.
   * @throws SqlError XX000 before the first rows, and where the statement was refused
   */
  applied(): AppliedGovernance
  /**
   * Records the run before it ends, once. A surface that sends rows during the run waits for this first, so that a
   * process that dies leaves a record of them.
   * @throws SqlError 58030 where the record could not be written; then no row may be sent
   */
  putOnRecord(): Promise<void>
  /**
   * Checks whether rows of an earlier pull may still be sent, also after the last. Each pull checks its own rows.
   * @returns undefined where they may; else a promise, which rejects where they may not
   * @throws SqlError 55000 where a policy, pin or catalog credential has changed, 28000 where the reader's credential
   *   ended, 57014 where the time is up, 58000 where the store does not reply
   */
  confirm(): Promise<void> | undefined
}

export interface QueryService {
  /**
   * Compiles without running; a refusal is recorded as usage.
   * @param parameterTypes those that the client gave, `$1` first
   * @throws SqlError
   */
  prepare<Source extends StatementSource>(
    context: QueryContext,
    source: Source,
    parameterTypes?: readonly (SqlType | undefined)[],
    options?: PrepareOptions,
  ): Promise<PreparedQuery<Source>>
  /**
   * Runs a prepared statement.
   * @throws SqlError on the first pull or later; 0A000 where the columns differ from the prepared ones
   */
  run(context: QueryContext, query: PreparedQuery, options: RunOptions): QueryRun
}
