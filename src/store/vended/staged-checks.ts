/** Says which revoked sessions are still to be looked at for files that they left, and records what was found. */

import type { TenantId } from '../../core/tenant.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'

/** What a revoked session left. */
export interface StagedCheck {
  readonly sessionId: string
  readonly files: number
  readonly bytes: number
  /** Whether all of its tables were listed to the end. */
  readonly complete: boolean
}

/** Sessions that were revoked, could write, hold nothing any more and were not looked at, oldest first. */
export async function dueStagedChecks(
  store: Store,
  tenant: TenantId,
  count: number,
): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ readonly session_id: string }>(
    tenant,
    `select v.session_id from svc.vended_credential v
     where v.tenant_id = $1 and v.access = 'write'
       and not exists (select from svc.staged_check c where c.tenant_id = v.tenant_id and c.session_id = v.session_id)
       and exists (
         select from svc.service_session s
           where s.tenant_id = v.tenant_id and s.session_id = v.session_id and s.revoked_at is not null
         union all select from svc.browser_session s
           where s.tenant_id = v.tenant_id and s.session_id = v.session_id and s.revoked_at is not null)
     group by v.session_id having max(v.expires_at) < clock_timestamp()
     order by max(v.expires_at) limit $2::int`,
    [tenant, count],
  )
  return rows.map((row) => row.session_id)
}

/**
 * Records what a session left, with an event where it is something.
 * @returns false where that was recorded before
 */
export async function recordStagedCheck(
  store: Store,
  tenant: TenantId,
  check: StagedCheck,
): Promise<boolean> {
  const { sessionId, files, bytes, complete } = check
  return await store.tenantTransaction(tenant, async (tx) => {
    const rows = await tx.query(
      `insert into svc.staged_check (tenant_id, session_id, files, bytes, complete) values ($1, $2, $3, $4, $5)
       on conflict (tenant_id, session_id) do nothing returning 1`,
      [tenant, sessionId, files, bytes, complete],
    )
    if (rows.length === 0) return false
    if (files > 0 || !complete)
      await appendEvent(tx, {
        type: 'session.files_left',
        subject: sessionId,
        data: { files, bytes, complete },
      })
    return true
  })
}
