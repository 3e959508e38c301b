/**
 * Detection runs (SPEC 2.9, 3, 6): one per snapshot, queued by whichever trigger is first, claimed under a
 * lease by whichever replica is free. A lease that runs out is claimed again, so no crash loses a snapshot.
 */

import { Fault } from '../base/fault.ts'
import { canonicalLocation, type Hit, type RunState } from '../core/detection.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { nodeId, storableJson } from './names.ts'
import type { TransactionOptions } from './session.ts'
import type { Store } from './store.ts'

export interface ClaimedRun {
  readonly tenant: TenantId
  readonly runId: string
  /** Fences what the claimer writes: without it nothing is written. */
  readonly leaseId: string
  readonly metadataLocation: string
  readonly credentialId: string | undefined
  readonly table: TableRef | undefined
  /** What a webhook said the table is. */
  readonly advisory: TableRef | undefined
  /** Attempts since it was queued, this one included. */
  readonly tries: number
  /** Whether the run has failed, and is not claimed again, if this attempt is lost. */
  readonly isLast: boolean
}

/** The table that a row names, if it names one. */
export function tableOf(row: {
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
}): TableRef | undefined {
  return row.namespace === null || row.table_name === null
    ? undefined
    : { namespace: row.namespace, name: row.table_name }
}

/**
 * Queues snapshots of one tenant durably; one that has a run keeps it and only learns its table or catalog.
 * @returns how many are new, and the finished runs whose table was not known before
 */
export async function enqueueHits(
  store: Store,
  tenant: TenantId,
  hits: readonly Hit[],
): Promise<{ readonly added: number; readonly learnt: readonly string[] }> {
  if (hits.some((hit) => hit.tenant !== tenant))
    throw new Fault('internal', 'Internal error.', { detail: 'a hit of another tenant' })
  if (hits.length === 0) return { added: 0, learnt: [] }
  const byLocation = new Map(hits.map((hit) => [canonicalLocation(hit.metadataLocation), hit]))
  const rows = await store.tenantQuery<{ added: boolean; run_id: string; state: RunState }>(
    tenant,
    `insert into svc.detection_run as r (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name, advisory)
     select $1, h ->> 'location', h ->> 'source', (h ->> 'credential_id')::uuid, h ->> 'table_id', nullif(h -> 'namespace', 'null'), h ->> 'table_name', nullif(h -> 'advisory', 'null')
     from jsonb_array_elements($2::text::jsonb) h
     order by h ->> 'location'
     on conflict on constraint detection_run_snapshot do update
       set credential_id = coalesce(r.credential_id, excluded.credential_id), table_id = coalesce(r.table_id, excluded.table_id),
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
  )
  const finished = rows.filter(({ added, state }) => !added && (state === 'done' || state === 'failed'))
  return {
    added: rows.filter(({ added }) => added).length,
    learnt: finished.map(({ run_id }) => run_id),
  }
}

/** Rows looked at in one transaction: others come between two of them. */
const unscannedPage = 250

/**
 * Queues what the tenant's audit log and graph name and no run covers yet, page by page.
 * @param limit of each, once so many are queued, the rest is left to the next call
 * @param signal ends it between two pages
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
    // A crash of the database takes back runs and cursor together: the next look finds the same again.
    { mayBeLost: true },
  )
  if (row === undefined) throw new Fault('internal', 'Internal error.', { detail: 'a page gave no row' })
  return row
}

/** Of these locations, as they are spelled, those that have no run, or one whose table is not known. */
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
    // OFFSET keeps it one look by key for each; a plan made while there were few runs must not be kept.
    { prepare: false },
  )
  return rows.map(({ location }) => location)
}

export interface ClaimOptions {
  readonly limit: number
  /** Milliseconds for which the claim holds. */
  readonly leaseMs: number
  /** After this many attempts a run whose claimers all vanished has failed. */
  readonly triesMax: number
}

interface ClaimRow {
  readonly tenant_id: TenantId
  readonly run_id: string
  readonly snapshot_metadata_location: string
  readonly credential_id: string | null
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
  readonly advisory: TableRef | null
  readonly tries: number
}

/**
 * Runs that are due, of any active tenant, those of tenants with fewer runs under way first. A claim that a crash
 * of the database takes back leaves its run due: what its claimer finds out is then not written, and it is claimed anew.
 */
export async function claimRuns(
  store: Store,
  { limit, leaseMs, triesMax }: ClaimOptions,
): Promise<readonly ClaimedRun[]> {
  const leaseId = crypto.randomUUID()
  const rows = await store.adminQuery<ClaimRow>(claimText, [limit, leaseId, leaseMs, triesMax], {
    mayBeLost: true,
  })
  return rows.map((row) => ({
    tenant: row.tenant_id,
    runId: row.run_id,
    leaseId,
    metadataLocation: row.snapshot_metadata_location,
    credentialId: row.credential_id ?? undefined,
    table: tableOf(row),
    advisory: row.advisory ?? undefined,
    tries: row.tries,
    isLast: row.tries >= triesMax,
  }))
}

// What each tenant has under way is counted once, not for every run that is due: a backlog may be long.
const claimText = `
  with lost as (
    select tenant_id, run_id, attempt from svc.detection_run
    where state = 'running' and lease_until < clock_timestamp() and tries >= $4::int for update skip locked),
  ended as (
    update svc.detection_run r set state = 'failed', lease_id = null, lease_until = null, finished_at = clock_timestamp(),
      reason = 'every process that scanned it was lost'
    from lost l where r.tenant_id = l.tenant_id and r.run_id = l.run_id),
  under_way as materialized (
    select tenant_id, count(*) as runs from svc.detection_run where state = 'running' group by tenant_id),
  due as (
    select r.tenant_id, r.run_id, r.attempt, r.state, r.cause, r.requested_by
    from svc.detection_run r join svc.tenant t on t.tenant_id = r.tenant_id and t.state = 'active'
    left join under_way u on u.tenant_id = r.tenant_id
    where (r.state = 'queued' and r.due_at <= clock_timestamp())
      or (r.state = 'running' and r.lease_until < clock_timestamp() and r.tries < $4::int)
    order by coalesce(u.runs, 0), r.due_at
    limit $1::int for update of r skip locked),
  closed as (
    update svc.detection_attempt a set outcome = 'lost', finished_at = clock_timestamp(), reason = 'its process was lost'
    from (select tenant_id, run_id, attempt from lost
      union all select tenant_id, run_id, attempt from due where state = 'running') g
    where a.tenant_id = g.tenant_id and a.run_id = g.run_id and a.attempt = g.attempt and a.outcome is null),
  opened as (
    insert into svc.detection_attempt (tenant_id, run_id, attempt, cause, requested_by)
    select tenant_id, run_id, attempt + 1, case when state = 'running' then 'retry' else cause end, requested_by from due)
  update svc.detection_run r set state = 'running', attempt = r.attempt + 1, tries = r.tries + 1, lease_id = $2,
    lease_until = clock_timestamp() + $3::float8 * interval '1 ms'
  from due d where r.tenant_id = d.tenant_id and r.run_id = d.run_id
  returning r.tenant_id, r.run_id, r.snapshot_metadata_location, r.credential_id, r.namespace, r.table_name, r.advisory, r.tries`

/**
 * Queues a claimed run again.
 * @param reason why this attempt came to nothing; holds no data
 * @param delayMs milliseconds before the next attempt
 * @param options.counts false where the attempt was cut off through no fault of the snapshot
 * @returns false where the claim was lost meanwhile
 */
export function retryRun(
  store: Store,
  claim: ClaimedRun,
  reason: string,
  delayMs: number,
  options: { readonly counts: boolean } = { counts: true },
): Promise<boolean> {
  return store
    .tenantQuery(
      claim.tenant,
      `with queued as (
         update svc.detection_run set state = 'queued', cause = 'retry', lease_id = null, lease_until = null,
           due_at = clock_timestamp() + $4::float8 * interval '1 ms', tries = tries - $5::int
         where tenant_id = $1 and run_id = $2 and lease_id = $3 returning attempt)
       update svc.detection_attempt a set outcome = 'failed', finished_at = clock_timestamp(), reason = $6
       from queued q where a.tenant_id = $1 and a.run_id = $2 and a.attempt = q.attempt returning 1`,
      [claim.tenant, claim.runId, claim.leaseId, delayMs, options.counts ? 0 : 1, reason],
      endOfAttempt(claim),
    )
    .then((rows) => rows.length === 1)
}

/**
 * How the end of an attempt is committed. One that a crash of the database takes back is made again once its lease
 * has ended, so it does not wait for the log; but for the last attempt, after whose lease the run has failed.
 */
export function endOfAttempt({ isLast }: ClaimedRun): TransactionOptions {
  return { mayBeLost: !isLast }
}

/** The table of a snapshot that the graph knows, or undefined. */
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

/** Writes down what was learnt of a claimed run: its credential and, where it is known, its table. */
export async function nameRun(
  store: Store,
  claim: ClaimedRun,
  credentialId: string,
  table: TableRef | undefined,
): Promise<void> {
  await store.tenantQuery(
    claim.tenant,
    `update svc.detection_run set credential_id = coalesce(credential_id, $4), table_id = coalesce(table_id, $5),
       namespace = coalesce(namespace, $6::text::jsonb), table_name = coalesce(table_name, $7)
     where tenant_id = $1 and run_id = $2 and lease_id = $3`,
    [
      claim.tenant,
      claim.runId,
      claim.leaseId,
      credentialId,
      table === undefined ? null : nodeId(tableKey(table)),
      table === undefined ? null : storableJson(table.namespace),
      table?.name ?? null,
    ],
    // What ends the attempt is committed after it, so this is lost only together with that.
    { mayBeLost: true },
  )
}

/** The namespaces in which the graph knows tables: where the poller looks upstream. */
export async function knownNamespaces(
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
