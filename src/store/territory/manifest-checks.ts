/**
 * The checks of manifests after commits: which are due, how each ends, and when it is tried again. The transaction of a
 * commit's audit row adds its check; the one that quarantines what was found removes it.
 */

import type { TableRef } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { storableJson, storableText } from '../database/names.ts'
import type { Store } from '../store.ts'

export interface ManifestCheck {
  readonly tenant: TenantId
  readonly commitId: string
  readonly credentialId: string
  /** From `catalogOf`, when the commit was made. */
  readonly catalog: string
  readonly table: TableRef
  /** Undefined for all that the table has. */
  readonly snapshotIds: readonly bigint[] | undefined
  /** Tries before this one. */
  readonly tries: number
}

interface Row {
  readonly tenant_id: TenantId
  readonly commit_id: string
  readonly credential_id: string
  readonly catalog: string
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly snapshot_ids: readonly string[] | null
  readonly tries: number
}

function toCheck(row: Row): ManifestCheck {
  return {
    tenant: row.tenant_id,
    commitId: row.commit_id,
    credentialId: row.credential_id,
    catalog: row.catalog,
    table: { namespace: row.namespace, name: row.table_name },
    snapshotIds: row.snapshot_ids?.map(BigInt),
    tries: row.tries,
  }
}

const columns =
  'm.tenant_id, m.commit_id, m.credential_id, m.catalog, m.namespace, m.table_name, m.snapshot_ids, m.tries'

/** Checks that are due, of any active tenant, those that wait longest first. */
export async function dueManifestChecks(store: Store, limit: number): Promise<readonly ManifestCheck[]> {
  const rows = await store.adminQuery<Row>(
    `select ${columns} from svc.manifest_check m join svc.tenant t using (tenant_id)
     where m.due_at <= clock_timestamp() and t.state = 'active' order by m.due_at limit $1::int`,
    [limit],
  )
  return rows.map(toCheck)
}

/** How many checks wait, of all tenants. */
export async function countManifestChecks(store: Store): Promise<number> {
  const [row] = await store.adminQuery<{ readonly count: string }>(
    'select count(*) as count from svc.manifest_check',
  )
  return Number(row?.count ?? 0)
}

/** The other checks that wait for the same table. */
export async function otherChecks(
  store: Store,
  { tenant, commitId, catalog, table }: ManifestCheck,
): Promise<readonly ManifestCheck[]> {
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select ${columns} from svc.manifest_check m
     where m.tenant_id = $1 and m.commit_id <> $2 and m.catalog = $3 and m.namespace = $4::text::jsonb and m.table_name = $5`,
    [tenant, commitId, catalog, storableJson(table.namespace), storableText(table.name)],
  )
  return rows.map(toCheck)
}

export const quarantineCauses = ['outside', 'unchecked'] as const
export type QuarantineCause = (typeof quarantineCauses)[number]

/** A snapshot that a check found not to be readable. */
export interface FoundSnapshot {
  readonly snapshotId: bigint
  readonly tableUuid: string | undefined
  readonly cause: QuarantineCause
  /** For stewards: the first file outside, or the bound. */
  readonly detail: string
}

/** Quarantined details are cut to this many characters. */
const detailCharsMax = 1_000

/**
 * Ends a check. What it found is quarantined under the table's present name, unless that snapshot is or was already:
 * what a steward released stays released.
 * @returns how many snapshots were quarantined
 */
export async function endManifestCheck(
  store: Store,
  { tenant, commitId }: ManifestCheck,
  found: readonly FoundSnapshot[],
): Promise<number> {
  const snapshots = found.map(({ snapshotId, tableUuid, cause, detail }) => ({
    id: String(snapshotId),
    uuid: tableUuid,
    cause,
    detail: detail.slice(0, detailCharsMax),
  }))
  const rows = await store.tenantQuery(
    tenant,
    `with ended as (
       delete from svc.manifest_check where tenant_id = $1 and commit_id = $2 returning *)
     insert into svc.snapshot_quarantine (tenant_id, commit_id, credential_id, catalog, table_id, namespace, table_name,
       table_uuid, snapshot_id, cause, detail)
     select m.tenant_id, m.commit_id, m.credential_id, m.catalog, m.table_id, m.namespace, m.table_name, f ->> 'uuid',
       (f ->> 'id')::bigint, f ->> 'cause', f ->> 'detail'
     from ended m cross join jsonb_array_elements($3::text::jsonb) f
     where not exists (select from svc.snapshot_quarantine q where q.tenant_id = m.tenant_id
       and q.table_id = m.table_id and q.catalog = m.catalog and q.snapshot_id = (f ->> 'id')::bigint)
     returning 1`,
    [tenant, commitId, storableJson(snapshots)],
  )
  return rows.length
}

/**
 * Tries a check again later.
 * @param reason why it could not be made, in words of ours
 * @param delayMs milliseconds
 */
export async function retryManifestCheck(
  store: Store,
  { tenant, commitId }: ManifestCheck,
  reason: string,
  delayMs: number,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    `update svc.manifest_check set tries = tries + 1, reason = $3,
       due_at = clock_timestamp() + $4::float8 * interval '1 ms'
     where tenant_id = $1 and commit_id = $2`,
    [tenant, commitId, reason, delayMs],
  )
}
