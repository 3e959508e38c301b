/**
 * Writes, claims and closes commit intents (docs/reference/gateway.md 6.1). An intent is durable before anything is
 * forwarded, so that no upstream commit goes unaudited.
 */

import { Fault } from '../../base/fault.ts'
import type { CommitIntent, IntentHead } from '../../core/commit.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { isUuid } from '../database/page.ts'
import type { Param, Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import { assertClaimed, type ClaimRow } from './idempotency-keys.ts'

export interface ClaimedIntent {
  readonly tenant: TenantId
  readonly intent: IntentHead
  /** By the database's clock. */
  readonly openedAt: Date
  /** Whether the upstream call that it covers has surely ended. */
  readonly hasEnded: boolean
}

/** An intent in JSON: bigints as decimal strings, without the body. */
export type StoredIntent = Omit<IntentHead, 'snapshotIds'> & { readonly snapshotIds: readonly string[] }

/** The intent that was stored. */
export function toIntent(stored: StoredIntent): IntentHead {
  return { ...stored, snapshotIds: stored.snapshotIds.map(BigInt) }
}

/** Milliseconds by the database's clock from the moment an intent is written. */
export interface IntentTimes {
  /** The lease of the process that wrote it. */
  readonly leaseMs: number
  /** The time after which the upstream calls that it covers have surely ended. */
  readonly upstreamMs: number
}

export const intentTimes: IntentTimes = {
  leaseMs: limits.intentLeaseMs,
  upstreamMs: limits.upstreamLoadMs + limits.upstreamCommitMs,
}

/**
 * Makes the intent durable, or replaces the intent of the same commit. Resolves only after the database has
 * acknowledged it.
 * @throws Fault, or RepeatedRequest where its Idempotency-Key is known; then nothing may be forwarded
 */
export async function openIntent(
  store: Store,
  tenant: TenantId,
  intent: CommitIntent,
  times: IntentTimes = intentTimes,
): Promise<void> {
  const { commitId, table } = intent
  const stored = storedIntent(intent, times)
  const params = [commitId, nodeId(tableKey(table)), ...stored]
  if (intent.claim === undefined) {
    await store.tenantCall(tenant, 'open_intent', params)
    return
  }
  const [row] = await store.tenantCall<ClaimRow>(tenant, 'open_keyed_intent', params)
  assertClaimed(row)
}

/**
 * The last parameters of the SQL functions that open an intent.
 * @throws Fault `bad_request` for text that cannot be stored unchanged
 */
export function storedIntent(intent: CommitIntent, { leaseMs, upstreamMs }: IntentTimes): readonly Param[] {
  const { body, ...rest } = intent
  const stored = { ...rest, snapshotIds: rest.snapshotIds.map(String) } satisfies StoredIntent
  // The subject and the table's name are stored exactly or not at all.
  for (const text of [intent.principal.sub, tableKey(intent.table)])
    if (text === '' || text.includes('\0') || !text.isWellFormed())
      throw new Fault('bad_request', 'The subject or table name holds a character that cannot be stored.')
  return [storableJson(stored), body, leaseMs, upstreamMs]
}

/**
 * Closes the intent of a commit that the upstream surely did not accept, and gives back the territory taken for it.
 * @returns whether it was open
 */
export async function closeIntent(store: Store, tenant: TenantId, commitId: string): Promise<boolean> {
  if (!isUuid(commitId)) return false
  const rows = await store.tenantQuery(tenant, closeText, [tenant, commitId])
  return rows.length === 1
}

/** The same in a transaction. */
export async function closeIntentIn(tx: Tx, tenant: TenantId, commitId: string): Promise<void> {
  await tx.query(closeText, [tenant, commitId])
}

const closeText = `with claimed as (delete from svc.territory where tenant_id = $1 and claimed_by = $2)
  delete from svc.commit_intent where tenant_id = $1 and commit_id = $2 returning 1`

/**
 * Claims intents of any tenant whose lease and upstream timeout have both passed, oldest first, by renewing the
 * lease; also those whose request has ended, though the upstream may still work on it. It skips intents that another process claims at the same time. {@link loadIntentBody} loads their bodies.
 * @param limit how many at most; more where others are on the same tables, because they are decided together
 * @param leaseMs milliseconds of the new lease
 * @param areOrphans whether no process but this one has the store, so that every intent is claimed
 */
export async function claimStaleIntents(
  store: Store,
  {
    limit,
    leaseMs = limits.intentLeaseMs,
    areOrphans = false,
  }: { readonly limit: number; readonly leaseMs?: number; readonly areOrphans?: boolean },
): Promise<readonly ClaimedIntent[]> {
  const rows = await store.adminQuery<{
    readonly tenant_id: TenantId
    readonly intent: StoredIntent
    readonly opened_at: Date
    readonly has_ended: boolean
  }>(
    `update svc.commit_intent i set lease_until = clock_timestamp() + $2::float8 * interval '1 ms'
     from (select tenant_id, commit_id from svc.commit_intent
           where ($3::bool or lease_until < clock_timestamp() and (upstream_until < clock_timestamp() or intent ? 'ended'))
             and (tenant_id, table_id) in (
               select tenant_id, table_id from svc.commit_intent
               where ($3::bool or lease_until < clock_timestamp() and (upstream_until < clock_timestamp() or intent ? 'ended'))
               order by lease_until limit $1::int)
           for update skip locked) stale
     where (i.tenant_id, i.commit_id) = (stale.tenant_id, stale.commit_id)
     returning i.tenant_id, i.intent, i.opened_at, i.upstream_until < clock_timestamp() as has_ended`,
    [limit, leaseMs, areOrphans],
  )
  return rows.map((row) => ({
    tenant: row.tenant_id,
    intent: toIntent(row.intent),
    openedAt: row.opened_at,
    hasEnded: row.has_ended,
  }))
}

/**
 * Ends the lease of claimed intents that are still open, so that the next claim takes them together with those that
 * became stale since. A leased intent would count as in flight for the others on its table.
 */
export async function releaseIntents(store: Store, claimed: readonly ClaimedIntent[]): Promise<void> {
  if (claimed.length === 0) return
  const given = claimed.map(({ tenant, intent }) => ({ tenant_id: tenant, commit_id: intent.commitId }))
  await store.adminQuery(
    `update svc.commit_intent i set lease_until = now()
     from jsonb_to_recordset($1::text::jsonb) as given (tenant_id uuid, commit_id uuid)
     where (i.tenant_id, i.commit_id) = (given.tenant_id, given.commit_id)`,
    [JSON.stringify(given)],
  )
}

/** The body of an intent, compressed by zstd; undefined if the intent is not open. */
export async function findIntentBody(
  store: Store,
  tenant: TenantId,
  commitId: string,
): Promise<Uint8Array | undefined> {
  return await findBody(store, tenant, 'svc.commit_intent', commitId)
}

/** The request of an intent that a person has settled, compressed by zstd; undefined if there is none. */
export async function findSettledBody(
  store: Store,
  tenant: TenantId,
  commitId: string,
): Promise<Uint8Array | undefined> {
  return await findBody(store, tenant, 'svc.intent_settlement', commitId)
}

async function findBody(
  store: Store,
  tenant: TenantId,
  table: 'svc.commit_intent' | 'svc.intent_settlement',
  commitId: string,
): Promise<Uint8Array | undefined> {
  if (!isUuid(commitId)) return undefined
  const [row] = await store.tenantQuery<{ readonly body: Uint8Array }>(
    tenant,
    `select body from ${table} where tenant_id = $1 and commit_id = $2`,
    [tenant, commitId],
  )
  return row?.body
}

/**
 * The body of an open intent, compressed by zstd.
 * @throws Error where the intent is no longer open
 */
export async function loadIntentBody(store: Store, tenant: TenantId, commitId: string): Promise<Uint8Array> {
  const body = await findIntentBody(store, tenant, commitId)
  if (body === undefined) throw new Error('the intent is no longer open')
  return body
}

/**
 * Ends the lease of an intent whose request has ended without a certain outcome: it is not in progress any more, and
 * recovery may look for what was made.
 * @param answered whether the upstream itself said that its work has ended
 */
export async function endLease(
  store: Store,
  tenant: TenantId,
  commitId: string,
  answered: boolean,
): Promise<void> {
  await store.tenantQuery(
    tenant,
    `update svc.commit_intent set lease_until = clock_timestamp() - interval '1 ms', intent = intent || $3::text::jsonb
     where tenant_id = $1 and commit_id = $2`,
    [tenant, commitId, JSON.stringify({ ended: true, ...(answered && { answered: true }) })],
  )
}

/**
 * Records in an open intent that the upstream accepted its change.
 * @returns whether it was open
 */
export async function markAccepted(store: Store, tenant: TenantId, commitId: string): Promise<boolean> {
  const rows = await store.tenantQuery(
    tenant,
    `update svc.commit_intent set intent = intent || '{"accepted": true}'::jsonb
     where tenant_id = $1 and commit_id = $2 returning 1`,
    [tenant, commitId],
  )
  return rows.length === 1
}

/** How many intents of all tenants are open, and how many of those no process leases any more. */
export async function countIntents(store: Store): Promise<{ readonly open: number; readonly stale: number }> {
  const [row] = await store.adminQuery<{ open: string; stale: string }>(
    `select count(*) as open,
       count(*) filter (where lease_until < clock_timestamp() and upstream_until < clock_timestamp()) as stale
     from svc.commit_intent`,
  )
  return { open: Number(row?.open), stale: Number(row?.stale) }
}

/** An open intent as others on its table see it. */
interface IntentOnTable {
  readonly intent: IntentHead
  /** Whether a process, or a run of recovery, owns it now. */
  readonly isLeased: boolean
  /** Whether the upstream call that it covers has surely ended. */
  readonly hasEnded: boolean
  /** Compressed by zstd; left out for a commit with snapshots, which these show. */
  readonly body: Uint8Array | undefined
}

/** All open intents on a table, under any lease. */
export async function openIntentsOnTable(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<readonly IntentOnTable[]> {
  const rows = await store.tenantQuery<{
    readonly intent: StoredIntent
    readonly is_leased: boolean
    readonly has_ended: boolean
    readonly body: Uint8Array | null
  }>(
    tenant,
    `select intent, lease_until >= clock_timestamp() as is_leased,
       upstream_until < clock_timestamp() or intent ? 'answered' as has_ended,
       case when intent -> 'snapshotIds' = '[]' then body end as body
     from svc.commit_intent where tenant_id = $1 and table_id = $2`,
    [tenant, nodeId(tableKey(table))],
  )
  return rows.map((row) => ({
    intent: toIntent(row.intent),
    isLeased: row.is_leased,
    hasEnded: row.has_ended,
    body: row.body ?? undefined,
  }))
}

/** Commit ids of all open intents on a table, under any lease. */
export async function intentsOnTable(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<readonly string[]> {
  const rows = await store.tenantQuery<{ commit_id: string }>(
    tenant,
    'select commit_id from svc.commit_intent where tenant_id = $1 and table_id = $2',
    [tenant, nodeId(tableKey(table))],
  )
  return rows.map((row) => row.commit_id)
}
