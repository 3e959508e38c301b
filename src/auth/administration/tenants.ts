/** Tenants and their catalog credentials as administration sees them; secrets go in and never come out. */

import { Fault } from '../../base/fault.ts'
import { type CatalogKind, catalogKinds, isLiveCatalogKind } from '../../core/catalog-kinds.ts'
import { parseTenantId, type TenantId } from '../../core/tenant.ts'
import { checkCatalogSettings } from '../../engine/check-credential.ts'
import type { Licensed } from '../../license/licensed.ts'
import {
  listCatalogCredentials,
  putCatalogCredential,
  removeCatalogCredential,
  rotateCatalogCredential,
} from '../../store/catalog-credentials.ts'
import type { Store } from '../../store/store.ts'
import { createTenant, getTenant, listTenants, resumeTenant, suspendTenant } from '../../store/tenants.ts'
import { pageOf } from '../page-query.ts'
import { type Asking, readFields } from './body.ts'

const noTenant = () => new Fault('not_found', 'There is no such tenant.')
const noCredential = () => new Fault('not_found', 'The tenant has no catalog credential of this nickname.')

/** The tenant that a path names. @throws Fault `not_found` */
export function tenantOf(text: string | undefined): TenantId {
  const tenant = parseTenantId(text ?? '')
  if (tenant === undefined) throw noTenant()
  return tenant
}

/** As `tenantOf`, and it exists. */
export async function existingTenant(store: Store, text: string | undefined): Promise<TenantId> {
  const tenant = tenantOf(text)
  if ((await getTenant(store, tenant)) === undefined) throw noTenant()
  return tenant
}

/** A tenant with its schema and graph, from `name` and `organization_id`. */
export async function newTenant(store: Store, licensed: Licensed, asking: Asking): Promise<Response> {
  const fields = await readFields(asking, 'name', 'organization_id')
  const tenant = { name: fields.text('name'), organizationId: fields.optionalText('organization_id') }
  const created = await createTenant(store, tenant, licensed.requireRoomForTenant)
  return Response.json(created, { status: 201 })
}

/** All tenants, in pages. */
export async function everyTenant(store: Store, request: Request): Promise<Response> {
  return Response.json(await listTenants(store, pageOf(request)))
}

/** One tenant. */
export async function oneTenant(store: Store, tenant: TenantId): Promise<Response> {
  const found = await getTenant(store, tenant)
  if (found === undefined) throw noTenant()
  return Response.json(found)
}

/** Suspends or resumes; all sessions of a suspended tenant are refused on their next request. */
export async function setTenantState(
  store: Store,
  tenant: TenantId,
  state: 'active' | 'suspended',
): Promise<Response> {
  const change = state === 'active' ? resumeTenant : suspendTenant
  if (!(await change(store, tenant))) throw noTenant()
  return await oneTenant(store, tenant)
}

/** A tenant's credentials without what is secret, in pages. */
export async function everyCredential(store: Store, tenant: TenantId, request: Request): Promise<Response> {
  return Response.json(await listCatalogCredentials(store, tenant, pageOf(request)))
}

/** Registers the credential of this nickname, or replaces it, from `kind`, `endpoint` and `config`. */
export async function registerCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
  asking: Asking,
): Promise<Response> {
  const fields = await readFields(asking, 'kind', 'endpoint', 'config')
  const kind = catalogKinds.find((one) => one === fields.text('kind'))
  if (kind === undefined)
    throw new Fault('bad_request', `\`kind\` must be one of ${catalogKinds.join(', ')}.`)
  assertLive(kind)
  const endpoint = fields.text('endpoint')
  const credential = { kind, nickname, endpoint, config: fields.plainObject('config') }
  checkCatalogSettings(credential)
  return Response.json(await putCatalogCredential(store, tenant, credential))
}

/** SPEC 2.2: start-up rejects these kinds, so a registered one would keep the service from starting again. */
function assertLive(kind: CatalogKind): void {
  if (!isLiveCatalogKind(kind))
    throw new Fault('unprocessable', `The catalog kind ${kind} has no live adapter yet.`)
}

/** Changes fields of a credential's `config`, null removing one, as when a secret is rotated. */
export async function rotateCredential(
  store: Store,
  tenant: TenantId,
  nickname: string,
  asking: Asking,
): Promise<Response> {
  const config = (await readFields(asking, 'config')).plainObject('config')
  const changes = Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, value === null ? undefined : value]),
  )
  const version = await rotateCatalogCredential(store, tenant, nickname, changes, checkCatalogSettings)
  if (version === undefined) throw noCredential()
  return Response.json({ version })
}

/** Removes a credential; its {prefix} is 404 from then on. */
export async function forgetCredential(store: Store, tenant: TenantId, nickname: string): Promise<Response> {
  if (!(await removeCatalogCredential(store, tenant, nickname))) throw noCredential()
  return new Response(null, { status: 204 })
}
