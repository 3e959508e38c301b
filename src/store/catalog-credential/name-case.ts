/** Records whether a catalog folds names, once it was asked, so that it is not asked again, and lists what is known. */

import { type CatalogCredential, catalogOf } from '../../core/catalog.ts'
import { type NameCase, nameCaseFound, nameCaseSetting } from '../../core/name-case.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'

/** What is known of the names of all catalogs of all tenants. At most 1,000. */
export async function listNameCases(
  store: Store,
): Promise<readonly (Pick<CatalogCredential, 'nickname' | 'config'> & { readonly tenant: TenantId })[]> {
  return await store.adminQuery(
    `select tenant_id as tenant, nickname, jsonb_strip_nulls(jsonb_build_object($1::text, config -> $1, $2::text, config -> $2)) as config
     from svc.catalog_credential order by tenant_id, nickname collate "C" limit 1000`,
    [nameCaseSetting, nameCaseFound],
  )
}

/** Whether the tenant has catalogs, and all of them fold names, so that a table has one name whatever its catalog. */
export async function foldsAllNames(store: Store, tenant: TenantId): Promise<boolean> {
  const [row] = await store.tenantQuery<{ readonly folds: boolean }>(
    tenant,
    `select svc.folds_all_names() and exists (select from svc.catalog_credential where tenant_id = $1) as folds`,
    [tenant],
  )
  return row?.folds === true
}

/** Gives the territory of a catalog that folds names to names in lower case. @throws Fault of the store */
export async function foldTerritory(
  store: Store,
  tenant: TenantId,
  credential: Parameters<typeof catalogOf>[0],
): Promise<void> {
  await store.tenantQuery(tenant, 'select svc.fold_territory($1)', [catalogOf(credential)])
}

/** Keeps what was found of the catalog of a credential, unless the credential has changed meanwhile. */
export async function recordNameCase(
  store: Store,
  tenant: TenantId,
  credential: CatalogCredential,
  found: Exclude<NameCase, 'unknown'>,
): Promise<void> {
  const { id, version } = credential
  // Before, so that a failure leaves the catalog to be asked again.
  if (found === 'folded') await foldTerritory(store, tenant, credential)
  // The version rises, so that no cache outlives the answer.
  await store.adminQuery(
    `update svc.catalog_credential set config = config || jsonb_build_object($4::text, $5::boolean), version = version + 1
     where tenant_id = $1 and credential_id = $2 and version = $3`,
    [tenant, id, version, nameCaseFound, found === 'exact'],
  )
}
