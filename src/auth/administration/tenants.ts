/** Makes, lists and changes tenants and their catalog credentials for administrators. No response holds a secret. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import { type CatalogKind, isLiveCatalogKind } from '../../core/catalog-kinds.ts'
import { parseTenantId, type TenantId } from '../../core/tenant.ts'
import { checkCatalogSettings } from '../../engine/check-credential.ts'
import { pageView } from '../../http/page-view.ts'
import type { Licensed } from '../../license/licensed.ts'
import {
  type ListedCatalogCredential,
  listCatalogCredentials,
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../store/catalog-credential/catalog-credentials.ts'
import type { PageRequest } from '../../store/database/page.ts'
import type { Store } from '../../store/store.ts'
import {
  createTenant,
  getTenant,
  listTenants,
  resumeTenant,
  suspendTenant,
  type Tenant,
} from '../../store/tenant/tenants.ts'

const noTenant = () => new Fault('not_found', 'There is no such tenant.')
const noCredential = () => new Fault('not_found', 'The tenant has no catalog credential of this nickname.')

/**
 * The tenant id in a path; does not check that the tenant exists.
 * @throws Fault `not_found` for text that is no tenant id
 */
export function tenantOf(text: string): TenantId {
  const tenant = parseTenantId(text)
  if (tenant === undefined) throw noTenant()
  return tenant
}

/**
 * The tenant id in a path, of a tenant that exists.
 * @throws Fault `not_found`
 */
export async function existingTenant(store: Store, text: string): Promise<TenantId> {
  const tenant = tenantOf(text)
  if ((await getTenant(store, tenant)) === undefined) throw noTenant()
  return tenant
}

/** Makes a tenant with its schema and graph. */
export async function newTenant(
  store: Store,
  licensed: Licensed,
  wanted: Parameters<typeof createTenant>[1],
  by: Actor,
) {
  return tenantView(await createTenant(store, wanted, licensed.requireRoomForTenant, by))
}

/** All tenants, in pages. */
export async function everyTenant(store: Store, page: PageRequest) {
  return pageView(await listTenants(store, page), tenantView)
}

/** One tenant. @throws Fault `not_found` */
export async function oneTenant(store: Store, tenant: TenantId) {
  const found = await getTenant(store, tenant)
  if (found === undefined) throw noTenant()
  return tenantView(found)
}

/** Suspends or resumes a tenant. The sessions of a suspended tenant are refused on their next request. */
export async function setTenantState(store: Store, tenant: TenantId, state: Tenant['state'], by: Actor) {
  const change = state === 'active' ? resumeTenant : suspendTenant
  if (!(await change(store, tenant, by))) throw noTenant()
  return await oneTenant(store, tenant)
}

/** A tenant's catalog credentials without secrets, in pages. */
export async function everyCredential(store: Store, tenant: TenantId, page: PageRequest) {
  return pageView(await listCatalogCredentials(store, tenant, page), credentialView)
}

/** Stores the catalog credential of this nickname, or replaces it. */
export async function putCredential(
  store: Store,
  tenant: TenantId,
  credential: {
    readonly nickname: string
    readonly kind: CatalogKind
    readonly endpoint: string
    readonly config: Readonly<Record<string, unknown>>
  },
  by: Actor,
) {
  assertLive(credential.kind)
  checkCatalogSettings(credential)
  return await putCatalogCredential(store, tenant, credential, by)
}

/** Refuses kinds without an adapter (docs/reference/catalogs.md 2.2), because a stored one would stop the next start. */
function assertLive(kind: CatalogKind): void {
  if (!isLiveCatalogKind(kind))
    throw new Fault('unprocessable', `The catalog kind ${kind} has no adapter yet.`)
}

/** Changes fields of a credential's configuration, for example to rotate a secret; null removes a field. */
export async function rotateCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
  config: Readonly<Record<string, unknown>>,
  by: Actor,
) {
  const changes = Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, value === null ? undefined : value]),
  )
  const version = await rotateCatalogCredential(store, tenant, nickname, changes, checkCatalogSettings, by)
  if (version === undefined) throw noCredential()
  return { version }
}

/** Removes a credential; its {prefix} is 404 from then on. @throws Fault `not_found` */
export async function removeCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
  by: Actor,
): Promise<void> {
  if (!(await removeCatalogCredential(store, tenant, nickname, by))) throw noCredential()
}

function credentialView({ id, version, kind, nickname, endpoint, config }: ListedCatalogCredential) {
  return { id, version, catalog_kind: kind, nickname, endpoint, config_json: config }
}

function tenantView({ id, organizationId, name, state, createdAt }: Tenant) {
  return { id, organization_id: organizationId, name, state, created_at: createdAt }
}
