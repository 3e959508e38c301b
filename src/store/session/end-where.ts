/** Revokes sessions that an identity provider ends, and records each in the administration log. */

import type { Actor } from '../../core/administration.ts'
import type { SessionKind } from '../../core/session.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import type { Tx } from '../database/session.ts'

/** Revokes the sessions of one kind for which a condition holds, in all tenants, and records each. */
export async function endWhere(
  tx: Tx,
  by: Actor,
  kind: SessionKind,
  condition: string,
  params: readonly string[],
): Promise<void> {
  const ended = await tx.query<EndedRow>(
    `update svc.${kind}_session set revoked_at = now() where revoked_at is null and ${condition}
     returning tenant_id, session_id, principal_sub`,
    params,
  )
  for (const { tenant_id: tenant, session_id: session, principal_sub: sub } of ended)
    await recordAdministration(tx, by, { action: 'revoke-session', subject: { session, kind, sub } }, tenant)
}

interface EndedRow {
  readonly tenant_id: TenantId
  readonly session_id: string
  readonly principal_sub: string
}
