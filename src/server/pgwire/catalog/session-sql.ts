/** The statements around a client's: they make the database show the session's own values, and only those. */

import { quoteIdentifier, quoteText } from '../../../base/sql-text.ts'
import type { CatalogSession } from '../catalog-service.ts'
import { readerOid } from './shadow-ddl.ts'
import { isSayable } from './shadow-table.ts'

/**
 * Settings of the session that what is shown depends on. Not those that change how a text is read: the
 * statement was checked as the parser reads it by default.
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
  /** RFC 3339, as all times here. */
  readonly backend_start: string
  readonly query_start: string | null
  readonly state: 'active' | 'idle' | 'idle in transaction'
  readonly query: string
  readonly ssl: boolean
  /** Protocol and cipher, where it is encrypted. */
  readonly version: string | null
  readonly cipher: string | null
}

const reservedRole = /^(?:pg_.*|public|none|)$/

/**
 * The name of the role as which a principal is shown: cut to what a name of PostgreSQL holds.
 * @throws RangeError for a subject that PostgreSQL keeps for itself or cannot hold
 */
export function roleName(subject: string): string {
  if (reservedRole.test(subject) || subject.includes('\0') || !subject.isWellFormed())
    throw new RangeError('PostgreSQL has no role of this name')
  let name = subject
  while (!isSayable(name)) name = [...name].slice(0, -1).join('')
  return name
}

/** Gives the reader the principal's name; the owner of all that is shown makes room for it. */
export function renameReader(role: string): string {
  const owner = role === ownerName ? `${ownerName} (owner)` : ownerName
  return `update pg_authid set rolname = 'reader' where oid = ${readerOid};
    update pg_authid set rolname = ${quoteText(owner)} where oid = 10;
    update pg_authid set rolname = ${quoteText(role)} where oid = ${readerOid}`
}

/** Begins the transaction of one statement. */
export function beginStatement(session: CatalogSession, activity: readonly ActivityRow[]): string {
  const settings: [string, string][] = [...session.settings].filter(([name]) =>
    shownSettings.has(name.toLowerCase()),
  )
  // Named later in the path, pg_catalog would come after tables that were not looked for.
  const schemas = session.searchPath.filter((schema, index) => schema !== 'pg_catalog' || index === 0)
  const path = schemas.map(pathEntry).join(', ')
  settings.push(['search_path', path || '""'])
  settings.push(['svc.pid', String(session.backendPid)], ['svc.activity', JSON.stringify(activity)])
  const set = settings.map(([name, value]) => `set_config(${quoteText(name)}, ${quoteText(value)}, true)`)
  return `begin read only; select ${set.join(', ')};
    set local session authorization ${quoteIdentifier(roleName(session.principal.sub))}`
}

/** As PostgreSQL prints it: quoted only where it must be. */
function pathEntry(schema: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(schema) ? schema : quoteIdentifier(schema)
}

/** Ends it; nothing of the statement stays, prepared names neither. */
export const endStatement = 'rollback; deallocate all'
