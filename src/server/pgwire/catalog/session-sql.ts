/** Writes the SQL around a client's statement, which makes the database show that session's values and no others. */

import { quoteIdentifier, quoteText } from '../../../base/sql-text.ts'
import { isValidIdentifier } from '../../../query/compile/output/shown-columns.ts'
import type { CatalogSession } from '../catalog-service.ts'
import { readerOid } from './shadow-ddl.ts'

/**
 * Settings of the session that affect results. Settings that change how SQL is parsed are left out, because the
 * statement was checked under the parser's defaults.
 */
const shownSettings: ReadonlySet<string> = new Set([
  ...['application_name', 'bytea_output', 'client_min_messages', 'datestyle', 'extra_float_digits'],
  ...['idle_in_transaction_session_timeout', 'intervalstyle', 'lock_timeout', 'quote_all_identifiers'],
  ...['statement_timeout', 'timezone'],
])

const ownerName = 'covenant'

/** One of a principal's own connections, as pg_stat_activity shows it. */
export interface ActivityRow {
  readonly pid: number
  readonly application_name: string
  readonly client_addr: string | null
  readonly client_port: number | null
  /** RFC 3339, like all times here. */
  readonly backend_start: string
  readonly query_start: string | null
  readonly state: 'active' | 'idle' | 'idle in transaction'
  readonly query: string
  readonly ssl: boolean
  /** Protocol and cipher of an encrypted connection. */
  readonly version: string | null
  readonly cipher: string | null
}

const reservedRole = /^(?:pg_.*|public|none|)$/

/**
 * The role name under which a principal is shown, cut to the length of a PostgreSQL name.
 * @throws RangeError for a subject that PostgreSQL reserves or cannot hold
 */
export function roleName(subject: string): string {
  if (reservedRole.test(subject) || subject.includes('\0') || !subject.isWellFormed())
    throw new RangeError('PostgreSQL has no role of this name')
  let name = subject
  while (!isValidIdentifier(name)) name = [...name].slice(0, -1).join('')
  return name
}

/** Renames the reader to the principal, and the owner of the shown objects where it has the same name. */
export function renameReader(role: string): string {
  const owner = role === ownerName ? `${ownerName} (owner)` : ownerName
  return `update pg_authid set rolname = 'reader' where oid = ${readerOid};
    update pg_authid set rolname = ${quoteText(owner)} where oid = 10;
    update pg_authid set rolname = ${quoteText(role)} where oid = ${readerOid}`
}

/** Begins the transaction of one statement. @param texts what the client wrote */
export function beginStatement(
  session: CatalogSession,
  activity: readonly ActivityRow[],
  texts: readonly string[] = [],
): string {
  const settings: [string, string][] = [...session.settings].filter(([name]) =>
    shownSettings.has(name.toLowerCase()),
  )
  // Later in the path, a table could take precedence over pg_catalog, which the check assumed to come first.
  const schemas = session.searchPath.filter((schema, index) => schema !== 'pg_catalog' || index === 0)
  const path = schemas.map(pathEntry).join(', ')
  settings.push(['search_path', path || '""'])
  settings.push(['svc.pid', String(session.backendPid)], ['svc.activity', JSON.stringify(activity)])
  settings.push(['svc.ssl', session.settings.get('ssl') ?? 'off'])
  if (session.prepared !== undefined && texts.some((text) => /pg_prepared_statements/i.test(text)))
    settings.push(['svc.prepared', JSON.stringify(session.prepared())])
  const set = settings.map(([name, value]) => `set_config(${quoteText(name)}, ${quoteText(value)}, true)`)
  return `begin read only; select ${set.join(', ')};
    set local session authorization ${quoteIdentifier(roleName(session.principal.sub))}`
}

/** Quotes a schema only where needed, as PostgreSQL prints it. */
function pathEntry(schema: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(schema) ? schema : quoteIdentifier(schema)
}

/** Ends the transaction and removes everything that the statement left, also prepared statements. */
export const endStatement = 'rollback; deallocate all'
