/**
 * What a statement is loaded by, in one call of the store: the catalog's credential, what governs its tables, and
 * whether the session counts that it is asked for.
 */

import type { CatalogCredential, SealedCatalogCredential } from '../../core/catalog.ts'
import { isPathIdentifier, type TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  type CatalogCredentialRow,
  openCredential,
  toSealedCredential,
} from '../catalog-credential/catalog-credentials.ts'
import type { Store } from '../store.ts'
import { type Governance, governanceKey, governancesOf } from './governance.ts'

export interface ReadCall {
  readonly credential: CatalogCredential
  /** By tableKey; without the tables that the graph does not know. */
  readonly governances: ReadonlyMap<string, Governance>
  /** Of the session that was asked about: whether it is one of the tenant's that counts and may read. */
  readonly isSessionValid: boolean | undefined
  /** The tenant's governance version at that moment. */
  readonly governanceVersion: bigint
}

type Row = {
  readonly governance: string | null
  readonly session_counts: boolean | null
  readonly governance_version: string
} & (CatalogCredentialRow | { readonly credential_id: null })

export interface ReadCallOptions {
  /** A service session's, where it is to be asked about. */
  readonly sessionId?: string | undefined
  /** The tenant's credential of this nickname as it was: the very same object is given where it is as it was. */
  readonly before?: CatalogCredential | undefined
}

/** What credentials were opened from. */
const sealedOf = new WeakMap<CatalogCredential, SealedCatalogCredential>()

/**
 * Asks for all of it, anew.
 * @returns undefined where the tenant has no credential of this nickname
 * @throws Fault as readGovernances and the store do; `misconfigured` where the credential cannot be opened
 */
export async function loadRead(
  store: Store,
  tenant: TenantId,
  nickname: string,
  tables: readonly TableRef[],
  { sessionId, before }: ReadCallOptions = {},
): Promise<ReadCall | undefined> {
  if (!isPathIdentifier(nickname)) return undefined
  const asked = [nickname, governanceKey(tables), sessionId ?? null]
  const [row] = await store.tenantCall<Row>(tenant, 'load_read', asked)
  const governances = governancesOf(tenant, tables, row?.governance)
  if (row === undefined || row.credential_id === null) return undefined
  const sealed = toSealedCredential(row)
  const isAsBefore = before !== undefined && Bun.deepEquals(sealedOf.get(before), sealed, true)
  const credential = isAsBefore ? before : openCredential(store, tenant, sealed)
  sealedOf.set(credential, sealed)
  return {
    credential,
    governances,
    isSessionValid: row.session_counts ?? undefined,
    governanceVersion: BigInt(row.governance_version),
  }
}
