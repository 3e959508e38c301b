/** One database session: opened, known to be alive or dead, thrown away. Its state is the pool's concern. */

import postgres from 'postgres'

export interface Link {
  readonly sql: postgres.Sql
  /** True once the session has ended; what it was doing is lost, and statements must not be sent to it. */
  readonly dead: boolean
  /** Whether a statement can be cancelled without ending the session. */
  readonly cancellable: boolean
  /** Ends an idle session in order. */
  close(): Promise<void>
  /** Ends the session at once, also in the middle of a statement. Resolves when nothing of it runs here. */
  discard(): Promise<void>
}

export interface Engine {
  readonly name: 'postgres' | 'embedded'
  /** Sessions that may be open at once. */
  readonly linksMax: number
  /** Milliseconds after which a statement is given up from outside. */
  readonly statementMs: number
  /**
   * Opens a session.
   * @param as `tenant`: the role is svc_tenant and there is no tenant, so it sees nothing;
   * `connecting`: the connecting user's own rights, for migrations
   */
  open(as: 'tenant' | 'connecting'): Promise<Link>
  /**
   * Hears what sessions notify a channel of, on a session of its own that is made again whenever it is lost: what is
   * sent meanwhile is missed.
   * @returns undefined where there is one session only
   */
  listen(channel: string, onMessage: (message: string) => void): Promise<Listening | undefined>
  close(): Promise<void>
}

export interface Listening {
  close(): Promise<void>
}

/** Told what sessions hear of the store's one channel that all of them listen to. */
export type OnNotification = (message: string) => void

/** What a session is begun with: it then hears its own transactions' notifications before they have returned. */
export const listenText = 'listen svc_governance'

/** Options every session has: one connection each, so that a transaction cannot move to another. */
export const sessionOptions = {
  max: 1,
  idle_timeout: 0,
  max_lifetime: null,
  fetch_types: false,
  onnotice: () => {},
} as const

export interface PostgresOptions {
  readonly databaseUrl: string
  readonly poolMax: number
  readonly statementMs: number
  readonly onNotification: OnNotification
}

/** A PostgreSQL server. Session defaults travel in the start-up message, so RESET returns to them. */
export function postgresEngine(options: PostgresOptions): Engine {
  return {
    name: 'postgres',
    linksMax: options.poolMax,
    statementMs: unansweredMs(options),
    open: (as) => openPostgresLink(options, as),
    listen: (channel, onMessage) => listenOnPostgres(options, channel, onMessage),
    close: async () => {},
  }
}

/** The server's own timeout comes first; this one is for a server that no longer answers. */
const unansweredMs = ({ statementMs }: PostgresOptions) => statementMs + 2_000

/** What every session on a server is opened with. */
function startUp({ statementMs }: PostgresOptions, as: 'tenant' | 'connecting') {
  return {
    ...sessionOptions,
    connect_timeout: 10,
    connection: {
      application_name: 'covenant',
      ...(as === 'tenant' && { role: 'svc_tenant' }),
      search_path: 'pg_catalog',
      // A call that is a transaction of its own says neither; a server may have other defaults.
      default_transaction_isolation: 'read committed',
      default_transaction_read_only: 'off',
      statement_timeout: statementMs,
      lock_timeout: statementMs,
      idle_in_transaction_session_timeout: 60_000,
      // A client that is gone does not keep its statement running.
      client_connection_check_interval: 2_000,
    } as Record<string, string | number>,
  }
}

/** Waits for what a session is first asked: the library's own limit ends with the log-in. @throws the library's error */
async function firstAnswer<T>(sql: postgres.Sql, ms: number, answer: PromiseLike<T>): Promise<T> {
  const timer = setTimeout(() => void sql.end({ timeout: 0 }), ms)
  try {
    return await answer
  } finally {
    clearTimeout(timer)
  }
}

async function listenOnPostgres(
  options: PostgresOptions,
  channel: string,
  onMessage: (message: string) => void,
): Promise<Listening> {
  // The library opens the one session that listens, and again where that ends; no other is ever asked for.
  const sql = postgres(options.databaseUrl, startUp(options, 'tenant'))
  try {
    await firstAnswer(sql, unansweredMs(options), sql.listen(channel, onMessage))
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  return { close: () => sql.end({ timeout: 5 }) }
}

async function openPostgresLink(options: PostgresOptions, as: 'tenant' | 'connecting'): Promise<Link> {
  let dead = false
  const sql = postgres(options.databaseUrl, {
    ...startUp(options, as),
    // Not in the library's types.
    ...{ onnotify: (_: string, message: string) => options.onNotification(message) },
    onclose: () => {
      dead = true
      // Or the library would reconnect for what is queued, and run it outside its transaction.
      void sql.end({ timeout: 0 })
    },
  })
  const link: Link = {
    sql,
    cancellable: true,
    get dead() {
      return dead
    },
    async close() {
      dead = true
      await sql.end({ timeout: 5 })
    },
    async discard() {
      dead = true
      await sql.end({ timeout: 0 })
    },
  }
  try {
    // The first call of one of AGE's functions loads its library, which cypher() needs.
    const first =
      as === 'tenant' ? `select ag_catalog._graphid(1, 1); ${listenText}` : 'set statement_timeout = 0'
    await firstAnswer(sql, unansweredMs(options), sql.unsafe(first).simple())
    return link
  } catch (error) {
    await link.discard()
    throw error
  }
}
