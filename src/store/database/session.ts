/**
 * Runs one transaction on one connection: begin, statements with a time limit, commit, reset of the connection.
 * Statements are sent without waiting for earlier ones, so a transaction of one statement costs one round trip.
 */

import { Fault } from '../../base/fault.ts'
import type { Link } from './link.ts'
import { toStoreFault } from './store-fault.ts'

/** A parameter of a statement. JSON is sent as text and cast in the statement. */
export type Param = string | number | bigint | boolean | Uint8Array | Date | null

export interface Tx {
  /**
   * Runs one statement.
   * @param text SQL with $1 …; a text that names no tenant is prepared once per connection
   * @param options.prepare false for cypher(), because its prepared texts take memory until the connection ends
   * @returns the rows; int8 as strings
   * @throws Fault of `toStoreFault`
   */
  query<Row extends object>(
    text: string,
    params?: readonly Param[],
    options?: { readonly prepare?: boolean },
  ): Promise<readonly Row[]>
  /** Runs statements separated by semicolons, such as those of a migration. */
  script(text: string): Promise<void>
}

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  readonly readOnly?: boolean
  readonly signal?: AbortSignal
  /** Milliseconds that one statement may take. Absent: the store's default. */
  readonly statementMs?: number
  /**
   * The commit does not wait for the flush of the log, so a crash of the database may undo it. Only for work that
   * is repeated after a crash and that no client was told is done. A later commit that waits makes it durable too,
   * because the log is flushed in order.
   */
  readonly mayBeLost?: boolean
}

/** The first statements of a transaction. Every name in them is a constant or was checked. */
export function beginText(
  role: 'svc_tenant' | 'svc_admin' | 'svc_owner',
  tenant: string,
  searchPath: string,
  { isolation = 'read committed', readOnly = false, statementMs, mayBeLost = false }: TransactionOptions,
): string {
  const timeout =
    statementMs === undefined ? '' : `;\nset local statement_timeout = ${Math.trunc(statementMs)}`
  const flush = mayBeLost ? ';\nset local synchronous_commit = off' : ''
  return `begin isolation level ${isolation} ${readOnly ? 'read only' : 'read write'};
set local role ${role};
set local app.tenant_id = '${tenant}';
set local search_path = ${searchPath}${timeout}${flush}`
}

// RESET ALL does not reset the role. DISCARD ALL would drop the prepared statements.
const resetText = ({ settings }: Link) =>
  `set role svc_tenant; reset all; ${settings}select pg_advisory_unlock_all()`

const lostConnection = () => new Fault('unavailable', 'The database connection was lost.')

interface Tagged {
  readonly command?: string
}

/**
 * Keeps the library from sending a statement again after the server has forgotten its name or its result has changed,
 * as it does by itself. By then the transaction has ended, so it would run outside of it; and its parameters are
 * encoded twice, so bytes find no row. Either way a look-up would say "unknown". It fails instead, and the next call
 * prepares it again.
 */
function sentOnce<T extends PromiseLike<unknown>>(statement: T): T {
  const query = statement as T & { cancelled: unknown; reject(error: unknown): void }
  Object.defineProperty(query, 'retried', {
    get: () => undefined,
    set(error: unknown) {
      // A cancelled statement is not sent.
      query.cancelled = true
      query.reject(error)
    },
  })
  return statement
}

/**
 * Waits for the result of a message, and ends the connection with its transaction after `ms`.
 * @throws Fault `unavailable` where it took too long; the database's error
 */
export async function limited<T>(link: Link, ms: number, result: PromiseLike<T>): Promise<T> {
  let late: Fault | undefined
  const timer = setTimeout(() => {
    late = new Fault('unavailable', 'The database took too long.')
    link.discard().catch(() => {})
  }, ms)
  try {
    return await result
  } catch (error) {
    throw late ?? error
  } finally {
    clearTimeout(timer)
  }
}

/** Rolls back an open transaction and resets the connection. @returns whether the connection can be used again */
export async function resetConnection(link: Link, ms: number): Promise<boolean> {
  if (link.dead) return false
  try {
    await limited(link, ms, link.sql.unsafe(`rollback; ${resetText(link)}`).simple())
    return !link.dead
  } catch {
    return false
  }
}

/**
 * Calls a function that enters its own context and leaves no settings behind: one statement, which is its own
 * transaction, and one message each way.
 * @param name with its schema; both are constants or were checked
 * @returns the rows; int8 as strings
 * @throws Fault of `toStoreFault`. Nothing was written, but after a lost connection that is unknown
 */
export async function callFunction<Row extends object>(
  link: Link,
  ms: number,
  name: string,
  params: readonly Param[],
): Promise<readonly Row[]> {
  const text = `select * from ${name}(${params.map((_, index) => `$${index + 1}`).join(', ')})`
  try {
    const rows = await limited(
      link,
      ms,
      sentOnce(link.sql.unsafe<Row[]>(text, params as never[], { prepare: true })),
    )
    // The library reconnects by itself: rows after the loss came from another connection.
    if (link.dead) throw lostConnection()
    return rows
  } catch (error) {
    throw toStoreFault(error)
  }
}

/** A transaction in progress: statements and `commit`, or `only`. Without either, it is to be rolled back. */
export class StoreConnection {
  readonly #running = new Set<{ cancel(): void }>()
  readonly #begun: Promise<unknown>
  #over: Fault | undefined
  #cancelled = false
  #reset = false

  constructor(
    readonly link: Link,
    readonly statementMs: number,
    begin: string,
  ) {
    this.#begun = this.#limited(link.sql.unsafe(begin).simple())
    this.#begun.catch(() => {})
  }

  readonly tx: Tx = {
    query: (text, params = [], options = {}) => this.#query(text, params, options.prepare ?? true),
    script: async (text) => {
      this.#check()
      await this.#resultOf(this.link.sql.unsafe(text).simple())
    },
  }

  /** Whether the transaction has ended and the connection was reset. */
  get isReset(): boolean {
    return this.#reset && !this.link.dead
  }

  /** Whether a cancel request was sent. It may arrive late, so the connection must not be used again. */
  get isCancelled(): boolean {
    return this.#cancelled
  }

  /**
   * Commits and resets the connection, in one round trip.
   * @throws Fault where the transaction did not commit, or where that is unknown
   */
  async commit(): Promise<void> {
    this.#check()
    this.#over = new Fault('internal', 'Internal error.', { detail: 'a statement after its transaction' })
    const [committed, reset] = await Promise.allSettled([
      this.#limited(this.link.sql.unsafe('commit').simple()),
      this.#limited(this.link.sql.unsafe(resetText(this.link)).simple()),
    ])
    this.#reset = reset.status === 'fulfilled'
    if (committed.status === 'rejected') throw toStoreFault(committed.reason)
    if (this.link.dead) throw lostConnection()
    if ((committed.value as Tagged).command !== 'COMMIT')
      throw new Fault('internal', 'Internal error.', {
        detail: 'the transaction had failed before its commit',
      })
  }

  /** One statement and the commit, sent together. A failed statement makes the commit a rollback. */
  async only<Row extends object>(
    text: string,
    params: readonly Param[],
    prepare: boolean,
  ): Promise<readonly Row[]> {
    const [rows, committed] = await Promise.allSettled([
      this.#query<Row>(text, params, prepare),
      this.commit(),
    ])
    if (rows.status === 'rejected') throw rows.reason
    if (committed.status === 'rejected') throw committed.reason
    return rows.value
  }

  /** Refuses further statements, and cancels the running ones where the backend can. */
  stop(reason: Fault): void {
    this.#over = reason
    if (!this.link.cancellable || this.#running.size === 0) return
    this.#cancelled = true
    for (const statement of this.#running) statement.cancel()
  }

  async #query<Row extends object>(
    text: string,
    params: readonly Param[],
    prepare: boolean,
  ): Promise<readonly Row[]> {
    this.#check()
    return this.#resultOf(sentOnce(this.link.sql.unsafe<Row[]>(text, params as never[], { prepare })))
  }

  async #resultOf<T>(statement: PromiseLike<T> & { cancel(): void }): Promise<T> {
    this.#running.add(statement)
    try {
      const [begun, result] = await Promise.allSettled([this.#begun, this.#limited(statement)])
      // The error of a failed begin says more than that of a statement outside a transaction.
      if (begun.status === 'rejected') throw begun.reason
      if (result.status === 'rejected') throw result.reason
      // The library reconnects by itself: a result after the loss came from outside the transaction.
      if (this.link.dead) throw lostConnection()
      return result.value
    } catch (error) {
      throw toStoreFault(error)
    } finally {
      this.#running.delete(statement)
    }
  }

  #check(): void {
    if (this.#over !== undefined) throw this.#over
    if (this.link.dead) throw lostConnection()
  }

  #limited<T>(result: PromiseLike<T>): Promise<T> {
    return limited(this.link, this.statementMs, result)
  }
}
