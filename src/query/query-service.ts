/** What every read surface calls, so that protection cannot be skipped: prepare a statement, then run it. */

import type { ReadCredential } from '../auth/read-credential.ts'
import type { Principal } from '../core/principal.ts'
import type { ResultBatch } from '../core/result-batch.ts'
import type { SqlType } from '../core/sql-type.ts'
import type { TenantId } from '../core/tenant.ts'
import type { ResultColumn } from './compile.ts'

export type ReadSurface = 'pgwire' | 'xmla' | 'graphql' | 'mcp' | 'rest'

/** The part of a read session (server/read-session.ts) that an open run checks again. */
export type Reader = Pick<ReadCredential, 'stillValid' | 'sessionToCheck' | 'expiresAtMs'>

/** Who reads, and where: the context of a connection or a request. */
export interface QueryContext {
  readonly tenant: TenantId
  /** Of a verified credential. */
  readonly principal: Principal
  /** The step that gave the principal (docs/reference/identity.md 3.1). */
  readonly principalSource: string
  /** Checked again while a run is open. */
  readonly reader: Reader
  readonly surface: ReadSurface
  /** Nickname of the catalog credential: the database that the client named. */
  readonly catalog: string
  /** Schemas that an unqualified name is looked for in, in order. */
  readonly searchPath: readonly string[]
}

/** A statement that compiles for a context now. Running it compiles it again if what governs it changed. */
export interface PreparedQuery {
  readonly text: string
  readonly columns: readonly ResultColumn[]
  /** Types of `$1` … in order. */
  readonly parameters: readonly SqlType[]
}

/** Lets the load of a statement check the reader's session too, which saves a round trip. */
export interface SessionCheck {
  /**
   * The service session that the caller checks from now on; it says the result by `report`.
   * @returns undefined where another checks it, or the store alone cannot tell
   */
  take(): string | undefined
  /** @param isValid what the store said in a call that began after `take` or was for the very same request */
  report(isValid: boolean): void
}

export interface PrepareOptions {
  /**
   * Whether the client had asked for a run of the statement before this call, and it begins as soon as this
   * resolves. Then that one run, if it has the same context, takes what was loaded here; every other loads again.
   */
  readonly runsAtOnce?: boolean
  /** Fires where that run can no longer come: a later one must not be taken for it. */
  readonly runMissed?: AbortSignal
  /** Ends the loading, and what was started for that run. */
  readonly signal?: AbortSignal
  /** The surface sends nothing before its result is there; where the session is not valid, nothing is compiled or run. */
  readonly sessionCheck?: SessionCheck | undefined
}

export interface RunOptions {
  /** PostgreSQL text forms, `$1` first. */
  readonly parameters?: readonly (string | null)[]
  /** Ends the query; the engine stops. */
  readonly signal: AbortSignal
  /** Milliseconds from its start to its end, its reader's pauses included; the service's own bound where that is less. */
  readonly timeMs?: number
  /** As in PrepareOptions. */
  readonly sessionCheck?: SessionCheck | undefined
}

/**
 * The rows of one query. Pulling drives the engine; it ends normally only when every row was delivered and
 * the usage record is written. Returning early stops the engine and records the query as cancelled; a run that
 * was never pulled never began.
 */
export interface QueryRun extends AsyncIterable<ResultBatch> {
  /** A UUID; the usage record's. */
  readonly queryId: string
  readonly columns: readonly ResultColumn[]
  /**
   * Puts the run on record before it ends, once. A surface that sends rows while the run goes on waits for this
   * first: a process that dies then leaves a record of them.
   * @throws SqlError 58030 where it could not: no row may leave
   */
  putOnRecord(): Promise<void>
  /**
   * Looks whether rows of a batch that was pulled may still be given: each pull looks by itself.
   * @returns undefined where they may; else a promise, which rejects with what ended the run where they may not: a
   *   SqlError 55000 where a policy, pin or catalog credential has changed, 28000 where the reader's credential ended,
   *   57014 where its time is over, 58000 where that cannot be told
   */
  confirm(): Promise<void> | undefined
}

export interface QueryService {
  /**
   * Compiles without running; a refusal is recorded as usage.
   * @param parameterTypes those that the client gave, `$1` first
   * @throws SqlError
   */
  prepare(
    context: QueryContext,
    text: string,
    parameterTypes?: readonly (SqlType | undefined)[],
    options?: PrepareOptions,
  ): Promise<PreparedQuery>
  /**
   * Runs a prepared statement.
   * @throws SqlError on the first pull or later; 0A000 where its result would no longer have the columns
   *   that were prepared
   */
  run(context: QueryContext, query: PreparedQuery, options: RunOptions): QueryRun
}
