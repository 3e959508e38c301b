/**
 * Tells trusted engines which rows and columns of a table they must hide (`read-restrictions` of the Iceberg REST API).
 * That relaxes nothing: such a table's credentials, signatures, plans and row counts stay withheld from them, too.
 */

import { createHash } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import { stringifyJson } from '../../base/json.ts'
import { type TableRef, tableName } from '../../core/table-ref.ts'
import { isTrustedEngine } from '../../store/session/trusted-engines.ts'
import { joinMembers, topLevelMembers } from '../../wire/iceberg/members.ts'
import { restrictionsJson, restrictionsMember } from '../../wire/iceberg/read-restrictions.ts'
import { jsonResponse, type SurfaceRequest } from './surface-request.ts'

/** Where a table can be read that is withheld. Completes a sentence. */
export const readBySql = 'Read it by SQL through this service, which applies them.'

/** Whether an administrator marked the session as one of an engine that applies restrictions. */
export async function isTrusted({ parts, tenant, session }: SurfaceRequest): Promise<boolean> {
  return session.kind === 'service' && (await isTrustedEngine(parts.store, tenant, session.sessionId))
}

/**
 * The response to a load by a trusted engine. Its ETag is of what this principal is told now.
 * @param loaded the upstream's reply
 * @param disclosed what a caller without that trust would be sent
 * @throws Fault `policy_denied` where the restrictions cannot be told exactly
 */
export async function restrictedTable(
  { parts, tenant, session, identified, request }: SurfaceRequest,
  table: TableRef,
  loaded: Uint8Array,
  disclosed: Uint8Array,
): Promise<Response> {
  if (!identified.verified)
    throw withheld(table, 'row filters or column masks for a principal that is not verified')
  // Without a token of a person, the engine reads for its own subject, as in SQL.
  const principal = identified.source === 'session' ? session.principal : identified.principal
  const told = await parts.restrictionsFor(tenant, table, principal, loaded)
  if ('untold' in told) throw withheld(table, told.untold)
  const members = new Map(topLevelMembers(disclosed))
  const json = restrictionsJson(told)
  if (json !== undefined) members.set(restrictionsMember, Buffer.from(stringifyJson(json)))
  const body = joinMembers(members)
  const who = JSON.stringify([tenant, principal.sub, [...principal.roles].sort()])
  const etag = `"restricted-${createHash('sha256').update(who).update('\0').update(body).digest('hex')}"`
  const headers = { etag, 'cache-control': 'private, no-cache' }
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers })
  return jsonResponse(200, body, headers)
}

/**
 * Refuses a creation or registration under filters or masks to a trusted engine: the reply could not tell them before
 * the change is made, and without them the engine would take the table for an open one.
 * @throws Fault `policy_denied`
 */
export async function assertNotTrusted(surface: SurfaceRequest, table: TableRef): Promise<void> {
  if (!(await isTrusted(surface))) return
  throw new Fault(
    'policy_denied',
    `policy denied: row filters or column masks of ${tableName(table)} apply, and a trusted engine is told them only when it loads a table. Create it by another session`,
  )
}

function withheld(table: TableRef, what: string): Fault {
  const message = `policy denied: ${tableName(table)} has ${what}, which cannot be told to an engine. ${readBySql}`
  return new Fault('policy_denied', message)
}
