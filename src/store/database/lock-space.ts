/**
 * Says when a server has too few locks for its tables to be dumped: a dump locks all tables in one transaction. And
 * which tables are locked.
 */

import type postgres from 'postgres'

interface LockSpace {
  /** Tables of the database, those of the server's own catalog left out. */
  readonly tables: number
  /** Locks that the server has for all transactions together. */
  readonly locks: number
  /** Transactions among which the server shares out its locks. */
  readonly transactions: number
}

/** Shares of the locks that others hold meanwhile, and by which a database may still grow. */
const tablesPerLock = 0.8

/** What an operator should know, or undefined where there are locks enough. */
export function lockNotice({ tables, locks, transactions }: LockSpace): string | undefined {
  if (tables <= locks * tablesPerLock) return undefined
  const needed = Math.ceil((2 * tables) / transactions)
  return `The database has ${tables} tables and the server ${locks} locks, so pg_dump may fail: set max_locks_per_transaction to ${needed} or more, and restart the server.`
}

/** Reads the server's settings and counts the tables. */
export async function lockSpaceOf(sql: postgres.Sql): Promise<LockSpace> {
  const [row] = await sql<{ tables: number; each: number; transactions: number }[]>`
    select (select count(*)::int from pg_class where relkind in ('r', 'p') and oid >= 16384) as tables,
      current_setting('max_locks_per_transaction')::int as each,
      current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int as transactions`
  const { tables = 0, each = 1, transactions = 1 } = row ?? {}
  return { tables, locks: each * transactions, transactions }
}

/** The tables for whose lock a statement has waited for over a second. */
export const lockedTables = `select distinct relation::regclass::text as name from pg_locks
  where not granted and locktype = 'relation' and clock_timestamp() - waitstart > interval '1 second'
    and database = (select oid from pg_database where datname = current_database())`
