/**
 * Tells a client that a statement of its own is governed: which columns are masked and which tables filtered, never
 * what a filter compares with. Once for a statement and session, to clients that show notices to a person.
 */

import { tableName } from '../../core/table-ref.ts'
import type { AppliedProtection } from '../../query/compile/protect/protect.ts'
import type { PreparedQuery } from '../../query/query-service.ts'
import type { SessionState } from './session-state.ts'

/** Application names of clients in which a person types statements. Drivers of others fail or log at notices. */
const interactive =
  /^(?:psql|pgcli|usql|dbeaver|datagrip|intellij|pgadmin|tableplus|beekeeper|postico|navicat|harlequin)/i

/** Levels of `client_min_messages` at which a client hears no notice. */
const silent: ReadonlySet<string> = new Set(['warning', 'error'])

/** Statements that are kept of a session, each of which it hears of once. */
const toldMax = 1_000

/** Columns and tables that one notice names. */
const namedMax = 20

/** Whom to ask about a statement of which a notice may tell; undefined where nobody is named, or cannot be had now. */
export async function askedOf(
  session: SessionState,
  query: PreparedQuery<string>,
): Promise<string | undefined> {
  const { toldStatements } = session
  if (!mayTell(session, query) || toldStatements.has(String(Bun.hash(query.source)))) return undefined
  return await query.ask?.().catch(() => undefined)
}

function mayTell(session: SessionState, { protections = [] }: PreparedQuery<string>): boolean {
  return (
    protections.length > 0 &&
    session.toldStatements.size < toldMax &&
    wantsNotices(session) &&
    !silent.has(session.settings.get('client_min_messages'))
  )
}

/**
 * Sends the notice, where the session wants it and was not told of the statement.
 * @param ask whom to ask, in words
 */
export function tellGoverned(
  session: SessionState,
  query: PreparedQuery<string>,
  ask: string | undefined,
): void {
  const { source, protections = [] } = query
  const { toldStatements } = session
  if (!mayTell(session, query)) return
  const key = String(Bun.hash(source))
  if (toldStatements.has(key)) return
  const message = governedMessage(protections)
  if (message === undefined) return
  toldStatements.add(key)
  const tables = [...new Set(protections.map(({ table }) => tableName(table)))].slice(0, namedMax)
  const whom = ask ?? `Ask the stewards of ${tables.join(', ')}.`
  const how = query.howToAsk?.()
  const hint = `EXPLAIN shows what applies. ${whom}${how === undefined ? '' : ` ${how}`}`
  session.notice('NOTICE', '00000', message, hint)
}

function wantsNotices({ settings }: SessionState): boolean {
  const wanted = settings.get('svc.governance_notices')
  return wanted === 'on' || (wanted === 'auto' && interactive.test(settings.get('application_name')))
}

function governedMessage(protections: readonly AppliedProtection[]): string | undefined {
  const masked = protections
    .filter(({ kind }) => kind === 'column_mask')
    .map(({ table, column, action }) => `${tableName(table)}.${column} (${action})`)
  const filtered = protections
    .filter(({ kind }) => kind === 'row_filter')
    .map(({ table }) => tableName(table))
  const parts = [
    ...(masked.length > 0 ? [`masked for you: ${named(masked)}`] : []),
    ...(filtered.length > 0 ? [`rows are filtered for you: ${named(filtered)}`] : []),
  ]
  return parts.length > 0 ? parts.join('; ') : undefined
}

function named(all: readonly string[]): string {
  const distinct = [...new Set(all)]
  const rest = distinct.length - namedMax
  return `${distinct.slice(0, namedMax).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
