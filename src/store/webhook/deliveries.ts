/** Stores what is to be sent to webhooks, and how each attempt ended. */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import {
  type Attempt,
  type AttemptOutcome,
  type DeliveryState,
  delivery,
  type ListedDelivery,
} from '../../core/webhook.ts'
import { given } from '../database/conditions.ts'
import { storableText } from '../database/names.ts'
import { afterCount, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { rowsOf } from '../database/rows.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'
import type { Claim } from './claims.ts'

/** An event as it is sent to one subscription. */
export interface QueuedEvent {
  readonly sequence: bigint
  readonly type: string
  readonly body: string
}

/**
 * Queues events for a claimed subscription and moves its position, all or nothing.
 * @returns false where the lease is lost; nothing is queued then
 */
export async function queueEvents(
  store: Store,
  claim: Claim,
  events: readonly QueuedEvent[],
  position: bigint,
): Promise<boolean> {
  return await store.tenantTransaction(claim.tenant, async (tx) => {
    const moved = await tx.query(
      `update svc.webhook_subscription set position = $4::int8
       where tenant_id = $1 and subscription_id = $2 and lease_id = $3 and position <= $4::int8 returning 1`,
      [claim.tenant, claim.id, claim.leaseId, String(position)],
    )
    if (moved.length === 0) return false
    await insertEvents(tx, claim.tenant, claim.id, events, 'do nothing')
    return true
  })
}

async function insertEvents(
  tx: Tx,
  tenant: TenantId,
  subscription: string,
  events: readonly QueuedEvent[],
  onConflict: string,
): Promise<number> {
  if (events.length === 0) return 0
  const rows = events.map(({ sequence, type, body }) => ({ sequence: String(sequence), type, body }))
  const queued = await tx.query(
    `insert into svc.webhook_delivery as d (tenant_id, subscription_id, sequence, type, body)
     select $1, $2::uuid, e.sequence::int8, e.type, e.body
     from jsonb_to_recordset($3::text::jsonb) as e (sequence text, type text, body text)
     on conflict (tenant_id, subscription_id, sequence) ${onConflict} returning 1`,
    [tenant, subscription, storableText(JSON.stringify(rows))],
  )
  return queued.length
}

/** What is due to a subscription, by the numbers of the events. */
export async function dueDeliveries(
  store: Store,
  claim: Claim,
  limit: number,
): Promise<readonly (QueuedEvent & { readonly tries: number })[]> {
  const rows = await store.tenantQuery<{
    readonly sequence: string
    readonly type: string
    readonly body: string
    readonly tries: number
  }>(
    claim.tenant,
    `select sequence, type, body, tries from svc.webhook_delivery
     where tenant_id = $1 and subscription_id = $2 and state = 'waiting' and due_at <= clock_timestamp()
     order by sequence limit $3::int`,
    [claim.tenant, claim.id, limit],
  )
  return rows.map((row) => ({ ...row, sequence: BigInt(row.sequence) }))
}

/** What follows from an attempt. */
export interface Consequence {
  readonly state: DeliveryState
  /** Milliseconds until the next attempt of this delivery, where it waits. */
  readonly retryMs: number
  /** Milliseconds for which nothing is sent to the subscription. */
  readonly restMs: number
  /** Ends the subscription until it is enabled again. */
  readonly ends?: 'gone' | 'failing' | undefined
}

/** Records an attempt and what follows from it, in one transaction. */
export async function recordAttempt(
  store: Store,
  claim: Claim,
  sequence: bigint,
  attempt: Attempt,
  { state, retryMs, restMs, ends }: Consequence,
): Promise<void> {
  const key = [claim.tenant, claim.id, String(sequence)]
  await store.tenantTransaction(claim.tenant, async (tx) => {
    const [row] = await tx.query<{ readonly attempts: number }>(
      `update svc.webhook_delivery set state = $4, tries = tries + 1, attempts = attempts + 1,
         due_at = clock_timestamp() + $5::float8 * interval '1 ms',
         ended_at = case when $4 = 'waiting' then null else clock_timestamp() end
       where tenant_id = $1 and subscription_id = $2 and sequence = $3::int8 and state = 'waiting' returning attempts`,
      [...key, state, retryMs],
    )
    // It was removed meanwhile, or another replica delivered it after this one's lease.
    if (row === undefined) return
    await tx.query(
      `insert into svc.webhook_attempt (tenant_id, subscription_id, sequence, attempt, at, duration_ms, outcome, status)
       values ($1, $2, $3::int8, $4::int, $5::timestamptz, $6::int, $7, $8::int)`,
      [
        ...key,
        ...[row.attempts, attempt.at, Math.round(attempt.durationMs), attempt.outcome],
        attempt.status ?? null,
      ],
    )
    await tx.query(
      attempt.outcome === 'delivered'
        ? `update svc.webhook_subscription set failures = 0, failing_since = null
           where tenant_id = $1 and subscription_id = $2 and failures > 0`
        : `update svc.webhook_subscription set failures = failures + 1,
             failing_since = coalesce(failing_since, clock_timestamp()),
             rest_until = clock_timestamp() + $3::float8 * interval '1 ms',
             state = case when state = 'enabled' then coalesce($4, state) else state end
           where tenant_id = $1 and subscription_id = $2`,
      attempt.outcome === 'delivered'
        ? [claim.tenant, claim.id]
        : [claim.tenant, claim.id, restMs, ends ?? null],
    )
  })
}

/** Failed attempts in a row, and for how many milliseconds. */
export async function failuresOf(
  store: Store,
  claim: Claim,
): Promise<{ readonly failures: number; readonly failingMs: number }> {
  const [row] = await store.tenantQuery<{ readonly failures: number; readonly failing_ms: number }>(
    claim.tenant,
    `select failures, coalesce(extract(epoch from clock_timestamp() - failing_since) * 1000, 0)::float8 as failing_ms
     from svc.webhook_subscription where tenant_id = $1 and subscription_id = $2`,
    [claim.tenant, claim.id],
  )
  return { failures: row?.failures ?? 0, failingMs: row?.failing_ms ?? 0 }
}

const rows = rowsOf(delivery)
const listed = `${rows.columns}
  from svc.webhook_delivery d left join svc.webhook_attempt a on a.tenant_id = d.tenant_id
    and a.subscription_id = d.subscription_id and a.sequence = d.sequence and a.attempt = d.attempts`

interface DeliveryFilter extends PageRequest {
  readonly state?: DeliveryState | undefined
}

/** The deliveries of a subscription, newest event first. @throws Fault `bad_request` for a bad page token */
export async function listDeliveries(
  store: Store,
  tenant: TenantId,
  subscription: string,
  filter: DeliveryFilter = {},
): Promise<Page<ListedDelivery>> {
  const limit = pageLimit(filter)
  const { text, params } = given(
    [tenant, subscription, limit + 1],
    ['d.state = ?::text', filter.state],
    ['d.sequence < ?::int8', afterCount(filter)],
  )
  const found = await store.tenantQuery<{ readonly sequence: string }>(
    tenant,
    `select ${listed} where d.tenant_id = $1 and d.subscription_id = $2::uuid${text}
     order by d.sequence desc limit $3::int`,
    params,
  )
  const page = toPage(found, limit, ({ sequence }) => sequence)
  return { ...page, items: page.items.map(rows.read) }
}

/** A delivery with its body and its attempts. @throws Fault `not_found` */
export async function findDelivery(
  store: Store,
  tenant: TenantId,
  subscription: string,
  sequence: bigint,
): Promise<ListedDelivery & { readonly body: string; readonly tried: readonly Omit<Attempt, 'afterMs'>[] }> {
  const key = [tenant, subscription, String(sequence)]
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query<{ readonly body: string }>(
      `select d.body, ${listed} where d.tenant_id = $1 and d.subscription_id = $2::uuid and d.sequence = $3::int8`,
      key,
    )
    if (row === undefined) throw new Fault('not_found', 'There is no such delivery, or it is no longer kept.')
    const tried = await tx.query<{
      readonly at: Date
      readonly duration_ms: number
      readonly outcome: AttemptOutcome
      readonly status: number | null
    }>(
      `select at, duration_ms, outcome, status from svc.webhook_attempt
       where tenant_id = $1 and subscription_id = $2::uuid and sequence = $3::int8 order by attempt desc limit 100`,
      key,
    )
    return {
      ...rows.read(row),
      body: row.body,
      tried: tried.map(({ at, duration_ms: durationMs, outcome, status }) => ({
        ...{ at, durationMs, outcome, status: status ?? undefined },
      })),
    }
  })
}

/** Sends again what is dead. @returns how many deliveries */
export async function replayDead(
  store: Store,
  tenant: TenantId,
  subscription: string,
  limit: number,
): Promise<number> {
  const rows = await store.tenantQuery(
    tenant,
    `update svc.webhook_delivery set state = 'waiting', tries = 0, due_at = clock_timestamp(), ended_at = null
     where tenant_id = $1 and subscription_id = $2::uuid and sequence in (
       select sequence from svc.webhook_delivery
       where tenant_id = $1 and subscription_id = $2::uuid and state = 'dead' order by sequence limit $3::int)
     returning 1`,
    [tenant, subscription, limit],
  )
  return rows.length
}

/** Queues events once more for a subscription, whether or not they were sent before. @returns how many */
export async function replayEvents(
  store: Store,
  tenant: TenantId,
  subscription: string,
  events: readonly QueuedEvent[],
): Promise<number> {
  return await store.tenantTransaction(tenant, (tx) =>
    insertEvents(
      tx,
      tenant,
      subscription,
      events,
      `do update set state = 'waiting', tries = 0, due_at = clock_timestamp(), ended_at = null`,
    ),
  )
}

/** Removes deliveries of a tenant that ended long ago, some at a time. @returns how many */
export async function pruneDeliveries(
  store: Store,
  tenant: TenantId,
  { deliveredMs, deadMs, limit }: { deliveredMs: number; deadMs: number; limit: number },
): Promise<number> {
  const rows = await store.tenantQuery(
    tenant,
    `delete from svc.webhook_delivery d using (
       select tenant_id, subscription_id, sequence from svc.webhook_delivery
       where tenant_id = $1 and state <> 'waiting'
         and ended_at < now() - interval '1 ms' * least($2::float8, $3::float8)
         and ended_at < now() - interval '1 ms' * case state when 'delivered' then $2::float8 when 'dead' then $3::float8 end
       order by ended_at limit $4::int) o
     where d.tenant_id = o.tenant_id and d.subscription_id = o.subscription_id and d.sequence = o.sequence returning 1`,
    [tenant, deliveredMs, deadMs, limit],
  )
  return rows.length
}
