/**
 * Detection runs (SPEC 2.9, 3, 6): one per snapshot, queued by whichever trigger is first, claimed under a
 * lease by whichever replica is free. A lease that runs out is claimed again, so no crash loses a snapshot.
 */

import { Fault } from '../base/fault.ts'
import { canonicalLocation, type Hit, type HitSource, type RunState } from '../core/detection.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { nodeId, storableJson } from './names.ts'
import { isUuid, type Page, type PageRequest, pageLimit, toPage } from './page.ts'
import type { Store } from './store.ts'

export interface ClaimedRun {
  readonly tenant: TenantId
  readonly runId: string
  /** Fences what the claimer writes: without it nothing is written. */
  readonly leaseId: string
  readonly metadataLocation: string
  readonly credentialId: string | undefined
  readonly table: TableRef | undefined
  /** Attempts since it was queued, this one included. */
  readonly tries: number
}

export interface DetectionRun {
  readonly id: string
  readonly metadataLocation: string
  readonly source: HitSource
  readonly table: TableRef | undefined
  readonly state: RunState
  readonly attempt: number
  /** Why it failed; '' otherwise. */
  readonly reason: string
  readonly report: Readonly<Record<string, unknown>>
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
}

export interface DetectionAttempt {
  readonly attempt: number
  readonly cause: 'trigger' | 'retry' | 'rescan'
  readonly requestedBy: string | undefined
  readonly startedAt: Date
  readonly finishedAt: Date | undefined
  readonly outcome: 'done' | 'failed' | 'lost' | undefined
  readonly reason: string
  readonly report: Readonly<Record<string, unknown>>
}

interface RunRow {
  readonly run_id: string
  readonly snapshot_metadata_location: string
  readonly source: HitSource
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
  readonly state: RunState
  readonly attempt: number
  readonly reason: string
  readonly report: Readonly<Record<string, unknown>>
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly position: string
}

const runColumns = `run_id, snapshot_metadata_location, source, namespace, table_name, state, attempt, reason, report,
  created_at, finished_at, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '.' || run_id as position`

function tableOf(row: {
  readonly namespace: readonly string[] | null
  readonly table_name: string | null
}): TableRef | undefined {
  return row.namespace === null || row.table_name === null
    ? undefined
    : { namespace: row.namespace, name: row.table_name }
}

function toRun(row: RunRow): DetectionRun {
  return {
    id: row.run_id,
    metadataLocation: row.snapshot_metadata_location,
    source: row.source,
    table: tableOf(row),
    state: row.state,
    attempt: row.attempt,
    reason: row.reason,
    report: row.report,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
  }
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
    `insert into svc.detection_run as r (tenant_id, snapshot_metadata_location, source, credential_id, table_id, namespace, table_name)
     select $1, h ->> 'location', h ->> 'source', (h ->> 'credential_id')::uuid, h ->> 'table_id', nullif(h -> 'namespace', 'null'), h ->> 'table_name'
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
        [...byLocation].map(([location, { source, credentialId, table }]) => ({
          location,
          source,
          credential_id: credentialId ?? null,
          table_id: table === undefined ? null : nodeId(tableKey(table)),
          namespace: table?.namespace ?? null,
          table_name: table?.name ?? null,
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

/**
 * Queues what the tenant's audit log and graph name and no run covers yet.
 * @param limit rows of each to look at now; the rest is left to the next call
 * @returns how many were queued
 */
export async function enqueueUnscanned(store: Store, tenant: TenantId, limit: number): Promise<number> {
  const [row] = await store.tenantQuery<{ queued: number }>(
    tenant,
    'select svc.enqueue_unscanned($1::int) as queued',
    [limit],
  )
  return row?.queued ?? 0
}

/** Of these locations, as they are spelled, those that have no run. */
export async function unscannedLocations(
  store: Store,
  tenant: TenantId,
  locations: readonly string[],
): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ location: string }>(
    tenant,
    `select distinct location from jsonb_array_elements_text($2::text::jsonb) location
     where octet_length(location) between 1 and 2048 and not exists (select from svc.detection_run r
       where r.tenant_id = $1 and r.snapshot_metadata_location = svc.canonical_location(location))`,
    [tenant, storableJson(locations)],
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
  readonly tries: number
}

/** Runs that are due, of any active tenant, those of tenants with fewer runs under way first. */
export function claimRuns(
  store: Store,
  { limit, leaseMs, triesMax }: ClaimOptions,
): Promise<readonly ClaimedRun[]> {
  const leaseId = crypto.randomUUID()
  return store.adminTransaction(async (tx) => {
    await tx.query(
      `with lost as (
         select tenant_id, run_id, attempt from svc.detection_run
         where state = 'running' and lease_until < clock_timestamp() and tries >= $1::int for update skip locked),
       closed as (
         update svc.detection_attempt a set outcome = 'lost', finished_at = clock_timestamp(), reason = 'its process was lost'
         from lost l where a.tenant_id = l.tenant_id and a.run_id = l.run_id and a.attempt = l.attempt and a.outcome is null)
       update svc.detection_run r set state = 'failed', lease_id = null, lease_until = null, finished_at = clock_timestamp(),
         reason = 'every process that scanned it was lost'
       from lost l where r.tenant_id = l.tenant_id and r.run_id = l.run_id`,
      [triesMax],
    )
    const rows = await tx.query<ClaimRow>(
      `with due as (
         select r.tenant_id, r.run_id, r.attempt, r.state, r.cause, r.requested_by
         from svc.detection_run r join svc.tenant t on t.tenant_id = r.tenant_id and t.state = 'active'
         where (r.state = 'queued' and r.due_at <= clock_timestamp()) or (r.state = 'running' and r.lease_until < clock_timestamp())
         order by (select count(*) from svc.detection_run x where x.tenant_id = r.tenant_id and x.state = 'running'), r.due_at
         limit $1::int for update of r skip locked),
       closed as (
         update svc.detection_attempt a set outcome = 'lost', finished_at = clock_timestamp(), reason = 'its process was lost'
         from due d where d.state = 'running' and a.tenant_id = d.tenant_id and a.run_id = d.run_id and a.attempt = d.attempt
           and a.outcome is null),
       opened as (
         insert into svc.detection_attempt (tenant_id, run_id, attempt, cause, requested_by)
         select tenant_id, run_id, attempt + 1, case when state = 'running' then 'retry' else cause end, requested_by from due)
       update svc.detection_run r set state = 'running', attempt = r.attempt + 1, tries = r.tries + 1, lease_id = $2,
         lease_until = clock_timestamp() + $3::float8 * interval '1 ms'
       from due d where r.tenant_id = d.tenant_id and r.run_id = d.run_id
       returning r.tenant_id, r.run_id, r.snapshot_metadata_location, r.credential_id, r.namespace, r.table_name, r.tries`,
      [limit, leaseId, leaseMs],
    )
    return rows.map((row) => ({
      tenant: row.tenant_id,
      runId: row.run_id,
      leaseId,
      metadataLocation: row.snapshot_metadata_location,
      credentialId: row.credential_id ?? undefined,
      table: tableOf(row),
      tries: row.tries,
    }))
  })
}

/**
 * Queues a claimed run again.
 * @param reason why this attempt came to nothing; holds no data
 * @param delayMs milliseconds before the next attempt
 * @returns false where the claim was lost meanwhile
 */
export function retryRun(
  store: Store,
  claim: ClaimedRun,
  reason: string,
  delayMs: number,
): Promise<boolean> {
  return store.tenantTransaction(claim.tenant, async (tx) => {
    const rows = await tx.query<{ attempt: number }>(
      `update svc.detection_run set state = 'queued', cause = 'retry', lease_id = null, lease_until = null,
         due_at = clock_timestamp() + $4::float8 * interval '1 ms'
       where tenant_id = $1 and run_id = $2 and lease_id = $3 returning attempt`,
      [claim.tenant, claim.runId, claim.leaseId, delayMs],
    )
    const [row] = rows
    if (row === undefined) return false
    await tx.query(
      `update svc.detection_attempt set outcome = 'failed', finished_at = clock_timestamp(), reason = $4
       where tenant_id = $1 and run_id = $2 and attempt = $3::int`,
      [claim.tenant, claim.runId, row.attempt, reason],
    )
    return true
  })
}

export interface RunFilter extends PageRequest {
  readonly table?: TableRef | undefined
  readonly state?: RunState | undefined
}

/**
 * The tenant's runs, newest first.
 * @throws Fault `bad_request` for a bad page token
 */
export async function listRuns(
  store: Store,
  tenant: TenantId,
  filter: RunFilter = {},
): Promise<Page<DetectionRun>> {
  const limit = pageLimit(filter)
  const rows = await store.tenantQuery<RunRow>(
    tenant,
    `select ${runColumns} from svc.detection_run
     where tenant_id = $1 and ($2::text is null or table_id = $2) and ($3::text is null or state = $3)
       and ($4::timestamptz is null or (created_at, run_id) < ($4::timestamptz, $5::uuid))
     order by created_at desc, run_id desc limit $6::int`,
    [
      tenant,
      filter.table === undefined ? null : nodeId(tableKey(filter.table)),
      filter.state ?? null,
      ...afterPosition(filter),
      limit + 1,
    ],
  )
  const page = toPage(rows, limit, (row) => row.position)
  return { ...page, items: page.items.map(toRun) }
}

/** `after` of a listing by time and id. @throws Fault `bad_request` where it is none of ours */
export function afterPosition({ after }: PageRequest): readonly [time: string | null, id: string | null] {
  if (after === undefined) return [null, null]
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\.(.{36})$/.exec(after)
  if (match?.[1] === undefined || match[2] === undefined || !isUuid(match[2]) || Number.isNaN(Date.parse(match[1])))
    throw new Fault('bad_request', 'The page token is not valid.')
  return [match[1], match[2]]
}

/** A run with its attempts, or undefined. */
export async function findRun(
  store: Store,
  tenant: TenantId,
  runId: string,
): Promise<(DetectionRun & { readonly attempts: readonly DetectionAttempt[] }) | undefined> {
  if (!isUuid(runId)) return undefined
  return await store.tenantTransaction(
    tenant,
    async (tx) => {
      const [run] = await tx.query<RunRow>(
        `select ${runColumns} from svc.detection_run where tenant_id = $1 and run_id = $2`,
        [tenant, runId],
      )
      if (run === undefined) return undefined
      const attempts = await tx.query<{
        readonly attempt: number
        readonly cause: DetectionAttempt['cause']
        readonly requested_by: string | null
        readonly started_at: Date
        readonly finished_at: Date | null
        readonly outcome: DetectionAttempt['outcome'] | null
        readonly reason: string
        readonly report: Readonly<Record<string, unknown>>
      }>(
        `select attempt, cause, requested_by, started_at, finished_at, outcome, reason, report
         from svc.detection_attempt where tenant_id = $1 and run_id = $2 order by attempt desc limit 100`,
        [tenant, runId],
      )
      return {
        ...toRun(run),
        attempts: attempts.map((row) => ({
          attempt: row.attempt,
          cause: row.cause,
          requestedBy: row.requested_by ?? undefined,
          startedAt: row.started_at,
          finishedAt: row.finished_at ?? undefined,
          outcome: row.outcome ?? undefined,
          reason: row.reason,
          report: row.report,
        })),
      }
    },
    { readOnly: true },
  )
}

/**
 * Has the newest snapshot of a table scanned once more, as another attempt under its run.
 * @param requestedBy whom the attempt names
 * @returns the run, or undefined where the table has none
 * @throws Fault `conflict` where it is being scanned or waits for it already
 */
export function requestRescan(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  requestedBy: string,
): Promise<DetectionRun | undefined> {
  return store.tenantTransaction(tenant, async (tx) => {
    const [run] = await tx.query<{ run_id: string; state: RunState }>(
      `select run_id, state from svc.detection_run where tenant_id = $1 and table_id = $2
       order by created_at desc, run_id desc limit 1 for update`,
      [tenant, nodeId(tableKey(table))],
    )
    if (run === undefined) return undefined
    if (run.state === 'queued' || run.state === 'running')
      throw new Fault('conflict', 'The table is being scanned, or waits for it, already.')
    const rows = await tx.query<RunRow>(
      `update svc.detection_run set state = 'queued', cause = 'rescan', requested_by = $3, tries = 0, due_at = clock_timestamp()
       where tenant_id = $1 and run_id = $2 returning ${runColumns}`,
      [tenant, run.run_id, requestedBy],
    )
    return rows.map(toRun)[0]
  })
}

export interface QueueDepth {
  readonly queued: number
  readonly running: number
  /** Seconds for which the oldest run that is due has waited. */
  readonly oldestSeconds: number
}

/** How much waits, over all tenants. */
export async function queueDepth(store: Store): Promise<QueueDepth> {
  const [row] = await store.adminQuery<{ queued: number; running: number; oldest: number }>(
    `select count(*) filter (where state = 'queued')::int as queued, count(*) filter (where state = 'running')::int as running,
       coalesce(extract(epoch from clock_timestamp() - min(due_at) filter (where state = 'queued' and due_at <= clock_timestamp())), 0)::float8 as oldest
     from svc.detection_run where state in ('queued', 'running')`,
  )
  return { queued: row?.queued ?? 0, running: row?.running ?? 0, oldestSeconds: row?.oldest ?? 0 }
}
