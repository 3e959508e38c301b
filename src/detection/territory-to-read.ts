/** Says where a scan may read: in the territory of the table. */

import { type CatalogCredential, catalogOf } from '../core/catalog.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import type { Territory } from '../core/territory.ts'
import { territoryOf } from '../core/territory-owner.ts'
import { loadWriteGovernance } from '../store/policy/policies.ts'
import type { Store } from '../store/store.ts'

/** Undefined where the index does not know the table's territory yet. */
export async function territoryToRead(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  credential: CatalogCredential,
): Promise<Territory | undefined> {
  const { territory } = await loadWriteGovernance(store, tenant, table)
  const own = territoryOf(territory, { catalog: catalogOf(credential), table, tableUuid: undefined })
  return own.prefixes.length === 0 ? undefined : own
}
