/**
 * Reads a table of a PostgreSQL source in one read-only transaction. The address obeys the rules of upstreams, the
 * connection goes to the address that was checked, and no message of the server leaves this file.
 */

import postgres from 'postgres'
import { Fault } from '../../base/fault.ts'
import { quoteIdentifier } from '../../base/sql-text.ts'
import { type AddressRules, isAllowedByOperator, type Lookup, PinnedHost } from '../../catalog/address.ts'
import type { ListedSource, Source } from '../../store/reconcile/sources.ts'
import { postgresColumn, type SideColumn } from './column-kind.ts'
import type { Cells, SideReader } from './locate.ts'

const connectSeconds = 15
const statementMs = 600_000
/** PostgreSQL 14 is the first whose seconds since 1970 are exact. */
const versionMin = 140_000

/** A table of a source that is open for statements. */
export interface SourceTable extends SideReader {
  readonly columns: readonly SideColumn[]
  /** Ids of the columns in Iceberg; absent for a source. */
  readonly fieldIds?: readonly number[]
}

function hostOf({ host, port }: ListedSource, rules: AddressRules, lookup?: Lookup): PinnedHost {
  const name = host.includes(':') ? `[${host}]` : host
  const url = URL.parse(`https://${name}:${port}`)
  if (url === null || url.hostname.replace(/^\[|\]$/g, '') !== host.toLowerCase())
    throw new Fault('bad_request', '`host` must be a host name or an address.')
  return new PinnedHost(url, rules, lookup)
}

/**
 * Checks where a source is.
 * @throws Fault `bad_request` for an address that the service does not connect to, or without TLS where the operator did
 * not allow its host or address
 */
export async function checkSource(source: ListedSource, rules: AddressRules): Promise<void> {
  const host = hostOf(source, rules)
  if (source.tls === 'off' && !isAllowedByOperator(source.host, rules))
    throw new Fault(
      'bad_request',
      '`tls` may be `off` only for hosts and addresses that the operator allows.',
    )
  try {
    await host.addresses()
  } catch (cause) {
    throw new Fault(
      'bad_request',
      'The host does not resolve, or to private addresses only. Such addresses must be allowed by the operator.',
      { cause },
    )
  }
}

/** The schema and name of `schema.table`; `public` where there is no schema. */
function nameOf(table: string): readonly [schema: string, name: string] {
  const dot = table.indexOf('.')
  return dot < 0 ? ['public', table] : [table.slice(0, dot), table.slice(dot + 1)]
}

/**
 * Opens a table of a source for `work`, in one transaction that sees one state of it.
 * @throws Fault `upstream_failed` with a SQLSTATE in `members` where the source fails, `unprocessable` where it has no
 * such table
 */
export async function withSourceTable<T>(
  source: Source,
  table: string,
  rules: AddressRules,
  signal: AbortSignal,
  work: (table: SourceTable) => Promise<T>,
): Promise<T> {
  const [address = ''] = await hostOf(source, rules).addresses()
  const client = postgres({
    host: address,
    port: source.port,
    database: source.database,
    username: source.user,
    password: source.password.reveal(),
    ssl: source.tls === 'off' ? false : { servername: source.host, rejectUnauthorized: true },
    max: 1,
    connect_timeout: connectSeconds,
    idle_timeout: 5,
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'covenant', statement_timeout: statementMs, TimeZone: 'UTC' },
  })
  const stop = () => void client.end({ timeout: 0 })
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    return (await client.begin('isolation level repeatable read read only', async (tx) =>
      work(await openTable(tx, table)),
    )) as T
  } catch (thrown) {
    if (signal.aborted) throw signal.reason
    throw sourceFault(thrown)
  } finally {
    signal.removeEventListener('abort', stop)
    await client.end({ timeout: 1 }).catch(() => {})
  }
}

async function openTable(tx: postgres.TransactionSql, table: string): Promise<SourceTable> {
  const [version = []] = await tx.unsafe('SHOW server_version_num').values()
  if (Number(version[0]) < versionMin)
    throw new Fault('unprocessable', 'The source must be PostgreSQL 14 or later.')
  const [schema, name] = nameOf(table)
  const found = await tx
    .unsafe(
      `SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
       JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0
         AND NOT a.attisdropped ORDER BY a.attnum`,
      [schema, name],
    )
    .values()
  if (found.length === 0)
    throw new Fault('unprocessable', 'The source has no such table, or its user may not see it.')
  return {
    dialect: 'postgres',
    columns: found.map(([column, type]) => postgresColumn(String(column), String(type))),
    async read(write, rowsMax) {
      const { sql } = write(`${quoteIdentifier(schema)}.${quoteIdentifier(name)}`)
      const rows = (await tx.unsafe(sql).values()) as unknown as readonly Cells[]
      if (rows.length > rowsMax) throw new Fault('upstream_failed', 'The source gave too many rows.')
      return rows
    },
  }
}

/** The failure without the server's words, which may quote values. */
function sourceFault(thrown: unknown): unknown {
  if (thrown instanceof Fault) return thrown
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  const sqlstate = /^[0-9A-Z]{5}$/.test(code) ? code : '08006'
  return new Fault('upstream_failed', `The source failed (SQLSTATE ${sqlstate}).`, { members: { sqlstate } })
}
