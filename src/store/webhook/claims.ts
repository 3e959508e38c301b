/**
 * Lets one replica at a time send to a subscription. A claim is a lease: where its holder dies, another replica takes the
 * subscription after it. Each tenant has few lanes, so that slow receivers of one tenant hold up no other.
 */

import type { Secret } from '../../base/secret.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Tx } from '../database/session.ts'
import { appendEvent } from '../event/events.ts'
import { hasTurned } from '../keys/secrets-key.ts'
import type { Store } from '../store.ts'
import { openReceiver, type Receiver } from './subscriptions.ts'

/** A subscription that this process may send to. */
export interface Claim {
  readonly tenant: TenantId
  readonly id: string
  readonly leaseId: string
}

export interface ClaimOptions {
  readonly limit: number
  /** Subscriptions of one tenant that all replicas together send to at once. */
  readonly lanesMax: number
  readonly leaseMs: number
  /** Whether those that were looked at a moment ago are claimed, too. */
  readonly isEager?: boolean
}

/** Claims subscriptions that have something due, or that were not looked at for long; the longest waiting first. */
export async function claimSubscriptions(
  store: Store,
  { limit, lanesMax, leaseMs, isEager = false }: ClaimOptions,
): Promise<readonly Claim[]> {
  const rows = await store.adminQuery<{
    readonly tenant_id: TenantId
    readonly subscription_id: string
    readonly lease_id: string
  }>(
    `with taken as (
       select tenant_id, count(*) as lanes from svc.webhook_subscription
       where lease_id is not null and leased_until > clock_timestamp() group by tenant_id),
     open as (
       select s.tenant_id, s.subscription_id, s.look_at,
         coalesce(t.lanes, 0) + row_number() over (partition by s.tenant_id order by s.look_at) as lane
       from svc.webhook_subscription s join svc.tenant n on n.tenant_id = s.tenant_id and n.state = 'active'
         left join taken t on t.tenant_id = s.tenant_id
       where s.state = 'enabled' and s.rest_until <= clock_timestamp() and s.leased_until <= clock_timestamp()
         and ($4::bool or s.look_at <= clock_timestamp() or exists (
           select from svc.webhook_delivery d where d.tenant_id = s.tenant_id
             and d.subscription_id = s.subscription_id and d.state = 'waiting' and d.due_at <= clock_timestamp()))),
     chosen as (
       select s.tenant_id, s.subscription_id from svc.webhook_subscription s join open o using (tenant_id, subscription_id)
       where o.lane <= $2::int and s.leased_until <= clock_timestamp()
       order by o.lane, o.look_at limit $1::int for update of s skip locked)
     update svc.webhook_subscription s
     set lease_id = gen_random_uuid(), leased_until = clock_timestamp() + $3::float8 * interval '1 ms'
     from chosen c where s.tenant_id = c.tenant_id and s.subscription_id = c.subscription_id
     returning s.tenant_id, s.subscription_id, s.lease_id`,
    [limit, lanesMax, leaseMs, isEager],
  )
  return rows.map((row) => ({ tenant: row.tenant_id, id: row.subscription_id, leaseId: row.lease_id }))
}

/** What is needed to send. */
export interface ClaimedSubscription {
  readonly types: readonly string[]
  readonly position: bigint
  readonly receiver: Secret<Receiver>
  /** Whether the previous secret signs too. */
  readonly signsTwice: boolean
}

/**
 * The claimed subscription; undefined where it was disabled or removed meanwhile, or the lease is lost. One that no key
 * opens is switched off, unless the secrets key turns or is not that of this process, because another may open it then.
 * @throws Fault `misconfigured` where it does not open and stays on
 */
export async function loadClaimed(
  store: Store,
  claim: Claim,
): Promise<ClaimedSubscription | 'unreadable' | undefined> {
  const [row] = await store.tenantQuery<{
    readonly types: readonly string[]
    readonly position: string
    readonly sealed: Uint8Array
    readonly signs_twice: boolean
  }>(
    claim.tenant,
    `select types, position, sealed, coalesce(previous_until > clock_timestamp(), false) as signs_twice
     from svc.webhook_subscription
     where tenant_id = $1 and subscription_id = $2 and lease_id = $3 and state = 'enabled'
       and leased_until > clock_timestamp()`,
    [claim.tenant, claim.id, claim.leaseId],
  )
  if (row === undefined) return undefined
  try {
    return {
      types: row.types,
      position: BigInt(row.position),
      receiver: openReceiver(store, claim.tenant, claim.id, row.sealed),
      signsTwice: row.signs_twice,
    }
  } catch (error) {
    if (await switchOff(store, claim, row.sealed)) return 'unreadable'
    throw error
  }
}

/** Switches it off, with the one event of it. @returns whether it is off now, and was not before */
async function switchOff(store: Store, claim: Claim, sealed: Uint8Array): Promise<boolean> {
  // Another process opens it where the key turns, or where this one was left behind with a key of before.
  if (!(await hasTurned(store))) return false
  return await store.tenantTransaction(claim.tenant, async (tx) => {
    const [off] = await tx.query<{ readonly name: string; readonly address: string }>(
      `update svc.webhook_subscription set state = 'unreadable'
       where tenant_id = $1 and subscription_id = $2 and lease_id = $3 and state = 'enabled' and sealed = $4
       returning name, address`,
      [claim.tenant, claim.id, claim.leaseId, sealed],
    )
    if (off !== undefined) await appendUnreadable(tx, claim.id, off)
    return off !== undefined
  })
}

/** Appends the event that no secrets key opens a webhook. */
export async function appendUnreadable(
  tx: Tx,
  id: string,
  { name, address }: { readonly name: string; readonly address: string },
): Promise<void> {
  await appendEvent(tx, { type: 'webhook.unreadable', subject: id, data: { name, address } })
}

/**
 * Prolongs leases that have not ended, from now.
 * @returns the lease ids that are still held; a lease that has ended is never taken up again
 */
export async function renewClaims(
  store: Store,
  leaseIds: readonly string[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  const rows = await store.adminQuery<{ readonly lease_id: string }>(
    `update svc.webhook_subscription set leased_until = clock_timestamp() + $2::float8 * interval '1 ms'
     where lease_id in (select value::uuid from jsonb_array_elements_text($1::text::jsonb)) and leased_until > clock_timestamp() returning lease_id`,
    [JSON.stringify(leaseIds), leaseMs],
  )
  return new Set(rows.map((row) => row.lease_id))
}

/** Gives a claim back. @param lookMs milliseconds until the subscription is looked at again, if nothing is due before */
export async function releaseClaim(store: Store, claim: Claim, lookMs: number): Promise<void> {
  await store.tenantQuery(
    claim.tenant,
    `update svc.webhook_subscription set lease_id = null, leased_until = '-infinity',
       look_at = clock_timestamp() + $4::float8 * interval '1 ms'
     where tenant_id = $1 and subscription_id = $2 and lease_id = $3`,
    [claim.tenant, claim.id, claim.leaseId, lookMs],
  )
}
