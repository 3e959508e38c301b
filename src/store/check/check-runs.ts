/**
 * Stores check runs: requests, claims under a lease, progress, ends. A run whose lease has expired is claimed again and
 * goes on after its last finished step, so no crash loses one.
 */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import {
  type CheckCause,
  type CheckKind,
  type CheckRunState,
  type ClaimedCheckRun,
  type NewCheckRun,
  type StepResult,
  stateOfFindings,
} from '../../core/check-run.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableJson, storableText } from '../database/names.ts'
import type { Param, Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import type { Store } from '../store.ts'
import { addResults } from './check-results.ts'

type RunQuery = <Row extends object>(text: string, params?: readonly Param[]) => Promise<readonly Row[]>

/** Requests a run. @returns its id, and whether it is new: a key that was used before finds the first run */
export async function requestCheckRun(
  run: RunQuery,
  tenant: TenantId,
  asked: NewCheckRun,
): Promise<{ readonly runId: string; readonly isNew: boolean }> {
  const { kind, contract, number, table, catalog, snapshotId, currentSnapshotId, cause, onceKey } = asked
  const [added] = await run<{ run_id: string }>(
    `insert into svc.check_run (tenant_id, kind, contract_id, number, table_id, namespace, table_name, catalog,
       snapshot_id, current_snapshot_id, cause, once_key, input, requested_by)
     values ($1, $2, $3, $4::int, $5, $6::text::jsonb, $7, $8, $9::int8, $10::int8, $11, $12, $13::text::jsonb,
       $14::text::jsonb)
     on conflict (tenant_id, kind, table_id, md5(once_key)) where once_key is not null do nothing returning run_id`,
    [
      ...[
        tenant,
        kind,
        storableText(contract),
        number,
        nodeId(tableKey(table)),
        storableJson(table.namespace),
      ],
      ...[table.name, catalog, snapshotId ?? null, currentSnapshotId ?? null, cause],
      ...[
        onceKey === undefined ? null : storableText(onceKey),
        storableJson(asked.input),
        storableJson(asked.by),
      ],
    ],
  )
  if (added !== undefined) return { runId: added.run_id, isNew: true }
  const [first] = await run<{ run_id: string }>(
    `select run_id from svc.check_run
     where tenant_id = $1 and kind = $2 and table_id = $3 and md5(once_key) = md5($4) and once_key = $4`,
    [tenant, kind, nodeId(tableKey(table)), storableText(onceKey ?? '')],
  )
  if (first === undefined) throw new Fault('conflict', 'The run was requested and is gone. Request it again.')
  return { runId: first.run_id, isNew: false }
}

interface ClaimRow {
  readonly tenant_id: TenantId
  readonly run_id: string
  readonly kind: CheckKind
  readonly contract_id: string
  readonly number: number
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly catalog: string
  readonly snapshot_id: string | null
  readonly current_snapshot_id: string | null
  readonly cause: CheckCause
  readonly input: Readonly<Record<string, unknown>>
  readonly requested_by: Actor
  readonly tries: number
  readonly spent_ms: number
  readonly done: readonly string[]
  readonly bytes_read: string
}

/**
 * Claims the run that has waited longest, of any active tenant, where no other run of its table is under way.
 * @returns undefined where none is due, or another replica claimed one of the same table
 */
export async function claimCheckRun(store: Store, leaseMs: number): Promise<ClaimedCheckRun | undefined> {
  const leaseId = crypto.randomUUID()
  const rows = await store.adminQuery<ClaimRow>(claimText, [leaseId, leaseMs]).catch((thrown: unknown) => {
    if (thrown instanceof Fault && thrown.kind === 'conflict') return []
    throw thrown
  })
  return rows.map(({ tenant_id: tenant, run_id: runId, contract_id: contract, ...row }) => ({
    ...{ tenant, runId, leaseId, contract, kind: row.kind, number: row.number, catalog: row.catalog },
    table: { namespace: row.namespace, name: row.table_name },
    snapshotId: row.snapshot_id === null ? undefined : BigInt(row.snapshot_id),
    currentSnapshotId: row.current_snapshot_id === null ? undefined : BigInt(row.current_snapshot_id),
    ...{ cause: row.cause, input: row.input, by: row.requested_by, tries: row.tries, spentMs: row.spent_ms },
    ...{ done: new Set(row.done), bytesRead: Number(row.bytes_read) },
  }))[0]
}

// Tenants take turns: the one with the fewest runs under way, then the one whose last run began longest ago. So the backlog
// of one holds up no other. Those that wait are found by stepping through an index, so a backlog is not read.
const claimText = `
  with recursive waiting as (
    (select tenant_id from svc.check_run where state in ('queued', 'running') order by tenant_id limit 1)
    union all
    select (select r.tenant_id from svc.check_run r where r.state in ('queued', 'running') and r.tenant_id > w.tenant_id
      order by r.tenant_id limit 1) from waiting w where w.tenant_id is not null),
  turn as materialized (
    select w.tenant_id,
      (select count(*) from svc.check_run r where r.tenant_id = w.tenant_id and r.state = 'running'
        and r.lease_until >= clock_timestamp()) as under_way,
      (select r.started_at from svc.check_run r where r.tenant_id = w.tenant_id and r.started_at is not null
        order by r.started_at desc limit 1) as last_began
    from waiting w join svc.tenant t on t.tenant_id = w.tenant_id and t.state = 'active'),
  due as (
    select r.tenant_id, r.run_id from turn t cross join lateral (
        select q.run_id from svc.check_run q where q.tenant_id = t.tenant_id
          and ((q.state = 'queued' and q.due_at <= clock_timestamp())
            or (q.state = 'running' and q.lease_until < clock_timestamp()))
          and not exists (select 1 from svc.check_run o where o.tenant_id = q.tenant_id and o.table_id = q.table_id
            and o.state = 'running' and o.run_id <> q.run_id)
        order by q.due_at, q.run_seq limit 16) first
      join svc.check_run r on r.tenant_id = t.tenant_id and r.run_id = first.run_id
    where ((r.state = 'queued' and r.due_at <= clock_timestamp())
        or (r.state = 'running' and r.lease_until < clock_timestamp()))
      and not exists (select 1 from svc.check_run o where o.tenant_id = r.tenant_id and o.table_id = r.table_id
        and o.state = 'running' and o.run_id <> r.run_id)
    order by t.under_way, t.last_began nulls first, r.due_at, r.run_seq limit 1 for update of r skip locked)
  update svc.check_run r set state = 'running', lease_id = $1, tries = r.tries + 1,
    started_at = coalesce(r.started_at, clock_timestamp()),
    lease_until = clock_timestamp() + $2::float8 * interval '1 ms'
  from due d where r.tenant_id = d.tenant_id and r.run_id = d.run_id
  returning r.tenant_id, r.run_id, r.kind, r.contract_id, r.number, r.namespace, r.table_name, r.catalog, r.snapshot_id,
    r.current_snapshot_id, r.cause, r.input, r.requested_by, r.tries, r.spent_ms, r.done, r.bytes_read`

type Claim = Pick<ClaimedCheckRun, 'tenant' | 'runId' | 'leaseId'>

/** Extends the lease. @returns what the run should do: go on, stop because it was cancelled, or leave it to another */
export async function renewCheckRun(
  store: Store,
  { tenant, runId, leaseId }: Claim,
  leaseMs: number,
): Promise<'go on' | 'cancelled' | 'lost'> {
  const [row] = await store.tenantQuery<{ cancel_requested: boolean }>(
    tenant,
    `update svc.check_run set lease_until = clock_timestamp() + $4::float8 * interval '1 ms'
     where tenant_id = $1 and run_id = $2 and lease_id = $3 and state = 'running' returning cancel_requested`,
    [tenant, runId, leaseId, leaseMs],
  )
  if (row === undefined) return 'lost'
  return row.cancel_requested ? 'cancelled' : 'go on'
}

/** Says how many steps the run has. */
export async function saveStepCount(store: Store, claim: Claim, steps: number): Promise<void> {
  await store.tenantQuery(
    claim.tenant,
    'update svc.check_run set steps = $4::int where tenant_id = $1 and run_id = $2 and lease_id = $3',
    [claim.tenant, claim.runId, claim.leaseId, steps],
  )
}

/**
 * Stores what a step found, and that it is done, in one transaction.
 * @returns false where another process has the run by now; nothing is stored then
 */
export async function finishStep(
  store: Store,
  claim: Claim,
  step: { readonly key: string; readonly ms: number; readonly result: StepResult },
): Promise<boolean> {
  const { tenant, runId, leaseId } = claim
  const { key, ms, result } = step
  return await store.tenantTransaction(tenant, async (tx) => {
    const owned = await tx.query(
      `update svc.check_run set done = done || to_jsonb($4::text), spent_ms = spent_ms + $5::float8,
         rows_read = greatest(rows_read, $6::int8), bytes_read = bytes_read + $7::int8
       where tenant_id = $1 and run_id = $2 and lease_id = $3 and state = 'running' returning 1`,
      [tenant, runId, leaseId, storableText(key), ms, result.rows ?? 0, result.bytes ?? 0],
    )
    if (owned.length === 0) return false
    await addResults(tx, tenant, { runId, step: key, ms }, result.findings)
    return true
  })
}

/**
 * Ends a run by what all of its steps found, or as given.
 * @returns undefined where another process has the run by now
 */
export async function endCheckRun(
  store: Store,
  { tenant, runId, leaseId }: Claim,
  as?: { readonly state: 'error' | 'cancelled'; readonly reason: string },
): Promise<CheckRunState | undefined> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const state = as?.state ?? (await stateByResults(tx, tenant, runId))
    const [ended] = await tx.query<EndedRow>(
      `update svc.check_run set state = $4, reason = $5, finished_at = clock_timestamp(), lease_id = null,
         lease_until = null where tenant_id = $1 and run_id = $2 and lease_id = $3 and state = 'running'
       returning kind, contract_id, number, namespace, table_name, snapshot_id, cause`,
      [tenant, runId, leaseId, state, as?.reason ?? ''],
    )
    if (ended === undefined) return undefined
    await tellEnd(tx, runId, state, ended)
    return state
  })
}

/** Appends the event that a run has ended. */
export async function tellEnd(tx: Tx, runId: string, state: CheckRunState, ended: EndedRow): Promise<void> {
  const { contract_id: contract, table_name: table, ...rest } = ended
  const data = { ...rest, contract, table, run_id: runId, state }
  await appendEvent(tx, { type: 'checks.ended', subject: runId, data })
}

export interface EndedRow {
  readonly kind: CheckKind
  readonly contract_id: string
  readonly number: number
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly snapshot_id: string | null
  readonly cause: CheckCause
}

async function stateByResults(tx: Tx, tenant: TenantId, runId: string): Promise<CheckRunState> {
  const findings = await tx.query<Parameters<typeof stateOfFindings>[0][number]>(
    'select distinct outcome, severity from svc.check_result where tenant_id = $1 and run_id = $2',
    [tenant, runId],
  )
  return stateOfFindings(findings)
}

/** Gives a claim back: another process may go on at once, or after a wait. */
export async function releaseCheckRun(store: Store, claim: Claim, delayMs: number): Promise<void> {
  await store.tenantQuery(
    claim.tenant,
    `update svc.check_run set state = 'queued', lease_id = null, lease_until = null,
       due_at = clock_timestamp() + $4::float8 * interval '1 ms'
     where tenant_id = $1 and run_id = $2 and lease_id = $3 and state = 'running'`,
    [claim.tenant, claim.runId, claim.leaseId, delayMs],
  )
}

/**
 * Cancels a run: at once where it waits, else by its process.
 * @returns the state afterwards; undefined where there is no such run, or it has ended
 */
export async function cancelCheckRun(
  run: RunQuery,
  tenant: TenantId,
  runId: string,
): Promise<CheckRunState | undefined> {
  const [row] = await run<{ state: CheckRunState }>(
    `update svc.check_run set cancel_requested = true,
       state = case when state = 'queued' then 'cancelled' else state end,
       finished_at = case when state = 'queued' then clock_timestamp() end
     where tenant_id = $1 and run_id = $2 and state in ('queued', 'running') returning state`,
    [tenant, runId],
  )
  return row?.state
}

/** Queues a run again that was cancelled or ended in error; it goes on after its last finished step. */
export async function resumeCheckRun(run: RunQuery, tenant: TenantId, runId: string): Promise<boolean> {
  const rows = await run(
    `update svc.check_run set state = 'queued', cancel_requested = false, due_at = clock_timestamp(), tries = 0,
       finished_at = null, reported_at = null, reason = ''
     where tenant_id = $1 and run_id = $2 and state in ('cancelled', 'error') and cause not in ('deploy', 'external')
       and not exists (select 1 from svc.check_result where tenant_id = $1 and run_id = $2 and outcome = 'error')
     returning 1`,
    [tenant, runId],
  )
  return rows.length === 1
}

/** The runs of a version's deployment, each kind and table once. */
export async function deployRunsOf(
  run: RunQuery,
  tenant: TenantId,
  { contract, number }: { readonly contract: string; readonly number: number },
): Promise<
  readonly {
    readonly runId: string
    readonly state: CheckRunState
    readonly kind: CheckKind
    readonly table: TableRef
    readonly by: Actor
  }[]
> {
  const rows = await run<{
    run_id: string
    state: CheckRunState
    kind: CheckKind
    namespace: readonly string[]
    table_name: string
    requested_by: Actor
  }>(
    `select run_id, state, kind, namespace, table_name, requested_by from svc.check_run
     where tenant_id = $1 and contract_id = $2 and number = $3::int and cause = 'deploy' order by run_seq`,
    [tenant, storableText(contract), number],
  )
  return rows.map(({ run_id: runId, state, kind, namespace, table_name: name, requested_by: by }) => {
    return { runId, state, kind, by, table: { namespace, name } }
  })
}

/** The tenants that requested a run of a deployment within a week. */
export async function tenantsDeploying(store: Store): Promise<readonly TenantId[]> {
  const rows = await store.adminQuery<{ tenant_id: TenantId }>(
    `select distinct tenant_id from svc.check_run
     where cause = 'deploy' and requested_at > clock_timestamp() - interval '7 days'`,
  )
  return rows.map(({ tenant_id: tenant }) => tenant)
}

/** A run that ended with a breach that nobody was told of. */
export interface UnreportedRun {
  readonly tenant: TenantId
  readonly runId: string
}

/** Runs that ended and were not reported, oldest first, of all tenants. */
export async function unreportedRuns(store: Store, limit: number): Promise<readonly UnreportedRun[]> {
  const rows = await store.adminQuery<{ tenant_id: TenantId; run_id: string }>(
    `select tenant_id, run_id from svc.check_run where finished_at is not null and reported_at is null
     order by finished_at limit $1::int`,
    [limit],
  )
  return rows.map(({ tenant_id: tenant, run_id: runId }) => ({ tenant, runId }))
}

/** Says that a run was reported. @returns false where another process did */
export async function markReported(store: Store, { tenant, runId }: UnreportedRun): Promise<boolean> {
  const rows = await store.tenantQuery(
    tenant,
    `update svc.check_run set reported_at = clock_timestamp()
     where tenant_id = $1 and run_id = $2 and reported_at is null returning 1`,
    [tenant, runId],
  )
  return rows.length === 1
}
