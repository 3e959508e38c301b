/**
 * Loads a statement in one call of the store: the catalog's credential, what governs its tables, their territory, and
 * whether the session is still valid.
 */

import type { CatalogCredential, SealedCatalogCredential } from '../../core/catalog.ts'
import type { Governance } from '../../core/governance.ts'
import { isPathIdentifier, type TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { TerritoryFound } from '../../core/territory-owner.ts'
import {
  type CatalogCredentialRow,
  openCredential,
  toSealedCredential,
} from '../catalog-credential/catalog-credentials.ts'
import type { Store } from '../store.ts'
import { readTerritory } from '../territory/territory-rows.ts'
import { governanceKey, governancesOf } from './governance.ts'

export interface ReadCall {
  readonly credential: CatalogCredential
  /** By tableKey, without tables that are not in the graph. */
  readonly governances: ReadonlyMap<string, Governance>
  /** Whether the given session is the tenant's, is valid and may read. Undefined where none was given. */
  readonly isSessionValid: boolean | undefined
  /** The tenant's governance version in the same snapshot of the database. */
  readonly governanceVersion: bigint
  /** The rows of all these tables in the territory index, for `territoryOf`. */
  readonly territory: TerritoryFound
}

type Row = {
  readonly governance: string | null
  readonly session_counts: boolean | null
  readonly governance_version: string
  readonly territory: string | null
} & (CatalogCredentialRow | { readonly credential_id: null })

interface ReadCallOptions {
  /** A service session to check. */
  readonly sessionId?: string | undefined
  /** The result of an earlier load. The same object is returned where the credential is unchanged. */
  readonly before?: CatalogCredential | undefined
}

/** The sealed form of each opened credential. */
const sealedOf = new WeakMap<CatalogCredential, SealedCatalogCredential>()

/**
 * Loads a statement's credential and governance. Every call asks the database.
 * @returns undefined where the tenant has no credential of this nickname
 * @throws Fault of readGovernances and the store; `misconfigured` where the credential cannot be opened
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
  const isUnchanged = before !== undefined && Bun.deepEquals(sealedOf.get(before), sealed, true)
  const credential = isUnchanged ? before : openCredential(store, tenant, sealed)
  sealedOf.set(credential, sealed)
  return {
    credential,
    governances,
    isSessionValid: row.session_counts ?? undefined,
    governanceVersion: BigInt(row.governance_version),
    territory: readTerritory(row.territory),
  }
}
