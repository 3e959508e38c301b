/**
 * A tenant's governance version: it rises with every change of what a read rests on (filters, masks, tags, contracts,
 * pins, catalog credentials, sessions, settings), in the transaction of the change. Triggers raise it.
 */

import { parseTenantId, type TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'

/**
 * Hears of versions that are raised, here or on another replica. What is raised while a connection is lost may never
 * be heard of; what this store's own transactions raise is heard of before they have returned.
 * @returns ends it
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

/** The tenant's version now; 0 where nothing has raised it yet. */
export async function readGovernanceVersion(store: Store, tenant: TenantId): Promise<bigint> {
  const [row] = await store.tenantQuery<{ readonly version: string }>(
    tenant,
    'select version from svc.governance_version where tenant_id = $1',
    [tenant],
    { readOnly: true },
  )
  return BigInt(row?.version ?? 0)
}
