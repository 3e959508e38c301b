/** Stores a tenant's wrapped key and the versions of its scopes. It never sees a key that is not wrapped. */

import type { TenantId } from '../../core/tenant.ts'
import type { Tx } from '../database/session.ts'
import type { RunQuery } from '../governance/governance.ts'
import type { Store } from '../store.ts'

interface WrappedTenantKey {
  readonly provider: string
  readonly wrapped: Uint8Array
}

/** The tenant's key; undefined where it has none yet. */
export async function findTenantKey(store: Store, tenant: TenantId): Promise<WrappedTenantKey | undefined> {
  const [row] = await store.tenantQuery<{ readonly provider: string; readonly wrapped: Uint8Array }>(
    tenant,
    'select provider, wrapped from svc.transform_tenant_key where tenant_id = $1',
    [tenant],
  )
  return row
}

/** Stores the tenant's first key. @returns the key that is stored, which may be another's that came first */
export async function addTenantKey(
  store: Store,
  tenant: TenantId,
  { provider, wrapped }: WrappedTenantKey,
): Promise<WrappedTenantKey> {
  return await store.tenantTransaction(tenant, async (tx) => {
    await tx.query(
      `insert into svc.transform_tenant_key (tenant_id, provider, wrapped) values ($1, $2, $3)
       on conflict (tenant_id) do nothing`,
      [tenant, provider, wrapped],
    )
    const [row] = await tx.query<{ readonly provider: string; readonly wrapped: Uint8Array }>(
      'select provider, wrapped from svc.transform_tenant_key where tenant_id = $1',
      [tenant],
    )
    return row ?? { provider, wrapped }
  })
}

/** The present versions of the tenant's scopes; a scope without one is at version 1. */
export async function scopeVersions(run: RunQuery, tenant: TenantId): Promise<ReadonlyMap<string, number>> {
  const rows = await run<{ readonly scope: string; readonly version: number }>(
    'select scope, max(version) as version from svc.transform_scope_version where tenant_id = $1 group by scope',
    [tenant],
  )
  return new Map(rows.map(({ scope, version }) => [scope, version]))
}

/** Of each scope, the first version whose key there is, where a tenant key was lost; the others have all from version 1. */
export async function firstVersions(run: RunQuery, tenant: TenantId): Promise<ReadonlyMap<string, number>> {
  const rows = await run<{ readonly scope: string; readonly version: number }>(
    `select scope, max(version) as version from svc.transform_scope_version
     where tenant_id = $1 and begins group by scope`,
    [tenant],
  )
  return new Map(rows.map(({ scope, version }) => [scope, version]))
}

/** Begins the next version of a scope. @returns its number */
export async function addScopeVersion(tx: Tx, tenant: TenantId, scope: string): Promise<number> {
  const [row] = await tx.query<{ readonly version: number }>(
    `insert into svc.transform_scope_version (tenant_id, scope, version)
     select $1, $2, coalesce(max(version), 1) + 1 from svc.transform_scope_version
     where tenant_id = $1 and scope = $2 returning version`,
    [tenant, scope],
  )
  return row?.version ?? 0
}
