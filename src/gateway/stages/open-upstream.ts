/** Steps 6 and 7 of SPEC 4.1: the tenant's credential for {prefix}, and the adapter for its kind. */

import { Fault } from '../../base/fault.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import type { TenantId } from '../../core/tenant.ts'
import { findCatalogCredential } from '../../store/catalog-credentials.ts'
import type { GatewayParts } from '../parts.ts'

export interface Upstream {
  readonly credential: CatalogCredential
  readonly catalog: Catalog
}

/**
 * @throws Fault `not_found` where the tenant has no credential of that name,
 *   `misconfigured` where its configuration cannot be decoded
 */
export async function openUpstream(parts: GatewayParts, tenant: TenantId, prefix: string): Promise<Upstream> {
  const credential = await findCatalogCredential(parts.store, tenant, prefix)
  if (credential === undefined)
    throw new Fault('not_found', `No catalog credential is registered under the prefix ${prefix}.`, {
      type: 'NoSuchWarehouseException',
    })
  return { credential, catalog: parts.catalogs.get(tenant, credential) }
}
