/** What a statement is loaded by: the catalog's credential and what governs its tables, in one call of the store. */

import type { CatalogCredential } from '../core/catalog.ts'
import { isPathIdentifier, type TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { type CatalogCredentialRow, openCredential, toSealedCredential } from './catalog-credentials.ts'
import { type Governance, governanceKey, governancesOf } from './governance.ts'
import type { Store } from './store.ts'

export interface ReadCall {
  readonly credential: CatalogCredential
  /** By tableKey; without the tables that the graph does not know. */
  readonly governances: ReadonlyMap<string, Governance>
}

type Row = { readonly governance: string | null } & (CatalogCredentialRow | { readonly credential_id: null })

/**
 * Asks for both, anew.
 * @returns undefined where the tenant has no credential of this nickname
 * @throws Fault as readGovernances and the store do; `misconfigured` where the credential cannot be opened
 */
export async function loadRead(
  store: Store,
  tenant: TenantId,
  nickname: string,
  tables: readonly TableRef[],
): Promise<ReadCall | undefined> {
  if (!isPathIdentifier(nickname)) return undefined
  const [row] = await store.tenantCall<Row>(tenant, 'load_read', [nickname, governanceKey(tables)])
  const governances = governancesOf(tables, row?.governance)
  if (row === undefined || row.credential_id === null) return undefined
  return { credential: openCredential(store, tenant, toSealedCredential(row)), governances }
}
