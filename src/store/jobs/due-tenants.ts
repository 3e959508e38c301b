/**
 * Finds the tenants for which a job has something to do, each in one statement over all tenants. What a job does for a
 * tenant is not here.
 */

import { quoteText } from '../../base/sql-text.ts'
import { liveCatalogKinds } from '../../core/catalog-kinds.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'

/** A text that is another one after a change of what it stands for. It is compared, and says nothing else. */
interface TenantChanges {
  /** Snapshots, and writes by commits. */
  readonly snapshots: string
  readonly tables: string
  /** Events of lineage that were received or merged. */
  readonly lineage: string
}

/** The relations of each tenant that are counted for a change. */
const counted = {
  snapshots: ['Snapshot', 'INTENDED_WRITE'],
  tables: ['Table'],
  lineage: ['lineage_inbox', 'lineage_event'],
} as const satisfies Readonly<Record<keyof TenantChanges, readonly string[]>>

const inList = (names: readonly string[]) => `(${names.map(quoteText).join(', ')})`

/**
 * What has changed of every tenant, by the rows that the server has counted as written: it reads no table and locks none.
 * The count of a transaction may come some seconds after it, and begins again after a crash of the server.
 * @returns undefined where the database does not count
 */
export async function tenantChanges(store: Store): Promise<ReadonlyMap<TenantId, TenantChanges> | undefined> {
  // The embedded database keeps no such counts.
  if (store.backend === 'embedded') return undefined
  const of = Object.entries(counted).map(
    ([name, relations]) =>
      `coalesce(string_agg(c.written, ' ' order by c.relname) filter (where c.relname in ${inList(relations)}), '') as ${name}`,
  )
  const rows = await store.adminQuery<
    TenantChanges & { readonly tenant_id: TenantId; readonly counts: boolean }
  >(
    `select replace(substr(c.schema, 3), '_', '-') as tenant_id, current_setting('track_counts')::boolean as counts, ${of.join(', ')}
     from (select n.nspname::text as schema, r.relname, r.oid || ':' || pg_stat_get_tuples_inserted(r.oid)
           || ':' || pg_stat_get_tuples_updated(r.oid) || ':' || pg_stat_get_tuples_deleted(r.oid) as written
         from pg_class r join pg_namespace n on n.oid = r.relnamespace
         where r.relname in ${inList(Object.values(counted).flat())} and r.relkind = 'r' and n.nspname ~ '^[gt]_[0-9a-f]{8}_') c
     group by 1`,
  )
  if (rows.some(({ counts }) => !counts)) return undefined
  return new Map(rows.map(({ tenant_id, ...changes }) => [tenant_id, changes]))
}

/** The tenants that are not suspended, by id. */
export async function activeTenants(store: Store): Promise<readonly TenantId[]> {
  return await idsOf(store, `select tenant_id from svc.tenant where state = 'active' order by tenant_id`)
}

/** Every tenant that is not being removed, also the suspended ones, by id. */
export async function tenantsOnRecord(store: Store): Promise<readonly TenantId[]> {
  return await idsOf(
    store,
    `select t.tenant_id from svc.tenant t where not exists (select from svc.tenant_removal r
         where r.tenant_id = t.tenant_id and r.started_at is not null and r.removed_at is null)
     order by t.tenant_id`,
  )
}

/** The tenants with records of usage that are not in the totals yet. */
export async function tenantsToRoll(store: Store): Promise<readonly TenantId[]> {
  return await idsOf(
    store,
    `select t.tenant_id from svc.tenant t left join svc.usage_rolled r using (tenant_id),
       lateral (select from svc.query_usage u where u.tenant_id = t.tenant_id and u.usage_seq > coalesce(r.rolled, 0) limit 1) u
     order by t.tenant_id`,
  )
}

/** The tenants with attestations whose time is over and that have not ended. */
export async function tenantsWithExpired(store: Store): Promise<readonly TenantId[]> {
  return await idsOf(
    store,
    `select distinct a.tenant_id from svc.metric_attestation a where a.valid_until <= now()
       and not exists (select from svc.metric_attestation_end e
         where e.tenant_id = a.tenant_id and e.attestation_id = a.attestation_id)
     order by a.tenant_id`,
  )
}

/** The tenants with catalogs whose first sweep has not finished, or whose last one ended longer ago than `everyMs`. */
export async function tenantsToSweep(store: Store, everyMs: number): Promise<readonly TenantId[]> {
  return await idsOf(
    store,
    `select distinct c.tenant_id from svc.catalog_credential c left join svc.territory_sweep w using (tenant_id, credential_id)
     where c.catalog_kind in ${inList(liveCatalogKinds)} and (w.started_at >= c.updated_at
       and w.finished_at >= clock_timestamp() - $1::float8 * interval '1 ms') is not true
     order by c.tenant_id`,
    [everyMs],
  )
}

/** The tenants with contracts in force, each with a text that is another one after a change of which are. */
export async function tenantsWithContracts(store: Store): Promise<ReadonlyMap<TenantId, string>> {
  const rows = await store.adminQuery<{ readonly tenant_id: TenantId; readonly versions: string }>(
    `select tenant_id, md5(string_agg(contract_id || ' ' || number, ',' order by contract_id, number)) as versions
     from svc.contract_version where state in ('active', 'deprecated') group by tenant_id order by tenant_id`,
  )
  return new Map(rows.map(({ tenant_id, versions }) => [tenant_id, versions]))
}

async function idsOf(
  store: Store,
  text: string,
  params: readonly number[] = [],
): Promise<readonly TenantId[]> {
  const rows = await store.adminQuery<{ readonly tenant_id: TenantId }>(text, params)
  return rows.map(({ tenant_id }) => tenant_id)
}
