/** Queues detection runs (docs/reference/detection.md 1.1, 3.2): one per snapshot, from the first trigger. */

import { Fault } from '../../base/fault.ts'
import { canonicalLocation, type Hit, type RunState } from '../../core/detection.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** The table of a row, if the row names one. */
export function tableOf(row: {
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
}): TableRef | undefined {
  return row.namespace === null || row.table_name === null
    ? undefined
    : { namespace: row.namespace, name: row.table_name }
}

/**
 * Whether a run failed with the credential of a catalog that does not have the table. Such a run is queued again,
 * because one catalog's callback about a file of another must not prevent its scan.
 */
const failedByWrongCredential = `(r.state = 'failed' and r.table_id is null and excluded.table_id is not null
  and excluded.credential_id is not null and r.credential_id is distinct from excluded.credential_id)`

/**
 * Queues snapshots of one tenant durably. A snapshot with a run keeps it, and the run gets the hit's table or catalog
 * where it had none. A run that failed with the wrong catalog's credential is queued again.
 * @param link links the findings of finished runs to their new table in the same transaction, because no later event
 *   would do it
 * @returns how many are new
 */
export async function enqueueHits(
  store: Store,
  tenant: TenantId,
  hits: readonly Hit[],
  link?: (tx: Tx, runIds: readonly string[]) => Promise<void>,
): Promise<number> {
  if (hits.some((hit) => hit.tenant !== tenant))
    throw new Fault('internal', 'Internal error.', { detail: 'a hit of another tenant' })
  if (hits.length === 0) return 0
  const byLocation = new Map(hits.map((hit) => [canonicalLocation(hit.metadataLocation), hit]))
  const statement = [
    `insert into svc.detection_run as r (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name, advisory)
     select $1, h ->> 'location', h ->> 'source', (h ->> 'credential_id')::uuid, h ->> 'table_id', nullif(h -> 'namespace', 'null'), h ->> 'table_name', nullif(h -> 'advisory', 'null')
     from jsonb_array_elements($2::text::jsonb) h
     order by h ->> 'location'
     on conflict on constraint detection_run_snapshot do update
       set credential_id = case when ${failedByWrongCredential} then excluded.credential_id else coalesce(r.credential_id, excluded.credential_id) end,
         state = case when ${failedByWrongCredential} then 'queued' else r.state end, tries = case when ${failedByWrongCredential} then 0 else r.tries end,
         cause = case when ${failedByWrongCredential} then 'trigger' else r.cause end,
         due_at = case when ${failedByWrongCredential} then clock_timestamp() else r.due_at end,
         table_id = coalesce(r.table_id, excluded.table_id),
         namespace = coalesce(r.namespace, excluded.namespace), table_name = coalesce(r.table_name, excluded.table_name)
       where (r.table_id is null and excluded.table_id is not null)
         or (r.credential_id is null and excluded.credential_id is not null)
     returning xmax = 0 as added, run_id, state`,
    [
      tenant,
      storableJson(
        [...byLocation].map(([location, { source, credentialId, table, advisory }]) => ({
          location,
          source,
          credential_id: credentialId ?? null,
          table_id: table === undefined ? null : nodeId(tableKey(table)),
          namespace: table?.namespace ?? null,
          table_name: table?.name ?? null,
          advisory: advisory ?? null,
        })),
      ),
    ],
  ] as const
  const addedOf = (rows: readonly QueuedRow[]) => rows.filter(({ added }) => added).length
  // Without a table there is nothing to link, so one round trip suffices.
  if (link === undefined || hits.every(({ table }) => table === undefined))
    return addedOf(await store.tenantQuery<QueuedRow>(tenant, ...statement))
  return await store.tenantTransaction(tenant, async (tx) => {
    const rows = await tx.query<QueuedRow>(...statement)
    const learnt = rows.filter(({ added, state }) => !added && state !== 'queued' && state !== 'running')
    if (learnt.length > 0)
      await link(
        tx,
        learnt.map(({ run_id }) => run_id),
      )
    return addedOf(rows)
  })
}

interface QueuedRow {
  readonly added: boolean
  readonly run_id: string
  readonly state: RunState
}

/** Rows read in one transaction. Other transactions run between two pages. */
const unscannedPage = 250

/**
 * Queues the snapshots in the tenant's audit log and graph that no run covers yet, page by page.
 * @param limit of each source; the rest is left to the next call
 * @param signal ends the work between two pages
 * @returns how many were queued
 */
export async function enqueueUnscanned(
  store: Store,
  tenant: TenantId,
  limit: number,
  signal?: AbortSignal,
): Promise<number> {
  let queued = 0
  for (const source of ['audited', 'snapshots'] as const) {
    const before = queued
    let after: string | null = null
    do {
      signal?.throwIfAborted()
      const page = Math.min(unscannedPage, limit - (queued - before))
      const row = await enqueuePage(store, tenant, source, page, after)
      queued += row.queued
      after = row.after
    } while (after !== null && queued - before < limit)
  }
  return queued
}

interface QueuedPage {
  readonly queued: number
  /** Where the next page begins; null where there is none. */
  readonly after: string | null
}

async function enqueuePage(
  store: Store,
  tenant: TenantId,
  source: 'audited' | 'snapshots',
  page: number,
  after: string | null,
): Promise<QueuedPage> {
  const type = source === 'audited' ? 'timestamptz' : 'bigint'
  const [row] = await store.tenantQuery<QueuedPage>(
    tenant,
    `select queued, after::text from svc.enqueue_${source}($1::int, $2::text::${type})`,
    [page, after],
    // A crash of the database undoes runs and cursor together, so the next call finds the same rows again.
    { mayBeLost: true },
  )
  if (row === undefined) throw new Fault('internal', 'Internal error.', { detail: 'a page gave no row' })
  return row
}

/** The subset of these locations, spelled as given, that have no run or a run without a table. */
export async function unscannedLocations(
  store: Store,
  tenant: TenantId,
  locations: readonly string[],
): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ location: string }>(
    tenant,
    `with wanted as materialized (
       select distinct location, svc.canonical_location(location) as canonical from jsonb_array_elements_text($2::text::jsonb) location
       where octet_length(location) between 1 and 2048)
     select location from wanted where not exists (select from svc.detection_run r
       where r.tenant_id = $1 and r.snapshot_metadata_location = wanted.canonical and r.table_id is not null offset 0)`,
    [tenant, storableJson(locations)],
    // OFFSET forces one look-up by key per location. Not prepared, because a plan for few runs must not be reused.
    { prepare: false },
  )
  return rows.map(({ location }) => location)
}

/** The table of a snapshot in the graph, or undefined. */
export async function tableOfSnapshot(
  store: Store,
  tenant: TenantId,
  metadataLocation: string,
): Promise<TableRef | undefined> {
  const spellings = ['s3', 's3a', 's3n'].map((scheme) => metadataLocation.replace(/^s3:/, `${scheme}:`))
  const [row] = await store.tenantQuery<{ namespace: readonly string[]; name: string }>(
    tenant,
    `select j -> 'namespace' as namespace, j ->> 'name' as name
     from "Snapshot" s
     join "Table" t on agtype_access_operator(variadic array[t.properties, '"id"'::agtype])
       = agtype_access_operator(variadic array[s.properties, '"table_id"'::agtype])
     cross join lateral (select t.properties::text::jsonb as j) parsed
     where agtype_access_operator(variadic array[s.properties, '"id"'::agtype])
         in (to_jsonb($1::text)::text::agtype, to_jsonb($2::text)::text::agtype, to_jsonb($3::text)::text::agtype)
       and jsonb_typeof(j -> 'namespace') = 'array' and j ->> 'name' is not null
     limit 1`,
    spellings.map(nodeId),
  )
  return row && { namespace: row.namespace, name: row.name }
}

/**
 * The table in whose territory a metadata file lies, by the longest prefix; undefined where it is nobody's. Only
 * the catalog knows whether the file is of that table.
 * @param folders above the file, canonical
 */
export async function tableByPath(
  store: Store,
  tenant: TenantId,
  folders: readonly string[],
): Promise<TableRef | undefined> {
  if (folders.length === 0) return undefined
  const [row] = await store.tenantQuery<{ namespace: readonly string[]; table_name: string }>(
    tenant,
    `select namespace, table_name from svc.territory
     where tenant_id = $1 and prefix = any(array(select jsonb_array_elements_text($2::text::jsonb))) and kind <> 'derived' and released_at is null
     order by octet_length(prefix) desc limit 1`,
    [tenant, storableJson(folders)],
  )
  return row && { namespace: row.namespace, name: row.table_name }
}

/** The namespaces of tables in the graph, in which the poller lists the upstream. */
export async function graphNamespaces(
  store: Store,
  tenant: TenantId,
): Promise<readonly (readonly string[])[]> {
  const rows = await store.tenantQuery<{ namespace: readonly string[] }>(
    tenant,
    `select distinct j -> 'namespace' as namespace from "Table" t cross join lateral (select t.properties::text::jsonb as j) parsed
     where jsonb_typeof(j -> 'namespace') = 'array' and j -> 'namespace' <> '[]' order by 1 limit 10000`,
    [],
    { readOnly: true },
  )
  return rows.map(({ namespace }) => namespace)
}

/** Stores a storage event that could not be parsed. A repeated message is stored once. */
export async function setEventAside(
  store: Store,
  tenant: TenantId,
  message: { readonly id: string; readonly reason: string; readonly sealed: Uint8Array },
): Promise<void> {
  if (message.id === '') throw new Fault('internal', 'Internal error.', { detail: 'a message without an id' })
  await store.tenantQuery(
    tenant,
    `insert into svc.detection_set_aside (tenant_id, message_id, reason, sealed) values ($1, $2, $3, $4) on conflict do nothing`,
    [tenant, nodeId(message.id).slice(0, 256), message.reason, message.sealed],
  )
}
