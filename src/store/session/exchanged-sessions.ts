/** Makes the sessions for which workloads exchange their tokens. They have no secret, and end by themselves. */

import { randomBytes } from 'node:crypto'
import type { Actor } from '../../core/administration.ts'
import type { Session } from '../../core/session.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { Store } from '../store.ts'
import { type SessionRow, toSession } from './sessions.ts'
import type { StoredTrust } from './workload-trusts.ts'

/** The workload whose token was verified. */
interface Workload {
  readonly issuer: string
  readonly sub: string
  readonly requestId: string
}

/**
 * Makes a session by a trust, which must not have changed since the token was verified. It also removes some exchanged
 * sessions that ended more than a week ago.
 * @returns undefined where the trust has changed, or its tenant is suspended
 */
export async function exchangeForSession(
  store: Store,
  trust: StoredTrust,
  { issuer, sub, requestId }: Workload,
  lifeMs: number,
): Promise<Session | undefined> {
  const by: Actor = { sub, roles: [], source: 'exchange', requestId }
  const { tenant, id: trustId, version, name } = trust
  await store.adminQuery(
    `delete from svc.service_session where (tenant_id, session_id) in
       (select tenant_id, session_id from svc.service_session
        where trust_id is not null and expires_at < now() - interval '7 days' limit 100 for update skip locked)`,
  )
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<SessionRow>(
      `with trust as (
         select w.*, t.organization_id, t.issuers_version from svc.workload_trust w join svc.tenant t using (tenant_id)
         where w.tenant_id = $1 and w.trust_id = $2 and w.version = $3::bigint and t.state = 'active'
         for share of w),
       made as (
         insert into svc.service_session (tenant_id, session_id, secret_sha256, name, principal_sub, principal_roles,
           scopes, expires_at, created_by, trust_id)
         select tenant_id, $4::uuid, $5, name, principal_sub, principal_roles, scopes,
           now() + $6::float8 * interval '1 ms', $7::text::jsonb, trust_id
         from trust returning tenant_id, session_id, principal_sub, principal_email, principal_roles, scopes,
           expires_at)
       select made.*, trust.organization_id, trust.issuers_version from made join trust using (tenant_id)`,
      [
        ...[tenant, trustId, String(version), crypto.randomUUID()],
        // Of a secret that nobody has.
        randomBytes(32),
        lifeMs,
        storableJson({ ...by, sub: storableText(sub) }),
      ],
    )
    if (row === undefined) return undefined
    const session = toSession(row, 'service')
    const subject = { session: session.sessionId, trust: trustId, name }
    const value = { ...session.principal, scopes: session.scopes, expires_at: row.expires_at, issuer }
    await recordAdministration(tx, by, { action: 'exchange-session', subject, value })
    return session
  })
}
