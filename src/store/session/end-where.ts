/** Revokes sessions for which a condition holds, or all of a kind, and records each in the administration log. */

import type { Actor } from '../../core/administration.ts'
import type { SessionKind } from '../../core/session.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Sessions that one transaction ends where all do. */
const pageSize = 100
const isLive = '(expires_at is null or expires_at > clock_timestamp())'

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

/** Revokes every session of one kind that has not expired, in all tenants, a page in a transaction, and records each. */
export async function endEvery(store: Store, by: Actor, kind: SessionKind): Promise<void> {
  let after: readonly [string, string] | undefined = [leastId, leastId]
  while (after !== undefined) {
    const from: readonly [string, string] = after
    after = await store.adminTransaction(async (tx) => {
      const page = await tx.query<Pick<EndedRow, 'tenant_id' | 'session_id'>>(
        `select tenant_id, session_id from svc.${kind}_session
         where (tenant_id, session_id) > ($1::uuid, $2::uuid) and revoked_at is null and ${isLive}
         order by tenant_id, session_id limit ${pageSize}`,
        from,
      )
      const last = page.at(-1)
      if (last === undefined) return undefined
      const to = [last.tenant_id, last.session_id] as const
      const isInPage = `(tenant_id, session_id) > ($1::uuid, $2::uuid) and (tenant_id, session_id) <= ($3::uuid, $4::uuid)`
      await endWhere(tx, by, kind, `${isInPage} and ${isLive}`, [...from, ...to])
      return to
    })
  }
}

const leastId = '00000000-0000-0000-0000-000000000000'

interface EndedRow {
  readonly tenant_id: TenantId
  readonly session_id: string
  readonly principal_sub: string
}
