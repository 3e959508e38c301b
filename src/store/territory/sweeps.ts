/** The sweeps over the catalogs of a tenant: which are due, where they stand, and what they found. */

import { quoteText } from '../../base/sql-text.ts'
import type { CatalogCredential } from '../../core/catalog.ts'
import { liveCatalogKinds } from '../../core/catalog-kinds.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { UnusableNames } from '../../core/unusable-names.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

/** A catalog credential with its sweep, as {@link sweepsText} gives it. */
export interface SweepRow {
  readonly nickname: string
  readonly started_at: Date | null
  /** Null also where the credential has changed since the sweep, because it may name another catalog. */
  readonly finished_at: Date | null
  readonly tables: string | null
  readonly failed: string | null
  readonly problem: string | null
  readonly unusable: UnusableNames | null
}

/** The catalogs with an adapter, each with its sweep. */
export const sweepsText = `select c.nickname, w.started_at, w.tables, w.failed, w.problem, w.unusable,
    case when w.started_at >= c.updated_at then w.finished_at end as finished_at
  from svc.catalog_credential c left join svc.territory_sweep w using (tenant_id, credential_id)
  where c.tenant_id = $1 and c.catalog_kind in (${liveCatalogKinds.map(quoteText).join(', ')}) order by c.nickname`

/** Nicknames of the catalogs whose first sweep has not finished, or whose last one ended longer ago than `everyMs`. */
export async function dueSweeps(store: Store, tenant: TenantId, everyMs: number): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ readonly nickname: string }>(
    tenant,
    `select nickname from (${sweepsText}) s
     where finished_at is null or finished_at < clock_timestamp() - $2::float8 * interval '1 ms'`,
    [tenant, everyMs],
  )
  return rows.map(({ nickname }) => nickname)
}

interface SweepStart {
  /** By the database's clock, as text that keeps its precision. */
  readonly startedAt: string
  /** Tables that this sweep has seen before it was interrupted, by `territoryTableId`. */
  readonly seen: ReadonlySet<string>
}

/** Starts a sweep, or goes on with one that was interrupted. @param catalog from `catalogOf` */
export async function beginSweep(
  store: Store,
  tenant: TenantId,
  credential: CatalogCredential,
  catalog: string,
): Promise<SweepStart> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<{ readonly started_at: string }>(
      `insert into svc.territory_sweep as w (tenant_id, credential_id) values ($1, $2)
       on conflict (tenant_id, credential_id) do update set problem = null, started_at = case
         when w.started_at > coalesce(w.finished_at, '-infinity')
           and w.started_at >= (select c.updated_at from svc.catalog_credential c
             where c.tenant_id = $1 and c.credential_id = $2) then w.started_at
         else clock_timestamp() end
       returning started_at::text as started_at`,
      [tenant, credential.id],
    )
    const startedAt = row?.started_at ?? ''
    const seen = await tx.query<{ readonly table_id: string }>(
      `select distinct table_id from svc.territory
       where tenant_id = $1 and md5(catalog) = md5($2) and catalog = $2 and released_at is null and seen_at >= $3::timestamptz`,
      [tenant, catalog, startedAt],
    )
    return { startedAt, seen: new Set(seen.map(({ table_id }) => table_id)) }
  })
}

interface SweepCounts {
  readonly tables: number
  /** Tables that could not be read. */
  readonly failed: number
  readonly problem: string | undefined
}

/** Notes how far a sweep has come. */
export async function noteSweep(
  store: Store,
  tenant: TenantId,
  credentialId: string,
  { tables, failed, problem }: SweepCounts,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    'update svc.territory_sweep set tables = $3::int8, failed = $4::int8, problem = $5 where tenant_id = $1 and credential_id = $2',
    [tenant, credentialId, tables, failed, problem === undefined ? null : storableText(problem)],
  )
}

/** Notes the names that a sweep has listed and cannot ask for. */
export async function noteUnusable(
  store: Store,
  tenant: TenantId,
  credentialId: string,
  unusable: UnusableNames | undefined,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    'update svc.territory_sweep set unusable = $3::text::jsonb where tenant_id = $1 and credential_id = $2',
    [tenant, credentialId, unusable === undefined ? null : storableJson(unusable)],
  )
}

/** The catalogs of all tenants that list such names. At most 1,000. */
export async function listUnusableNames(
  store: Store,
): Promise<
  readonly { readonly tenant: TenantId; readonly nickname: string; readonly unusable: UnusableNames }[]
> {
  return await store.adminQuery(
    `select c.tenant_id as tenant, c.nickname, w.unusable
     from svc.catalog_credential c join svc.territory_sweep w using (tenant_id, credential_id)
     where w.unusable is not null order by c.tenant_id, c.nickname collate "C" limit 1000`,
  )
}

/**
 * Ends a sweep that has listed the whole catalog. Tables that it did not see are known to be dropped from now on, if it
 * could read all that it saw.
 * @returns how many rows of the index are of such tables
 */
export async function endSweep(
  store: Store,
  tenant: TenantId,
  credentialId: string,
  catalog: string,
  { startedAt }: SweepStart,
  { tables, failed, problem }: SweepCounts,
): Promise<number> {
  const sweep = storableJson({
    credential_id: credentialId,
    catalog,
    started_at: startedAt,
    tables,
    failed,
    problem: problem ?? null,
  })
  const [row] = await store.tenantCall<{ readonly gone: string }>(tenant, 'end_territory_sweep', [sweep])
  return Number(row?.gone ?? 0)
}
