/** Takes locations for tables, as the gateway and the sweep do. */

import type { TableRef } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import type { TerritoryKind } from '../../src/core/territory-owner.ts'
import type { Store } from '../../src/store/store.ts'
import { endManifestCheck } from '../../src/store/territory/manifest-checks.ts'
import { listQuarantine } from '../../src/store/territory/quarantine.ts'
import {
  type Claimed,
  claimTerritory,
  type TerritoryClaim,
  territoryTableId,
} from '../../src/store/territory/territory-rows.ts'

export const catalogA = '["alpha","https://a.example","w",null]'
export const catalogB = '["alpha","https://b.example","w",null]'
export const credentialA = '00000000-0000-4000-8000-00000000000a'

/** A canonical prefix and all above it. */
export function ancestorsOf(prefix: string): readonly string[] {
  const slashes = [...prefix.matchAll(/\//g)].map(({ index }) => index)
  return slashes.slice(2).map((at) => prefix.slice(0, at + 1))
}

export function tableOf(name: string): TableRef {
  return { namespace: ['sales'], name }
}

/** Takes one canonical prefix for `sales.{name}`. */
export function take(
  store: Store,
  tenant: TenantId,
  name: string,
  prefix: string,
  {
    catalog = catalogA,
    tableUuid,
    kind = 'location',
    ...claim
  }: Partial<Omit<TerritoryClaim, 'owner' | 'prefixes'>> & {
    readonly catalog?: string
    readonly tableUuid?: string
    readonly kind?: TerritoryKind
  } = {},
): Promise<Claimed> {
  return claimTerritory(store, tenant, {
    owner: { catalog, credentialId: credentialA, table: tableOf(name), tableUuid },
    source: 'load',
    strict: true,
    prefixes: [{ prefix, kind, ancestors: ancestorsOf(prefix) }],
    ...claim,
  })
}

/** Lets the tenant enforce its territory: the tenants of `startTestService` observe it. */
export async function enforceTerritory(store: Store, tenant: TenantId): Promise<void> {
  await store.tenantQuery(tenant, `update svc.territory_state set mode = 'enforce' where tenant_id = $1`, [
    tenant,
  ])
}

/** Queues the check of a commit on a table of `sales`, which no job makes. @returns the commit's id */
async function addManifestCheck(
  store: Store,
  tenant: TenantId,
  catalog: string,
  name = 'orders',
): Promise<string> {
  const commitId = crypto.randomUUID()
  await store.tenantQuery(
    tenant,
    `insert into svc.manifest_check (tenant_id, commit_id, credential_id, catalog, table_id, namespace, table_name,
       due_at)
     values ($1, $2, $3, $4, $5, '["sales"]', $6, 'infinity')`,
    [tenant, commitId, credentialA, catalog, territoryTableId(tableOf(name)), name],
  )
  return commitId
}

let lastSnapshotId = 66_000_000_000_000_000n

/** Puts a snapshot of a table of `sales` in quarantine, as the check of a commit does. @returns the id of its row */
export async function quarantineSnapshot(
  store: Store,
  tenant: TenantId,
  catalog = catalogA,
  snapshotId = ++lastSnapshotId,
  name = 'orders',
  detail = 'data file s3://lake/x',
): Promise<string> {
  const commitId = await addManifestCheck(store, tenant, catalog, name)
  const table = tableOf(name)
  const check = {
    tenant,
    commitId,
    credentialId: credentialA,
    catalog,
    table,
    snapshotIds: undefined,
    tries: 0,
  }
  const found = {
    snapshotId,
    tableUuid: undefined,
    cause: 'outside',
    detail,
  } as const
  await endManifestCheck(store, check, [found])
  const { items } = await listQuarantine(store, tenant, { limit: 1000 })
  return items.find((one) => one.snapshotId === snapshotId)?.id ?? ''
}

/** A row of the tenant in every table of the index. */
export async function seedTerritory(store: Store, tenant: TenantId): Promise<void> {
  await take(store, tenant, 'seed', 's3://seed/seed/', { tableUuid: crypto.randomUUID() })
  await take(store, tenant, 'seeds', 's3://seed/seed/below/')
  await quarantineSnapshot(store, tenant)
  await addManifestCheck(store, tenant, catalogA)
  await store.tenantQuery(tenant, `select svc.ensure_node('Table', $1, '{}')`, [
    territoryTableId(tableOf('Spelled')),
  ])
  await store.tenantQuery(
    tenant,
    `insert into svc.territory_sweep (tenant_id, credential_id)
     select tenant_id, credential_id from svc.catalog_credential where tenant_id = $1 limit 1`,
    [tenant],
  )
}

/** Lists a conflict of a table with a folder that is nobody's, as a commit that names it does. */
export async function noteConflict(
  store: Store,
  tenant: TenantId,
  { table, credentialId, prefix }: { table: TableRef; credentialId: string; prefix: string },
): Promise<void> {
  await claimTerritory(store, tenant, {
    owner: { catalog: catalogA, credentialId, table, tableUuid: undefined },
    ...{ source: 'commit', strict: false, prefixes: [] },
    conflicts: [{ prefix, reason: 'unowned', owner: undefined }],
  })
}
