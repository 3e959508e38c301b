/**
 * One transaction on one session: its begin, its statements with their time limit, its end and the
 * reset after it. Statements are sent without waiting for those before them, so a transaction of one
 * statement costs one round trip.
 */

import { Fault } from '../../base/fault.ts'
import type { Link } from './link.ts'
import { toStoreFault } from './store-fault.ts'

/** What a statement takes as a parameter. JSON goes as text and is cast in the statement. */
export type Param = string | number | bigint | boolean | Uint8Array | Date | null

export interface Tx {
  /**
   * Runs one statement.
   * @param text SQL with $1 …; where it names no tenant it is prepared once per session
   * @param options.prepare false for cypher(): each prepared text of it costs memory for good
   * @returns the rows; int8 as strings
   * @throws Fault, see `toStoreFault`
   */
  query<Row extends object>(
    text: string,
    params?: readonly Param[],
    options?: { readonly prepare?: boolean },
  ): Promise<readonly Row[]>
  /** Runs statements separated by semicolons, as a migration has them. */
  script(text: string): Promise<void>
}

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  readonly readOnly?: boolean
  readonly signal?: AbortSignal
  /** Milliseconds that one statement may take, where the store's default is too short. */
  readonly statementMs?: number
  /**
   * Its commit does not wait until the log is flushed, so a crash of the database may take it back. Only where
   * something brings the work back then, and nobody was told that it is done. Any later commit that waits makes
   * it durable too: the log is flushed in order.
   */
  readonly mayBeLost?: boolean
}

/** The statements that a transaction begins with; every name in them is our own or checked. */
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

// The role does not belong to RESET ALL. Not DISCARD ALL: it would drop prepared statements.
const resetText = 'set role svc_tenant; reset all; select pg_advisory_unlock_all()'

const lostConnection = () => new Fault('unavailable', 'The database connection was lost.')

interface Tagged {
  readonly command?: string
}

/**
 * Waits for a message's answer; past its time the session is ended, and what it was doing with it.
 * @throws Fault `unavailable` where it took too long; the database's error
 */
async function limited<T>(link: Link, ms: number, answer: PromiseLike<T>): Promise<T> {
  let late: Fault | undefined
  const timer = setTimeout(() => {
    late = new Fault('unavailable', 'The database took too long.')
    link.discard().catch(() => {})
  }, ms)
  try {
    return await answer
  } catch (error) {
    throw late ?? error
  } finally {
    clearTimeout(timer)
  }
}

/** Rolls back whatever is open and resets. @returns whether the session is as new */
export async function resetSession(link: Link, ms: number): Promise<boolean> {
  if (link.dead) return false
  try {
    await limited(link, ms, link.sql.unsafe(`rollback; ${resetText}`).simple())
    return !link.dead
  } catch {
    return false
  }
}

/**
 * Calls a function that enters its own context and leaves nothing behind: one statement, which is a transaction,
 * and one message each way.
 * @returns the rows; int8 as strings
 * @throws Fault, see `toStoreFault`. Nothing stays, except where the connection was lost: then that is not known
 */
export async function callFunction<Row extends object>(
  link: Link,
  ms: number,
  name: string,
  params: readonly Param[],
): Promise<readonly Row[]> {
  const text = `select * from svc.${name}(${params.map((_, index) => `$${index + 1}`).join(', ')})`
  try {
    const rows = await limited(link, ms, link.sql.unsafe<Row[]>(text, params as never[], { prepare: true }))
    // The library reconnects by itself: an answer after the loss came from another session.
    if (link.dead) throw lostConnection()
    return rows
  } catch (error) {
    throw toStoreFault(error)
  }
}

/** A transaction in progress: statements, then `commit`; or `only`; or neither, where it is to be rolled back. */
export class Session {
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
      await this.#answer(this.link.sql.unsafe(text).simple())
    },
  }

  /** Whether the transaction is over and the session as new. */
  get isReset(): boolean {
    return this.#reset && !this.link.dead
  }

  /** Whether a cancel request was sent: it may arrive late, so the session must not be used again. */
  get isCancelled(): boolean {
    return this.#cancelled
  }

  /**
   * Ends the transaction and resets the session, in one round trip.
   * @throws Fault where it did not commit, or where that is not known
   */
  async commit(): Promise<void> {
    this.#check()
    this.#over = new Fault('internal', 'Internal error.', { detail: 'a statement after its transaction' })
    const [committed, reset] = await Promise.allSettled([
      this.#limited(this.link.sql.unsafe('commit').simple()),
      this.#limited(this.link.sql.unsafe(resetText).simple()),
    ])
    this.#reset = reset.status === 'fulfilled'
    if (committed.status === 'rejected') throw toStoreFault(committed.reason)
    if (this.link.dead) throw lostConnection()
    if ((committed.value as Tagged).command !== 'COMMIT')
      throw new Fault('internal', 'Internal error.', {
        detail: 'the transaction had failed before its commit',
      })
  }

  /** One statement and the commit, sent together: a failed statement makes the commit a rollback. */
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

  /** No more statements; those under way are cancelled where the engine can. */
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
    return this.#answer(this.link.sql.unsafe<Row[]>(text, params as never[], { prepare }))
  }

  async #answer<T>(statement: PromiseLike<T> & { cancel(): void }): Promise<T> {
    this.#running.add(statement)
    try {
      const [begun, answer] = await Promise.allSettled([this.#begun, this.#limited(statement)])
      // Where begin failed, its error says more than that of a statement outside a transaction.
      if (begun.status === 'rejected') throw begun.reason
      if (answer.status === 'rejected') throw answer.reason
      // The library reconnects by itself: an answer after the loss came from outside the transaction.
      if (this.link.dead) throw lostConnection()
      return answer.value
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

  #limited<T>(answer: PromiseLike<T>): Promise<T> {
    return limited(this.link, this.statementMs, answer)
  }
}
