/** Says which revoked sessions are still to be looked at for files that they left, and records what was found. */

import type { TenantId } from '../../core/tenant.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'
import { vendedRetentionDays } from './vended-credentials.ts'

/** What a revoked session left. */
interface StagedCheck {
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
    `select s.session_id from (
         select session_id, revoked_at from svc.service_session where tenant_id = $1
         union all select session_id, revoked_at from svc.browser_session where tenant_id = $1) s,
       lateral (select max(v.expires_at) as ended_at from svc.vended_credential v
         where v.tenant_id = $1 and v.session_id = s.session_id and v.access = 'write') v
     where s.revoked_at > now() - $3::int * interval '1 day' and v.ended_at < now()
       and not exists (select from svc.staged_check c where c.tenant_id = $1 and c.session_id = s.session_id)
     order by v.ended_at limit $2::int`,
    // Its credentials are forgotten later, so a session that was revoked earlier has none.
    [tenant, count, vendedRetentionDays + 1],
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
