/**
 * Commit intents: durable before anything is forwarded, so that no upstream commit goes unaudited
 * (docs/reference/gateway.md 6.1).
 */

import { Fault } from '../../base/fault.ts'
import type { CommitIntent, IntentHead } from '../../core/commit.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { nodeId, storableJson } from '../database/names.ts'
import { isUuid } from '../database/page.ts'
import type { Param } from '../database/session.ts'
import type { Store } from '../store.ts'

export interface ClaimedIntent {
  readonly tenant: TenantId
  readonly intent: IntentHead
  /** By the database's clock. */
  readonly openedAt: Date
}

/** An intent as JSON keeps it: bigints as decimal strings, without the body. */
type StoredIntent = Omit<IntentHead, 'snapshotIds'> & { readonly snapshotIds: readonly string[] }

/** Milliseconds by the database's clock from the moment an intent is written. */
export interface IntentTimes {
  /** How long it belongs to the process that wrote it. */
  readonly leaseMs: number
  /** By when the upstream calls that it covers are surely over. */
  readonly upstreamMs: number
}

export const intentTimes: IntentTimes = {
  leaseMs: limits.intentLeaseMs,
  upstreamMs: limits.upstreamLoadMs + limits.upstreamCommitMs,
}

/**
 * Makes the intent durable, or one of the same commit name another base. Resolves only after the database
 * has acknowledged it.
 * @throws Fault: nothing may be forwarded then
 */
export async function openIntent(
  store: Store,
  tenant: TenantId,
  intent: CommitIntent,
  times: IntentTimes = intentTimes,
): Promise<void> {
  const { commitId, table } = intent
  const stored = storedIntent(intent, times)
  await store.tenantCall(tenant, 'open_intent', [commitId, nodeId(tableKey(table)), ...stored])
}

/**
 * What the functions that open an intent take of it, in their order.
 * @throws Fault `bad_request` for text that cannot be stored as it is
 */
export function storedIntent(intent: CommitIntent, { leaseMs, upstreamMs }: IntentTimes): readonly Param[] {
  const { body, ...rest } = intent
  const stored = { ...rest, snapshotIds: rest.snapshotIds.map(String) } satisfies StoredIntent
  // Who acts is attributed exactly or not at all.
  for (const text of [intent.principal.sub, tableKey(intent.table)])
    if (text === '' || text.includes('\0') || !text.isWellFormed())
      throw new Fault('bad_request', 'The subject or table name holds a character that cannot be stored.')
  return [storableJson(stored), body, leaseMs, upstreamMs]
}

/** Closes the intent of a commit that the upstream surely has not taken. @returns whether it was open */
export async function closeIntent(store: Store, tenant: TenantId, commitId: string): Promise<boolean> {
  if (!isUuid(commitId)) return false
  const rows = await store.tenantQuery(
    tenant,
    'delete from svc.commit_intent where tenant_id = $1 and commit_id = $2 returning 1',
    [tenant, commitId],
  )
  return rows.length === 1
}

/**
 * Claims intents of any tenant whose lease and upstream time-out have both passed, oldest first, by
 * renewing their lease; one that another process claims at the same time is skipped. They come without their bodies,
 * which {@link loadIntentBody} gives one by one.
 * @param limit how many at most, but for the others on their tables, which are decided together
 * @param leaseMs how long they belong to this process now
 */
export async function claimStaleIntents(
  store: Store,
  { limit, leaseMs = limits.intentLeaseMs }: { readonly limit: number; readonly leaseMs?: number },
): Promise<readonly ClaimedIntent[]> {
  const rows = await store.adminQuery<{
    readonly tenant_id: TenantId
    readonly intent: StoredIntent
    readonly opened_at: Date
  }>(
    `update svc.commit_intent i set lease_until = clock_timestamp() + $2::float8 * interval '1 ms'
     from (select tenant_id, commit_id from svc.commit_intent
           where lease_until < clock_timestamp() and upstream_until < clock_timestamp()
             and (tenant_id, table_id) in (
               select tenant_id, table_id from svc.commit_intent
               where lease_until < clock_timestamp() and upstream_until < clock_timestamp()
               order by lease_until limit $1::int)
           for update skip locked) stale
     where (i.tenant_id, i.commit_id) = (stale.tenant_id, stale.commit_id)
     returning i.tenant_id, i.intent, i.opened_at`,
    [limit, leaseMs],
  )
  return rows.map((row) => ({
    tenant: row.tenant_id,
    intent: { ...row.intent, snapshotIds: row.intent.snapshotIds.map(BigInt) },
    openedAt: row.opened_at,
  }))
}

/**
 * Gives back what was claimed and is still open, so that the next claim takes it together with what became stale
 * meanwhile: those that belong to somebody count as under way for the others on their table.
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

/**
 * The body of an open intent, compressed by zstd.
 * @throws Error where the intent is open no more
 */
export async function loadIntentBody(store: Store, tenant: TenantId, commitId: string): Promise<Uint8Array> {
  const [row] = await store.tenantQuery<{ readonly body: Uint8Array }>(
    tenant,
    'select body from svc.commit_intent where tenant_id = $1 and commit_id = $2',
    [tenant, commitId],
  )
  if (row === undefined) throw new Error('the intent is open no more')
  return row.body
}

/** How many intents of all tenants are open, and how many of those no process owns any more. */
export async function countIntents(store: Store): Promise<{ readonly open: number; readonly stale: number }> {
  const [row] = await store.adminQuery<{ open: string; stale: string }>(
    `select count(*) as open,
       count(*) filter (where lease_until < clock_timestamp() and upstream_until < clock_timestamp()) as stale
     from svc.commit_intent`,
  )
  return { open: Number(row?.open), stale: Number(row?.stale) }
}

/** Commit ids of all open intents on a table, whoever owns them. */
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
