/** Opens connections to a PostgreSQL server, and defines a store backend. `Pool` decides who uses a connection. */

import postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { sqlState } from './store-fault.ts'

/** One connection to the database. */
export interface Link {
  readonly sql: postgres.Sql
  /** True once the connection has ended. Its open transaction is lost, and it must get no more statements. */
  readonly dead: boolean
  /** Whether a statement can be cancelled without ending the connection. */
  readonly cancellable: boolean
  /** Statements that give the session its settings again after RESET ALL; empty where RESET returns to them. */
  readonly settings: string
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

interface PostgresOptions {
  readonly databaseUrl: string
  readonly poolMax: number
  readonly statementMs: number
  readonly onNotification: OnNotification
}

/** How sessions are reached. It is learned from the first one. */
interface Way {
  /** A pooler takes no settings in the start-up message, so each session is given them by statements. */
  isPooled: boolean
}

/** A PostgreSQL server. Session defaults are in the start-up message, so RESET returns to them. */
export function postgresBackend(options: PostgresOptions): StoreBackend {
  const way: Way = { isPooled: false }
  return {
    name: 'postgres',
    linksMax: options.poolMax,
    // The server's process of a connection takes 3.5 MB for the plans and relations of each tenant.
    tenantsOfLinkMax: 50,
    statementMs: unansweredMs(options),
    open: (as) => openPostgresLink(options, as, way),
    listen: (channel, onMessage) => listenOnPostgres(options, channel, onMessage, way),
    close: async () => {},
  }
}

/** Longer than the server's own timeout, because it is for a server that no longer answers. */
const unansweredMs = ({ statementMs }: PostgresOptions) => statementMs + 2_000

/** What every session is set to. */
function settingsOf({ statementMs }: PostgresOptions, as: 'tenant' | 'connecting') {
  return {
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
  } as const
}

/** The options with which every connection to a server is opened. */
function startUp(options: PostgresOptions, as: 'tenant' | 'connecting', { isPooled }: Way) {
  return {
    ...connectionOptions,
    connect_timeout: 10,
    connection: {
      application_name: 'covenant',
      ...(!isPooled && settingsOf(options, as)),
    } as Record<string, string | number>,
  }
}

/** The same settings as statements. All values are constants or numbers. */
const settingsText = (options: PostgresOptions, as: 'tenant' | 'connecting', { isPooled }: Way) =>
  isPooled
    ? Object.entries(settingsOf(options, as))
        .map(([name, value]) => `set ${name} = ${typeof value === 'number' ? value : `'${value}'`}; `)
        .join('')
    : ''

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
  way: Way,
): Promise<Listening> {
  // The library opens one connection that listens, and opens it again where it ends. No other is requested.
  const sql = postgres(options.databaseUrl, startUp(options, 'tenant', way))
  try {
    await firstResult(sql, unansweredMs(options), sql.listen(channel, onMessage))
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  return { close: () => sql.end({ timeout: 5 }) }
}

/** Opens a connection, and a second time where the first shows that a pooler stands before the server. */
async function openPostgresLink(
  options: PostgresOptions,
  as: 'tenant' | 'connecting',
  way: Way,
): Promise<Link> {
  if (!way.isPooled) {
    const link = await openAs(options, as, way)
    if (link !== undefined) return link
    way.isPooled = true
  }
  const link = await openAs(options, as, way)
  if (link === undefined) throw new Fault('misconfigured', poolerRefused)
  return link
}

const poolerRefused = 'The pooler before the database refuses the connection (docs/operations.md).'

/** @returns undefined where settings in the start-up message do not reach the session, because of a pooler */
async function openAs(
  options: PostgresOptions,
  as: 'tenant' | 'connecting',
  way: Way,
): Promise<Link | undefined> {
  let dead = false
  const sql = postgres(options.databaseUrl, {
    ...startUp(options, as, way),
    // Not in the library's types.
    ...{ onnotify: (_: string, message: string) => options.onNotification(message) },
    onclose: () => {
      dead = true
      // Otherwise the library would reconnect and run queued statements outside their transaction.
      void sql.end({ timeout: 0 })
    },
  })
  const settings = settingsText(options, as, way)
  const link: Link = {
    sql,
    cancellable: true,
    settings,
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
    const query = sql.unsafe(`select pg_backend_pid() as pid; ${settings}${first}`).simple()
    const rows = await firstResult(sql, unansweredMs(options), query)
    if (way.isPooled || isServer(query, rows)) return link
  } catch (error) {
    await link.discard()
    if (way.isPooled || sqlState(error) !== unsupportedParameter) throw error
    return undefined
  }
  await link.close()
  return undefined
}

/** What a pooler says to a setting in the start-up message that it does not pass on. */
const unsupportedParameter = '08P01'

/** Whether who answered the log-in is who runs the statements: a pooler gives another process id for cancelling. */
function isServer(query: unknown, rows: unknown): boolean {
  const { state } = query as { readonly state?: { readonly pid?: number | null } }
  const [first] = [rows].flat(3) as { readonly pid?: number }[]
  return first?.pid === state?.pid
}
