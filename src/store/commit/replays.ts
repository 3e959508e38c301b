/** Replays of policies against the audit log: their state, the stored changes that they look at, and their findings. */

import { Fault } from '../../base/fault.ts'
import type { Actor } from '../../core/administration.ts'
import type { AppliedPolicy, CatalogAction } from '../../core/commit.ts'
import type { Decision } from '../../core/decision.ts'
import {
  type Replayed,
  type ReplayFinding,
  type ReplayOutcome,
  type ReplayState,
  replayBounds,
  replayFindings,
  type StoredChange,
  type StoredOutcome,
} from '../../core/policy-replay.ts'
import type { Principal } from '../../core/principal.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { given } from '../database/conditions.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterCount, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Param } from '../database/session.ts'
import type { Store } from '../store.ts'
import { type OriginRow, originOf, policiesOf } from './audit.ts'
import { chosenBy, type ReplayRequest } from './replayed-changes.ts'

type ReplayCounts = Readonly<Partial<Record<ReplayOutcome, number>>>

/** The changes of one outcome in one table. */
interface TableCount {
  readonly table: TableRef
  readonly outcome: ReplayOutcome
  readonly count: number
}

export interface Replay {
  readonly id: string
  readonly request: ReplayRequest
  readonly startedBy: Actor
  readonly createdAt: Date
  readonly state: ReplayState
  readonly finishedAt: Date | undefined
  readonly total: number
  readonly counts: ReplayCounts
  /** The same by table; some are missing in a replay of an older version. */
  readonly tableCounts: readonly TableCount[]
  readonly problem: string | undefined
}

/** A replay with its place, for the job that advances it. */
export interface OpenReplay extends Replay {
  readonly tenant: TenantId
  readonly nextSeq: string
  readonly floorSeq: string
}

interface Row {
  readonly tenant_id: TenantId
  readonly replay_id: string
  readonly replay_seq: string
  readonly request: Replay['request']
  readonly started_by: Actor
  readonly created_at: Date
  readonly state: ReplayState
  readonly finished_at: Date | null
  readonly next_seq: string
  readonly floor_seq: string
  readonly total: string
  readonly counts: ReplayCounts
  readonly table_counts: Readonly<Record<string, number>>
  readonly problem: string | null
}

function toReplay(row: Row): OpenReplay {
  return {
    tenant: row.tenant_id,
    id: row.replay_id,
    request: row.request,
    startedBy: row.started_by,
    createdAt: row.created_at,
    state: row.state,
    finishedAt: row.finished_at ?? undefined,
    nextSeq: row.next_seq,
    floorSeq: row.floor_seq,
    total: Number(row.total),
    counts: row.counts,
    tableCounts: Object.entries(row.table_counts).map(([key, count]) => tableCountOf(key, count)),
    problem: row.problem ?? undefined,
  }
}

const keySeparator = '\u001f'
const countKey = (outcome: ReplayOutcome, table: TableRef) => `${outcome}${keySeparator}${tableKey(table)}`
function tableCountOf(key: string, count: number): TableCount {
  const [outcome, ...names] = key.split(keySeparator)
  return {
    outcome: outcome as ReplayOutcome,
    table: { namespace: names.slice(0, -1), name: names.at(-1) ?? '' },
    count,
  }
}

/**
 * Starts a replay of what is on record now.
 * @throws Fault `conflict` where the tenant has as many running as it may
 */
export async function startReplay(
  store: Store,
  tenant: TenantId,
  request: ReplayRequest,
  by: Actor,
): Promise<Replay> {
  const id = crypto.randomUUID()
  return await store.tenantTransaction(tenant, async (tx) => {
    // Two requests at once must not both find room.
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('policy-replay ' || $1::text, 0))`, [
      tenant,
    ])
    const [running] = await tx.query<{ readonly count: string }>(
      `select count(*) as count from svc.policy_replay where tenant_id = $1 and state = 'running'`,
      [tenant],
    )
    if (Number(running?.count) >= replayBounds.runningMax)
      throw new Fault(
        'conflict',
        `${replayBounds.runningMax} replays of the tenant are running. Wait for one, or cancel it.`,
      )
    const params: Param[] = [tenant]
    const where = chosenBy(request, params)
    const [chosen] = await tx.query<{
      readonly newest: string
      readonly floor: string
      readonly total: string
    }>(
      `select coalesce(max(audit_seq), 0) as newest, coalesce(min(audit_seq), 1) as floor, count(*) as total
       from (select audit_seq from svc.audit_log where tenant_id = $1 and ${where}
         order by audit_seq desc limit $${params.push(request.commits)}::int) a`,
      params,
    )
    const subject = { replay: id }
    await recordAdministration(tx, by, { action: 'start-policy-replay', subject, value: request })
    const [row] = await tx.query<Row>(
      `insert into svc.policy_replay (tenant_id, replay_id, request, started_by, next_seq, floor_seq, total)
       values ($1, $2::text::uuid, $3::text::jsonb, $4::text::jsonb, $5::int8, $6::int8, $7::int8) returning *`,
      [
        tenant,
        id,
        storableJson(request),
        storableJson(by),
        chosen?.newest ?? 0,
        chosen?.floor ?? 1,
        chosen?.total ?? 0,
      ],
    )
    await tx.query(
      `delete from svc.policy_replay where tenant_id = $1 and state <> 'running' and replay_seq <= (
         select replay_seq from svc.policy_replay where tenant_id = $1 order by replay_seq desc
         offset $2::int limit 1)`,
      [tenant, replayBounds.kept],
    )
    if (row === undefined) throw new Error('an insert gave no row')
    return toReplay(row)
  })
}

/** The running replay of any active tenant that waits longest for its turn. */
export async function nextReplay(store: Store): Promise<OpenReplay | undefined> {
  const [row] = await store.adminQuery<Row>(
    `select r.* from svc.policy_replay r join svc.tenant t using (tenant_id)
     where r.state = 'running' and t.state = 'active' order by r.advanced_at limit 1`,
  )
  return row && toReplay(row)
}

interface ChangeRow extends OriginRow {
  readonly audit_seq: string
  readonly commit_id: string
  readonly action: CatalogAction
  readonly namespace: readonly string[]
  readonly table_name: string
  readonly principal: Principal
  readonly decision: Decision
  readonly received_at_ms: number
  readonly created_at: Date
  readonly credential_id: string
  readonly base_metadata_location: string
  readonly body: Uint8Array
  readonly policies: readonly AppliedPolicy[]
  readonly outcomes: readonly StoredOutcome[]
}

/**
 * The next changes of a replay, from new to old; none at its end. Their bodies have at most `bytesMax` bytes together,
 * but for a single one.
 */
export async function nextChanges(
  store: Store,
  { tenant, request, nextSeq, floorSeq }: OpenReplay,
  bounds: { readonly changesMax: number; readonly bytesMax: number },
): Promise<readonly StoredChange[]> {
  const params: Param[] = [tenant, nextSeq, floorSeq, bounds.changesMax, bounds.bytesMax]
  const where = chosenBy(request, params)
  const rows = await store.tenantQuery<ChangeRow>(
    tenant,
    `with chosen as materialized (
       select audit_seq, octet_length(body) as size from svc.audit_log
       where tenant_id = $1 and audit_seq <= $2::int8 and audit_seq >= $3::int8 and ${where}
       order by audit_seq desc limit $4::int),
     bounded as (
       select audit_seq, sum(size) over (order by audit_seq desc) - size as before from chosen)
     select a.audit_seq, a.commit_id, a.action, a.namespace, a.table_name, a.principal, a.decision, a.created_at,
       a.credential_id, a.base_metadata_location, a.session_id, a.session_name, a.client, a.application_id, a.branch,
       a.body, ${policiesOf('a')} as policies, a.outcomes,
       round(extract(epoch from a.received_at) * 1000)::float8 as received_at_ms
     from bounded b join svc.audit_log a using (audit_seq)
     where a.tenant_id = $1 and b.before < $5::int8 order by a.audit_seq desc`,
    params,
    { readOnly: true },
  )
  return rows.map((row) => ({
    auditSeq: row.audit_seq,
    commitId: row.commit_id,
    action: row.action,
    table: { namespace: row.namespace, name: row.table_name },
    principal: row.principal,
    origin: originOf(row),
    decision: row.decision,
    receivedAtMs: row.received_at_ms,
    createdAt: row.created_at,
    credentialId: row.credential_id,
    baseMetadataLocation: row.base_metadata_location,
    body: row.body,
    policies: row.policies,
    outcomes: row.outcomes,
  }))
}

/** A column of counts with those of a parameter added. */
const summed = (column: string, added: string) => `(select coalesce(jsonb_object_agg(key, total), '{}') from (
  select key, sum(value::int8) as total from (
    select * from jsonb_each_text(${column}) union all select * from jsonb_each_text(${added}::text::jsonb)) e
  group by key) s)`

const isFinding = (outcome: ReplayOutcome): outcome is ReplayFinding =>
  (replayFindings as readonly ReplayOutcome[]).includes(outcome)

/**
 * Keeps what a batch came to, and moves the replay on. Nothing where it was cancelled or another process advanced it.
 * @param batch empty at the end, which finishes the replay
 * @returns whether it goes on
 */
export async function advanceReplay(
  store: Store,
  { tenant, id, nextSeq }: OpenReplay,
  batch: readonly (readonly [StoredChange, Replayed])[],
): Promise<boolean> {
  const counts: Partial<Record<ReplayOutcome, number>> = {}
  const tableCounts: Record<string, number> = {}
  for (const [{ table }, { outcome }] of batch) {
    counts[outcome] = (counts[outcome] ?? 0) + 1
    const key = countKey(outcome, table)
    tableCounts[key] = (tableCounts[key] ?? 0) + 1
  }
  const findings = batch.flatMap(([change, { outcome, reason = '', explanation }]) =>
    isFinding(outcome)
      ? [
          {
            audit_seq: change.auditSeq,
            commit_id: change.commitId,
            action: change.action,
            namespace: change.table.namespace,
            table_name: change.table.name,
            committer: change.principal.sub,
            decision: change.decision,
            created_at: change.createdAt,
            outcome,
            reason: clipped(reason, 4_096),
            explanation: explanation === undefined ? null : clipped(explanation, 8_192),
          },
        ]
      : [],
  )
  const last = batch.at(-1)?.[0].auditSeq
  return await store.tenantTransaction(tenant, async (tx) => {
    const rows = await tx.query<{ readonly state: ReplayState }>(
      `update svc.policy_replay set advanced_at = clock_timestamp(), next_seq = coalesce($4::int8 - 1, next_seq),
         state = case when $4::int8 is null then 'done' else state end,
         finished_at = case when $4::int8 is null then clock_timestamp() end,
         counts = ${summed('counts', '$5')}, table_counts = ${summed('table_counts', '$6')}
       where tenant_id = $1 and replay_id = $2::text::uuid and state = 'running' and next_seq = $3::int8
       returning state`,
      [tenant, id, nextSeq, last ?? null, JSON.stringify(counts), storableJson(tableCounts)],
    )
    if (rows[0] === undefined) return false
    if (findings.length > 0)
      await tx.query(
        `insert into svc.policy_replay_finding (tenant_id, replay_id, audit_seq, commit_id, action, namespace,
           table_name, committer, decision, created_at, outcome, reason, explanation)
         select $1, $2::text::uuid, f.* from jsonb_to_recordset($3::text::jsonb) f (audit_seq int8, commit_id uuid,
           action text, namespace jsonb, table_name text, committer text, decision text, created_at timestamptz,
           outcome text, reason text, explanation text)`,
        [tenant, id, storableJson(findings)],
      )
    return rows[0].state === 'running'
  })
}

/** At most so many bytes of UTF-8. */
function clipped(text: string, bytesMax: number): string {
  return Buffer.byteLength(text) <= bytesMax ? text : `${text.slice(0, Math.floor(bytesMax / 4))}…`
}

/** Ends a replay before its end. @returns undefined where there is none of the id */
export async function endReplay(
  store: Store,
  tenant: TenantId,
  id: string,
  state: 'cancelled' | 'failed',
  { by, problem }: { readonly by?: Actor; readonly problem?: string } = {},
): Promise<Replay | undefined> {
  if (!isUuid(id)) return undefined
  await store.tenantTransaction(tenant, async (tx) => {
    const rows = await tx.query(
      `update svc.policy_replay set state = $3, finished_at = clock_timestamp(), problem = $4
       where tenant_id = $1 and replay_id = $2::text::uuid and state = 'running' returning state`,
      [tenant, id, state, problem === undefined ? null : storableText(problem)],
    )
    if (rows.length > 0 && by !== undefined)
      await recordAdministration(tx, by, { action: 'cancel-policy-replay', subject: { replay: id } })
  })
  return await findReplay(store, tenant, id)
}

/** A replay; undefined where the tenant has none of the id. */
export async function findReplay(store: Store, tenant: TenantId, id: string): Promise<Replay | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await store.tenantQuery<Row>(
    tenant,
    'select * from svc.policy_replay where tenant_id = $1 and replay_id = $2::text::uuid',
    [tenant, id],
  )
  return row && toReplay(row)
}

/** The tenant's replays, newest first. @throws Fault `bad_request` for a bad page token */
export async function listReplays(store: Store, tenant: TenantId, page: PageRequest): Promise<Page<Replay>> {
  const limit = pageLimit(page)
  const { text, params } = given([tenant, limit + 1], ['replay_seq < ?::int8', afterCount(page)])
  const rows = await store.tenantQuery<Row>(
    tenant,
    `select * from svc.policy_replay where tenant_id = $1${text} order by replay_seq desc limit $2::int`,
    params,
  )
  const found = toPage(rows, limit, (row) => row.replay_seq)
  return { ...found, items: found.items.map(toReplay) }
}
