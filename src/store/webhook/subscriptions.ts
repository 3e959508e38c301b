/**
 * Stores webhook subscriptions: who wants which events, and where. The URL and the secrets that sign are sealed. Only
 * the URL's origin can be read, because the paths of many receivers are secrets.
 */

import { Fault } from '../../base/fault.ts'
import { Secret } from '../../base/secret.ts'
import type { Actor } from '../../core/administration.ts'
import type { TenantId } from '../../core/tenant.ts'
import { type ListedSubscription, subscription } from '../../core/webhook.ts'
import { recordAdministration } from '../administration/administration-log.ts'
import { storableJson, storableText } from '../database/names.ts'
import { afterUuid, isUuid, type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { rowsOf } from '../database/rows.ts'
import { sealedColumns } from '../database/sealed-columns.ts'
import { seal, unseal } from '../database/sealing.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Subscriptions of one tenant. */
const subscriptionsMax = 100

/** What is sealed of a subscription. */
export interface Receiver {
  readonly url: string
  readonly secret: string
  /** The secret before the last rotation. */
  readonly previous?: string
}

interface NewSubscription {
  readonly name: string
  readonly url: URL
  readonly types: readonly string[]
}

const rows = rowsOf(subscription)
const unknown = () => new Fault('not_found', 'There is no such webhook.')

function sealReceiver(store: Store, tenant: TenantId, id: string, receiver: Receiver): Uint8Array {
  return seal(store.secretsKey, sealedColumns.webhookSubscription.place(tenant, id), JSON.stringify(receiver))
}

/** Opens what is sealed. @throws Fault `misconfigured` where the key is another */
export function openReceiver(
  store: Store,
  tenant: TenantId,
  id: string,
  sealed: Uint8Array,
): Secret<Receiver> {
  const text = unseal(store, sealedColumns.webhookSubscription.place(tenant, id), sealed)
  return new Secret(JSON.parse(text) as Receiver)
}

/**
 * Adds a subscription to the events after `position`.
 * @throws Fault `conflict` where the tenant has too many
 */
export async function addSubscription(
  store: Store,
  tenant: TenantId,
  { name, url, types }: NewSubscription,
  secret: string,
  position: bigint,
  by: Actor,
): Promise<ListedSubscription> {
  const id = crypto.randomUUID()
  return await store.tenantTransaction(tenant, async (tx) => {
    const [row] = await tx.query(
      `insert into svc.webhook_subscription (tenant_id, subscription_id, name, address, types, sealed, position)
       select $1, $2::uuid, $3, $4, $5::text::jsonb, $6, $7::int8
       where (select count(*) from svc.webhook_subscription where tenant_id = $1) < $8::int
       returning ${rows.columns}`,
      [
        ...[tenant, id, storableText(name), storableText(url.origin), storableJson(types)],
        ...[sealReceiver(store, tenant, id, { url: url.href, secret }), String(position), subscriptionsMax],
      ],
    )
    if (row === undefined)
      throw new Fault('conflict', `A tenant has at most ${subscriptionsMax} webhooks: delete one first.`)
    await recordAdministration(tx, by, {
      action: 'create-webhook',
      subject: { webhook: id },
      value: { name, types },
    })
    return rows.read(row)
  })
}

/** A tenant's subscriptions, by id. */
export async function listSubscriptions(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<ListedSubscription>> {
  const limit = pageLimit(page)
  const found = await store.tenantQuery<{ readonly id: string }>(
    tenant,
    `select ${rows.columns} from svc.webhook_subscription where tenant_id = $1 and subscription_id > $2::uuid
     order by subscription_id limit $3::int`,
    [tenant, afterUuid(page), limit + 1],
  )
  const listed = toPage(found, limit, ({ id }) => id)
  return { ...listed, items: listed.items.map(rows.read) }
}

/** @throws Fault `not_found` */
export async function findSubscription(
  store: Store,
  tenant: TenantId,
  id: string,
): Promise<ListedSubscription> {
  if (!isUuid(id)) throw unknown()
  const [row] = await store.tenantQuery(
    tenant,
    `select ${rows.columns} from svc.webhook_subscription where tenant_id = $1 and subscription_id = $2`,
    [tenant, id],
  )
  if (row === undefined) throw unknown()
  return rows.read(row)
}

interface SubscriptionChange {
  readonly name?: string | undefined
  readonly url?: URL | undefined
  readonly types?: readonly string[] | undefined
  readonly enabled?: boolean | undefined
}

/** Changes some members; to enable one also ends its rest. @throws Fault `not_found` */
export async function changeSubscription(
  store: Store,
  tenant: TenantId,
  id: string,
  change: SubscriptionChange,
  by: Actor,
): Promise<ListedSubscription> {
  const { name, url, types, enabled } = change
  return await store.tenantTransaction(tenant, async (tx) => {
    const { row, receiver } = await lockSubscription(store, tx, tenant, id)
    const [changed] = await tx.query(
      `update svc.webhook_subscription set name = $3, address = $4, types = $5::text::jsonb, sealed = $6, state = $7,
         failures = case when $8::bool then 0 else failures end,
         failing_since = case when $8::bool then null else failing_since end,
         rest_until = case when $8::bool then '-infinity' else rest_until end,
         look_at = case when $8::bool then clock_timestamp() else look_at end
       where tenant_id = $1 and subscription_id = $2 returning ${rows.columns}`,
      [
        ...[tenant, id, storableText(name ?? row.name)],
        url === undefined ? row.address : storableText(url.origin),
        storableJson(types ?? row.types),
        sealReceiver(store, tenant, id, url === undefined ? receiver : { ...receiver, url: url.href }),
        enabled === undefined ? row.state : enabled ? 'enabled' : 'disabled',
        enabled === true || url !== undefined,
      ],
    )
    await recordAdministration(tx, by, {
      action: 'change-webhook',
      subject: { webhook: id },
      value: { name, types, enabled, ...(url !== undefined && { url: 'changed' }) },
    })
    return rows.read(changed as object)
  })
}

/**
 * Replaces the secret. The one before signs too until `overlapMs` have passed; one before that no longer does.
 * @throws Fault `not_found`
 */
export async function rotateSecret(
  store: Store,
  tenant: TenantId,
  id: string,
  secret: string,
  overlapMs: number,
  by: Actor,
): Promise<ListedSubscription> {
  return await store.tenantTransaction(tenant, async (tx) => {
    const { receiver } = await lockSubscription(store, tx, tenant, id)
    const next = { url: receiver.url, secret, ...(overlapMs > 0 && { previous: receiver.secret }) }
    const [changed] = await tx.query(
      `update svc.webhook_subscription set sealed = $3, turned_at = clock_timestamp(),
         previous_until = case when $4::float8 > 0 then clock_timestamp() + $4::float8 * interval '1 ms' end
       where tenant_id = $1 and subscription_id = $2 returning ${rows.columns}`,
      [tenant, id, sealReceiver(store, tenant, id, next), overlapMs],
    )
    await recordAdministration(tx, by, {
      action: 'rotate-webhook-secret',
      subject: { webhook: id },
      value: { overlap_ms: overlapMs },
    })
    return rows.read(changed as object)
  })
}

/** Removes a subscription with all of its deliveries. @throws Fault `not_found` */
export async function deleteSubscription(
  store: Store,
  tenant: TenantId,
  id: string,
  by: Actor,
): Promise<void> {
  if (!isUuid(id)) throw unknown()
  await store.tenantTransaction(tenant, async (tx) => {
    const removed = await tx.query(
      'delete from svc.webhook_subscription where tenant_id = $1 and subscription_id = $2 returning 1',
      [tenant, id],
    )
    if (removed.length === 0) throw unknown()
    await recordAdministration(tx, by, { action: 'delete-webhook', subject: { webhook: id } })
  })
}

async function lockSubscription(store: Store, tx: Tx, tenant: TenantId, id: string) {
  const [row] = isUuid(id)
    ? await tx.query<{ readonly sealed: Uint8Array }>(
        `select ${rows.columns}, sealed from svc.webhook_subscription where tenant_id = $1 and subscription_id = $2 for update`,
        [tenant, id],
      )
    : []
  if (row === undefined) throw unknown()
  return { row: rows.read(row), receiver: openReceiver(store, tenant, id, row.sealed).reveal() }
}

/** Puts on record that someone has events sent again. */
export async function recordReplay(
  store: Store,
  tenant: TenantId,
  id: string,
  {
    from,
    to,
    dead,
  }: { readonly from: bigint | undefined; readonly to: bigint | undefined; readonly dead: boolean },
  by: Actor,
): Promise<void> {
  await store.tenantTransaction(tenant, (tx) =>
    recordAdministration(tx, by, {
      action: 'replay-webhook',
      subject: { webhook: id },
      value: dead ? { dead } : { from: String(from), to: String(to) },
    }),
  )
}
