/**
 * Finds the tenant's catalog credential of a prefix, and the adapter for its kind (steps 6 and 7 of
 * docs/reference/gateway.md 2.1).
 */

import { Fault } from '../../base/fault.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import type { Session } from '../../core/session.ts'
import { findCatalogCredential, openCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'

/**
 * Opens the tenant's upstream of a prefix.
 * @throws Fault `not_found` if the tenant has no credential with this prefix,
 *   `misconfigured` if its configuration cannot be decoded
 */
export async function openUpstream(parts: GatewayParts, session: Session, prefix: string): Promise<Upstream> {
  const { tenant } = session
  const credential = await credentialOf(parts, session, prefix)
  if (credential === undefined)
    throw new Fault('not_found', `No catalog credential is registered under the prefix ${prefix}.`, {
      type: 'NoSuchWarehouseException',
    })
  return { credential, catalog: parts.catalogs.get(tenant, credential) }
}

async function credentialOf(
  { store }: GatewayParts,
  { tenant, registered }: Session,
  prefix: string,
): Promise<CatalogCredential | undefined> {
  if (registered?.prefix !== prefix) return await findCatalogCredential(store, tenant, prefix)
  return registered.credential && openCredential(store, tenant, registered.credential)
}
