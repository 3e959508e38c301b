/**
 * Reads and watches a tenant's governance version. Triggers raise it in the transaction of every change that affects
 * reads: filters, masks, tags, contracts, pins, catalog credentials, sessions, settings.
 */

import { parseTenantId, type TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'

/**
 * Calls `onVersion` for versions raised by this or another replica. A version raised while a connection is lost may be
 * missed. A version that a transaction of this store raises is reported before the transaction returns.
 * @returns a function that ends the subscription
 */
export function subscribeToGovernanceVersions(
  store: Store,
  onVersion: (tenant: TenantId, version: bigint) => void,
): () => void {
  return store.subscribe((message) => {
    const [id = '', version = ''] = message.split(' ')
    const tenant = parseTenantId(id)
    if (tenant !== undefined && /^\d{1,19}$/.test(version)) onVersion(tenant, BigInt(version))
  })
}

/** The tenant's current version; 0 where nothing has raised it yet. */
export async function readGovernanceVersion(store: Store, tenant: TenantId): Promise<bigint> {
  const [row] = await store.tenantQuery<{ readonly version: string }>(
    tenant,
    'select version from svc.governance_version where tenant_id = $1',
    [tenant],
    { readOnly: true },
  )
  return BigInt(row?.version ?? 0)
}
