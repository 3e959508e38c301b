/**
 * Keeps which service sessions belong to engines that apply Iceberg's `read-restrictions` themselves. That is an
 * administrator's word: nothing here can check it.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { isUuid } from '../database/page.ts'
import type { Store } from '../store.ts'

/**
 * Marks a service session that has not been revoked, or takes the mark away, and records who did.
 * @throws Fault `not_found`
 */
export async function putTrustedEngine(
  store: Store,
  tenant: TenantId,
  sessionId: string,
  isTrusted: boolean,
  by: Actor,
): Promise<void> {
  const none = new Fault('not_found', 'There is no such service session, or it was revoked.')
  if (!isUuid(sessionId)) throw none
  await store.tenantTransaction(tenant, async (tx) => {
    const [marked] = await tx.query<{ readonly principal_sub: string }>(
      `update svc.service_session set trusted_engine = $3
       where tenant_id = $1 and session_id = $2 and revoked_at is null returning principal_sub`,
      [tenant, sessionId, isTrusted],
    )
    if (marked === undefined) throw none
    await recordAdministration(tx, by, {
      action: 'put-trusted-engine',
      subject: { session: sessionId, sub: marked.principal_sub },
      value: { trusted_engine: isTrusted },
    })
  })
}

/** Whether a valid service session is marked. */
export async function isTrustedEngine(store: Store, tenant: TenantId, sessionId: string): Promise<boolean> {
  const rows = await store.tenantQuery(
    tenant,
    `select 1 as found from svc.service_session where tenant_id = $1 and session_id = $2 and trusted_engine
       and revoked_at is null`,
    [tenant, sessionId],
  )
  return rows.length > 0
}
