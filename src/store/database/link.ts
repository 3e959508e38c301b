/** Opens connections to a PostgreSQL server, and defines a store backend. `Pool` decides who uses a connection. */

import postgres from 'postgres'

/** One connection to the database. */
export interface Link {
  readonly sql: postgres.Sql
  /** True once the connection has ended. Its open transaction is lost, and it must get no more statements. */
  readonly dead: boolean
  /** Whether a statement can be cancelled without ending the connection. */
  readonly cancellable: boolean
  /** Ends an idle connection in order. */
  close(): Promise<void>
  /** Ends the connection at once, also during a statement. Resolves when nothing of it runs here any more. */
  discard(): Promise<void>
}

export interface StoreBackend {
  readonly name: 'postgres' | 'embedded'
  /** Connections that may be open at once. */
  readonly linksMax: number
  /** Tenants that one connection serves before it is ended, because a server's process grows with each. */
  readonly tenantsOfLinkMax: number
  /** Milliseconds after which this process ends a statement itself. */
  readonly statementMs: number
  /**
   * Opens a connection.
   * @param as `tenant`: the role is svc_tenant and no tenant is set, so it sees nothing;
   * `connecting`: the connecting user's own rights, for migrations
   */
  open(as: 'tenant' | 'connecting'): Promise<Link>
  /**
   * Listens to a channel on a connection of its own. A lost connection is opened again; messages sent in between
   * are missed.
   * @returns undefined where the backend has one connection only
   */
  listen(channel: string, onMessage: (message: string) => void): Promise<Listening | undefined>
  close(): Promise<void>
}

export interface Listening {
  close(): Promise<void>
}

/** Receives the messages of the one channel to which every connection listens. */
export type OnNotification = (message: string) => void

/** Sent on every new connection, so that it receives its own transactions' notifications before they return. */
export const listenText = 'listen svc_governance'

/** The library's options. One connection per client, so that a transaction cannot move to another connection. */
export const connectionOptions = {
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

/** A PostgreSQL server. Session defaults are in the start-up message, so RESET returns to them. */
export function postgresBackend(options: PostgresOptions): StoreBackend {
  return {
    name: 'postgres',
    linksMax: options.poolMax,
    // The server's process of a connection takes 3.5 MB for the plans and relations of each tenant.
    tenantsOfLinkMax: 50,
    statementMs: unansweredMs(options),
    open: (as) => openPostgresLink(options, as),
    listen: (channel, onMessage) => listenOnPostgres(options, channel, onMessage),
    close: async () => {},
  }
}

/** Longer than the server's own timeout, because it is for a server that no longer answers. */
const unansweredMs = ({ statementMs }: PostgresOptions) => statementMs + 2_000

/** The options with which every connection to a server is opened. */
function startUp({ statementMs }: PostgresOptions, as: 'tenant' | 'connecting') {
  return {
    ...connectionOptions,
    connect_timeout: 10,
    connection: {
      application_name: 'covenant',
      ...(as === 'tenant' && { role: 'svc_tenant' }),
      search_path: 'pg_catalog',
      // A call that is a transaction of its own sets neither, and a server may have other defaults.
      default_transaction_isolation: 'read committed',
      default_transaction_read_only: 'off',
      statement_timeout: statementMs,
      lock_timeout: statementMs,
      idle_in_transaction_session_timeout: 60_000,
      // Ends the statement of a client that has disconnected.
      client_connection_check_interval: 2_000,
    } as Record<string, string | number>,
  }
}

/**
 * Waits for the first statement of a connection, because the library's own time limit ends with the log-in.
 * @throws the library's error
 */
async function firstResult<T>(sql: postgres.Sql, ms: number, result: PromiseLike<T>): Promise<T> {
  const timer = setTimeout(() => void sql.end({ timeout: 0 }), ms)
  try {
    return await result
  } finally {
    clearTimeout(timer)
  }
}

async function listenOnPostgres(
  options: PostgresOptions,
  channel: string,
  onMessage: (message: string) => void,
): Promise<Listening> {
  // The library opens one connection that listens, and opens it again where it ends. No other is requested.
  const sql = postgres(options.databaseUrl, startUp(options, 'tenant'))
  try {
    await firstResult(sql, unansweredMs(options), sql.listen(channel, onMessage))
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
      // Otherwise the library would reconnect and run queued statements outside their transaction.
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
    await firstResult(sql, unansweredMs(options), sql.unsafe(first).simple())
    return link
  } catch (error) {
    await link.discard()
    throw error
  }
}
