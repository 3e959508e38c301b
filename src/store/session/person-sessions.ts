/** Ends the browser sessions of people whose access has changed, in the transaction of the change. */

import type { Actor } from '../../core/administration.ts'
import type { Provisioning } from '../../core/provisioning.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Tx } from '../database/session.ts'
import { endWhere } from './end-where.ts'

/** Whom a session or a grant is for. */
export interface Holder {
  readonly principal_sub: string
  readonly principal_email: string | null
}

/**
 * Ends the live browser sessions of a tenant whose holder is meant, and records each. They are compared here, because
 * the database folds letters in another way.
 */
export async function endSessionsOf(
  tx: Tx,
  tenant: TenantId,
  isMeant: (holder: Holder) => boolean,
  by: Actor,
): Promise<void> {
  const rows = await tx.query<Holder & { readonly session_id: string }>(
    `select session_id, principal_sub, principal_email from svc.browser_session
     where tenant_id = $1 and revoked_at is null and expires_at > clock_timestamp()`,
    [tenant],
  )
  const ids = rows.filter(isMeant).map(({ session_id: id }) => id)
  if (ids.length === 0) return
  const isListed = 'session_id in (select jsonb_array_elements_text($2::text::jsonb)::uuid)'
  await endWhere(tx, by, 'browser', `tenant_id = $1 and ${isListed}`, [tenant, JSON.stringify(ids)])
}

/** Whether the holder of a session is one of the people with these keys, by the tenant's settings. */
export function isOneOf(
  { claim, attribute }: Provisioning,
  keys: ReadonlySet<string>,
): (holder: Holder) => boolean {
  return ({ principal_sub: sub, principal_email: email }) => {
    const text = claim === 'sub' ? sub : email
    return text !== null && keys.has(attribute === 'externalId' ? text : text.toLowerCase())
  }
}
