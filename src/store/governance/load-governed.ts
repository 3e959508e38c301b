/** Loads what governs reading tables together with the tenant's setting for tables without a contract. */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'
import { type Governances, governanceKey, governedBy } from './governance.ts'

/** In one round trip. @throws Fault as `loadGovernances` */
export async function loadGoverned(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
): Promise<Governances> {
  const text = 'select svc.governance($1) as governance'
  const [row] = await store.tenantQuery<{ governance: string | null }>(tenant, text, [governanceKey(tables)])
  return governedBy('', tables, row?.governance)
}
