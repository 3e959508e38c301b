/** Finds the table of a catalog that an operation on territory names. */

import { Fault } from '../../base/fault.ts'
import { catalogOf } from '../../core/catalog.ts'
import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { RootedOwner } from '../../storage/feed-territory.ts'
import { storageRoots } from '../../storage/roots.ts'
import { findCatalogCredential } from '../../store/catalog-credential/catalog-credentials.ts'
import type { Store } from '../../store/store.ts'
import type { TerritoryTable } from '../../store/territory/administer-territory.ts'

/**
 * The table, which need not exist, by its catalog's nickname.
 * @throws Fault `not_found` for an unknown nickname
 */
export async function territoryTable(
  store: Store,
  tenant: TenantId,
  nickname: string,
  table: TableRef,
): Promise<TerritoryTable & Pick<RootedOwner, 'roots'>> {
  const credential = await findCatalogCredential(store, tenant, nickname)
  if (credential === undefined) throw new Fault('not_found', 'The tenant has no such catalog.')
  const roots = storageRoots(credential.config)
  return { catalog: catalogOf(credential), credentialId: credential.id, roots, nickname, table }
}
