/** Finds findings for which nothing may stand any more, and asks for the scan that says so (docs/adr/0034). */

import { canonicalLocation } from '../../core/detection.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Store } from '../store.ts'
import { holdersOf } from './attached-tables.ts'
import type { PlaceOfScan } from './run-list.ts'
import { tableOf } from './runs.ts'

export interface DueWithdrawal {
  readonly tenant: TenantId
  readonly classificationId: string
  /** By the name that it has now. */
  readonly table: TableRef | undefined
  /** Where its values were found last. */
  readonly place: PlaceOfScan
}

/** The table that has the place of a run's metadata file, else what its table was renamed to; no row where it has its name. */
const nowNamed = (run: string) => `
  select h.namespace, h.table_name from (
    select namespace, table_name, 0 as farther, length(prefix) as depth from (${holdersOf(`${run}.location`)}) held
    union all
    select t.namespace, t.table_name, 1, 0 from lineage_renamed l join svc.territory t on t.tenant_id = $1 and t.table_id = l.new_key
      and t.released_at is null and t.dropped_at is null where l.old_key = ${run}.table_id) h
  order by h.farther, h.depth desc limit 1`

/** Findings whose time has come, of any tenant; each is put off by an hour, so that no other replica takes it. */
export async function claimDueWithdrawals(store: Store, limit: number): Promise<readonly DueWithdrawal[]> {
  const tenants = await store.adminQuery<{ tenant_id: TenantId }>(
    `select distinct f.tenant_id from svc.detection_finding f join svc.tenant t on t.tenant_id = f.tenant_id and t.state = 'active'
     where f.withdraw_due <= clock_timestamp() limit $1::int`,
    [limit],
  )
  const claimed: DueWithdrawal[] = []
  for (const { tenant_id: tenant } of tenants) {
    const rows = await store.tenantQuery<{
      classification_id: string
      location: string
      credential_id: string | null
      namespace: readonly string[] | null
      table_name: string | null
    }>(
      tenant,
      `with due as (select classification_id from svc.detection_finding
         where tenant_id = $1 and withdraw_due <= clock_timestamp() order by withdraw_due limit $2::int for update skip locked),
       taken as (
         update svc.detection_finding f set withdraw_due = clock_timestamp() + interval '1 hour'
         from due d, svc.detection_run r
         where f.tenant_id = $1 and f.classification_id = d.classification_id and r.tenant_id = $1 and r.run_id = f.run_id
         returning f.classification_id, r.snapshot_metadata_location as location, r.credential_id, r.table_id, r.namespace,
           r.table_name)
       select k.classification_id, k.location, k.credential_id, coalesce(n.namespace, k.namespace) as namespace,
         coalesce(n.table_name, k.table_name) as table_name
       from taken k left join lateral (${nowNamed('k')}) n on true`,
      [tenant, limit],
    )
    claimed.push(
      ...rows.map((row) => ({
        ...{ tenant, classificationId: row.classification_id, table: tableOf(row) },
        place: { metadataLocation: row.location, credentialId: row.credential_id ?? undefined },
      })),
    )
  }
  return claimed
}

/**
 * Queues a scan by which it shows whether a table still has the values of its findings, if none waits or runs.
 * @param current the table's metadata file and its catalog's credential
 */
export async function requestRecheck(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  current: { readonly metadataLocation: string; readonly credentialId: string },
): Promise<void> {
  await store.tenantQuery(
    tenant,
    `insert into svc.detection_run as r (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace,
       table_name, cause, requested_by)
     values ($1, $2, 'baseline-poller', $3, $4, $5::text::jsonb, $6, 'rescan', $7)
     on conflict on constraint detection_run_snapshot do update set state = 'queued', cause = 'rescan', requested_by = $7,
       tries = 0, due_at = clock_timestamp()
     where r.state not in ('queued', 'running')`,
    [
      tenant,
      canonicalLocation(current.metadataLocation),
      current.credentialId,
      nodeId(tableKey(table)),
      storableJson(table.namespace),
      table.name,
      rechecker,
    ],
  )
}

/** In whose name a scan is asked for that checks what a table still has. */
const rechecker = 'covenant'
