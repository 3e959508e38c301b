/** Creates tenants with schema and graph; finds, lists, suspends, resumes them (docs/reference/identity.md 1.1). */

import { Fault } from '../../base/fault.ts'
import { type Actor, operator } from '../../core/administration.ts'
import { isOrganizationId, newTenantId, type TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { provisionTenant } from '../database/migrations.ts'
import { assertIndexable, storableText } from '../database/names.ts'
import { afterUuid, everyItem, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Param, Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { refuseResuming } from './removals.ts'

export interface Tenant {
  readonly id: TenantId
  readonly organizationId: string | undefined
  readonly name: string
  readonly state: 'active' | 'suspended'
  readonly createdAt: Date
}

interface Row {
  readonly tenant_id: TenantId
  readonly organization_id: string | null
  readonly name: string
  readonly state: 'active' | 'suspended'
  readonly created_at: Date
}

const columns = 'tenant_id, organization_id, name, state, created_at'

function toTenant(row: Row): Tenant {
  return {
    id: row.tenant_id,
    organizationId: row.organization_id ?? undefined,
    name: row.name,
    state: row.state,
    createdAt: row.created_at,
  }
}

interface NewTenant {
  readonly name: string
  readonly organizationId?: string | undefined
  /** Whether a tenant of this name and organization is given where there is one, instead of another. */
  readonly ifAbsent?: boolean
}

/**
 * Creates a tenant, its schema and its graph, all or nothing.
 * @param admit receives the number of tenants, suspended ones included, while no other is being created; it throws
 *   to refuse one more
 * @param by who creates it; the operator where the caller has the store at hand
 * @throws Fault `bad_request` for a bad name or organization id, `conflict` where another tenant has the organization,
 *   or, with `ifAbsent`, several have the name
 */
export async function createTenant(
  store: Store,
  { name, organizationId, ifAbsent = false }: NewTenant,
  admit?: (count: number) => void,
  by: Actor = operator(),
): Promise<Tenant> {
  if (name.trim() === '' || name.length > 255)
    throw new Fault('bad_request', 'A tenant needs a name of 1 to 255 characters.')
  if (organizationId !== undefined && !isOrganizationId(organizationId))
    throw new Fault('bad_request', 'An organization id must be org_ followed by letters and digits.')
  assertIndexable(organizationId ?? '', 'An organization id')
  const id = newTenantId()
  return store.ownerTransaction(id, async (tx) => {
    if (ifAbsent) {
      const existing = await sameTenantAlone(tx, name, organizationId)
      if (existing !== undefined) return existing
    }
    if (admit !== undefined) admit(await countTenantsAlone(tx))
    const rows = await tx
      .query<Row>(
        `insert into svc.tenant (tenant_id, organization_id, name) values ($1, $2, $3) returning ${columns}`,
        [id, organizationId ?? null, storableText(name)],
      )
      .catch((thrown: unknown) => {
        if (!(thrown instanceof Fault) || thrown.kind !== 'conflict') throw thrown
        throw new Fault('conflict', 'Another tenant already has this organization.')
      })
    await provisionTenant(tx, id)
    const value = { name, organization_id: organizationId }
    await recordAdministration(tx, by, { action: 'create-tenant', subject: { tenant: id }, value })
    return rows.map(toTenant)[0] as Tenant
  })
}

/** The tenant, or undefined where there is none of this id. */
export async function getTenant(store: Store, id: TenantId): Promise<Tenant | undefined> {
  const rows = await store.adminQuery<Row>(`select ${columns} from svc.tenant where tenant_id = $1`, [id])
  return rows.map(toTenant)[0]
}

/** The tenant of an identity provider's organization, or undefined. */
export async function findTenantByOrganization(
  store: Store,
  organizationId: string,
): Promise<Tenant | undefined> {
  if (!isOrganizationId(organizationId)) return undefined
  const rows = await store.adminQuery<Row>(`select ${columns} from svc.tenant where organization_id = $1`, [
    organizationId,
  ])
  return rows.map(toTenant)[0]
}

/** All tenants, by id. */
export async function listTenants(store: Store, page: PageRequest = {}): Promise<Page<Tenant>> {
  const limit = pageLimit(page)
  const rows = await store.adminQuery<Row>(
    `select ${columns} from svc.tenant where tenant_id > $1 order by tenant_id limit $2::int`,
    [afterUuid(page), limit + 1],
  )
  return toPage(rows.map(toTenant), limit, ({ id }) => id)
}

/** Tenants that one statement reads. */
const tenantsPage = 1_000

/** Every tenant's id, page by page. @param signal ends the iteration before the next id */
export async function* eachTenant(store: Store, signal: AbortSignal): AsyncGenerator<TenantId> {
  for await (const { id } of everyItem((page) => listTenants(store, { ...page, limit: tenantsPage }))) {
    signal.throwIfAborted()
    yield id
  }
}

/** Reads all tenants. Other callers wait until this transaction has ended. */
async function alone<Found extends object>(
  tx: Tx,
  text: string,
  params: readonly Param[] = [],
): Promise<readonly Found[]> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('tenants', 0))`)
  // svc_owner sees only the tenant of its context.
  await tx.query('set local role svc_admin')
  const rows = await tx.query<Found>(text, params)
  await tx.query('set local role svc_owner')
  return rows
}

/** How many tenants there are. */
async function countTenantsAlone(tx: Tx): Promise<number> {
  const [row] = await alone<{ readonly count: string }>(tx, 'select count(*) as count from svc.tenant')
  return Number(row?.count)
}

/**
 * The tenant of this name, and of this organization where one is given.
 * @throws Fault `conflict` where several have the name
 */
async function sameTenantAlone(
  tx: Tx,
  name: string,
  organizationId: string | undefined,
): Promise<Tenant | undefined> {
  const [first, second] = await alone<Row>(
    tx,
    `select ${columns} from svc.tenant where name = $1 and ($2::text is null or organization_id = $2) limit 2`,
    [storableText(name), organizationId ?? null],
  )
  if (second !== undefined)
    throw new Fault('conflict', 'Several tenants have this name: take one from the list of tenants.')
  return first && toTenant(first)
}

/** Suspends a tenant: its sessions are refused from now on. @returns whether the tenant exists */
export function suspendTenant(store: Store, id: TenantId, by: Actor = operator()): Promise<boolean> {
  return setState(store, id, 'suspended', by)
}

/**
 * Undoes `suspendTenant`.
 * @returns whether the tenant exists
 * @throws Fault `conflict` where its removal is confirmed
 */
export function resumeTenant(store: Store, id: TenantId, by: Actor = operator()): Promise<boolean> {
  return setState(store, id, 'active', by)
}

async function setState(store: Store, id: TenantId, state: Tenant['state'], by: Actor): Promise<boolean> {
  return await store.adminTransaction(async (tx) => {
    const changed = await tx.query('update svc.tenant set state = $2 where tenant_id = $1 returning 1', [
      id,
      state,
    ])
    if (changed.length === 0) return false
    if (state === 'active') await refuseResuming(tx, id)
    const action = state === 'active' ? 'resume-tenant' : 'suspend-tenant'
    await recordAdministration(tx, by, { action, subject: { tenant: id } }, id)
    return true
  })
}
