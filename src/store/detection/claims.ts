/**
 * Claims detection runs under a lease (docs/reference/detection.md 3.2) and ends attempts. A run whose lease has
 * expired is claimed again, so no crash loses a snapshot.
 */

import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson } from '../database/names.ts'
import type { TransactionOptions } from '../database/session.ts'
import type { Store } from '../store.ts'
import { tableOf } from './runs.ts'

export interface ClaimedRun {
  readonly tenant: TenantId
  readonly runId: string
  /** Fences the writes of the claimer: another lease id writes nothing. */
  readonly leaseId: string
  readonly metadataLocation: string
  readonly credentialId: string | undefined
  readonly table: TableRef | undefined
  /** The table according to a webhook. */
  readonly advisory: TableRef | undefined
  /** Attempts since the run was queued, this one included. */
  readonly tries: number
  /** Whether somebody asked for it: then the current snapshot is scanned, whichever file added it. */
  readonly isRescan: boolean
  /** Whether the run fails without another claim if this attempt is lost. */
  readonly isLast: boolean
}

export interface ClaimOptions {
  readonly limit: number
  /** Milliseconds of the lease. */
  readonly leaseMs: number
  /** A run whose claimers were all lost fails after this many attempts. */
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
  readonly requested_by: string | null
}

/**
 * Claims runs that are due, of any active tenant, those of tenants with fewer running runs first. If a crash of the
 * database undoes a claim, the run stays due and is claimed again, and the first claimer's results are not written.
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
    isRescan: row.requested_by !== null,
    isLast: row.tries >= triesMax,
  }))
}

// A backlog may be long, so it is never sorted whole, and only claimed rows are locked. Waiting tenants are found by an
// index skip scan. Of each tenant, four times `limit` runs are read, because other replicas claim at the same time.
const claimText = `
  with recursive lost as (
    select tenant_id, run_id, attempt from svc.detection_run
    where state = 'running' and lease_until < clock_timestamp() and tries >= $4::int for update skip locked),
  ended as (
    update svc.detection_run r set state = 'failed', lease_id = null, lease_until = null, finished_at = clock_timestamp(),
      reason = 'every process that scanned it was lost'
    from lost l where r.tenant_id = l.tenant_id and r.run_id = l.run_id),
  under_way as materialized (
    select tenant_id, count(*) as runs from svc.detection_run where state = 'running' group by tenant_id),
  waiting as (
    (select tenant_id from svc.detection_run where state = 'queued' order by tenant_id limit 1)
    union all
    select (select r.tenant_id from svc.detection_run r where r.state = 'queued' and r.tenant_id > w.tenant_id
      order by r.tenant_id limit 1)
    from waiting w where w.tenant_id is not null),
  queued as (
    select q.tenant_id, q.run_id from waiting w join svc.tenant t on t.tenant_id = w.tenant_id and t.state = 'active'
    cross join lateral (
      select q.tenant_id, q.run_id from svc.detection_run q
      where q.tenant_id = w.tenant_id and q.state = 'queued' and q.due_at <= statement_timestamp()
      order by q.due_at limit $1::int * 4) q),
  abandoned as (
    select r.tenant_id, r.run_id from svc.detection_run r join svc.tenant t on t.tenant_id = r.tenant_id and t.state = 'active'
    where r.state = 'running' and r.lease_until < clock_timestamp() and r.tries < $4::int),
  due as (
    select r.tenant_id, r.run_id, r.attempt, r.state, r.cause, r.requested_by
    from (select * from queued union all select * from abandoned) c
    join svc.detection_run r on r.tenant_id = c.tenant_id and r.run_id = c.run_id
    left join under_way u on u.tenant_id = r.tenant_id
    where (r.state = 'queued' and r.due_at <= statement_timestamp())
      or (r.state = 'running' and r.lease_until < clock_timestamp() and r.tries < $4::int)
    order by coalesce(u.runs, 0), r.due_at limit $1::int for update of r skip locked),
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
  returning r.tenant_id, r.run_id, r.snapshot_metadata_location, r.credential_id, r.namespace, r.table_name, r.advisory, r.tries, r.requested_by`

/**
 * Queues a claimed run again.
 * @param reason why this attempt failed; holds no data
 * @param delayMs milliseconds before the next attempt
 * @param options.counts false where the attempt ended for a reason unrelated to the snapshot, so it is not counted
 * @returns false where the claim was lost in the meantime
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
      attemptEndOptions(claim),
    )
    .then((rows) => rows.length === 1)
}

/**
 * How the end of an attempt is committed. It does not wait for the log, because an attempt whose end a crash of the
 * database undoes is repeated after its lease. The last attempt waits, because after its lease the run has failed.
 */
export function attemptEndOptions({ isLast }: ClaimedRun): TransactionOptions {
  return { mayBeLost: !isLast }
}

/** Records the credential of a claimed run and, where it was found, its table. */
export async function recordTableOfRun(
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
    // The end of the attempt is committed later, so a crash that undoes this undoes that too.
    { mayBeLost: true },
  )
}
