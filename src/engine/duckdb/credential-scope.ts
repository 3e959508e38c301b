/** Derives from a tenant's catalog credential what the embedded engine may read. */

import type { AddressRules } from '../../catalog/address.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storageAccess } from '../../storage/access.ts'
import { unreadable } from '../engine-error.ts'
import type { DuckdbScope } from './duckdb-host.ts'

/**
 * The scope of a credential. Every version of the credential has its own scope, which shares no cached file.
 * @throws EngineError 08006 or 58030 where its storage endpoint cannot or may not be reached
 */
export async function credentialScope(
  tenant: TenantId,
  credential: CatalogCredential,
  rules: AddressRules,
): Promise<DuckdbScope> {
  try {
    const access = await storageAccess(credential, rules)
    return { tenant, key: JSON.stringify([tenant, credential.id, credential.version]), access }
  } catch (thrown) {
    throw unreadable(thrown)
  }
}
