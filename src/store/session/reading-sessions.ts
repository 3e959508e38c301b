/** Lists the service sessions that may read now. It tells nothing of what they see. */

import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { afterUuid } from '../database/page.ts'
import type { Store } from '../store.ts'
import { toPrincipal } from './sessions.ts'

/** A service session that is valid and has the scope `read`. */
interface ReadingSession {
  readonly id: string
  readonly name: string
  readonly principal: Principal
  readonly createdAt: Date
  /** Undefined: it is valid until it is revoked. */
  readonly expiresAt: Date | undefined
}

/** The tenant's sessions by id. @param count at most so many @throws Fault `bad_request` for a bad place */
export async function listReadingSessions(
  store: Store,
  tenant: TenantId,
  { nowMs, after, count }: { readonly nowMs: number; readonly after?: string; readonly count: number },
): Promise<readonly ReadingSession[]> {
  const rows = await store.tenantQuery<
    Parameters<typeof toPrincipal>[0] & {
      readonly session_id: string
      readonly name: string
      readonly created_at: Date
      readonly expires_at: Date | null
    }
  >(
    tenant,
    `select session_id, name, principal_sub, principal_email, principal_roles, created_at, expires_at
     from svc.service_session where tenant_id = $1 and session_id > $2 and revoked_at is null
       and (expires_at is null or expires_at > $3::timestamptz) and jsonb_exists(scopes, 'read')
     order by session_id limit $4::int`,
    [tenant, afterUuid({ after }), new Date(nowMs), count],
    { readOnly: true },
  )
  return rows.map((row) => ({
    ...{ id: row.session_id, name: row.name, principal: toPrincipal(row) },
    ...{ createdAt: row.created_at, expiresAt: row.expires_at ?? undefined },
  }))
}
