/**
 * Gives up a tenant's transform key that no secrets key opens. The next plan makes another one. Every scope begins a new
 * version, so that no value of before passes for one of the new key, and no key of before is handed out.
 */

import type { TenantId } from '../../core/tenant.ts'
import type { Tx } from '../database/session.ts'

/** What went with the key. */
interface LostWithKey {
  /** Scopes that began a new version. */
  readonly scopes: number
  /** Subjects whose keys it had wrapped. */
  readonly subjects: number
  /** Reveal rules of FF1, whose values would open to others. */
  readonly reveals: number
}

/** Removes the key with what depends on it, in an admin transaction. */
export async function loseTenantKey(tx: Tx, tenant: TenantId): Promise<LostWithKey> {
  await tx.query('delete from svc.transform_tenant_key where tenant_id = $1', [tenant])
  const scopes = await tx.query(
    `insert into svc.transform_scope_version (tenant_id, scope, version, begins)
     select $1::uuid, s.scope, coalesce(max(v.version), 1) + 1, true
     from (
       select scope from svc.transform_scope_version where tenant_id = $1
       union select coalesce(definition ->> 'scope', tag) from svc.transform_rule where tenant_id = $1
       union select definition ->> 'scope' from svc.transform_reveal where tenant_id = $1) s
       left join svc.transform_scope_version v on v.tenant_id = $1 and v.scope = s.scope
     where s.scope <> '' group by s.scope returning 1`,
    [tenant],
  )
  const subjects = await tx.query(
    'delete from svc.transform_subject_key where tenant_id = $1 and sid is not null returning 1',
    [tenant],
  )
  const reveals = await tx.query(
    `delete from svc.transform_reveal where tenant_id = $1 and definition ->> 'method' = 'ff1' returning 1`,
    [tenant],
  )
  return { scopes: scopes.length, subjects: subjects.length, reveals: reveals.length }
}
