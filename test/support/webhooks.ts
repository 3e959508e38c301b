/** Leaves a webhook with a delivery that was tried once. */

import type { TenantId } from '../../src/core/tenant.ts'
import { appendEvent, lastEvent, readEvents } from '../../src/store/event/events.ts'
import type { Store } from '../../src/store/store.ts'
import { recordAttempt, replayEvents } from '../../src/store/webhook/deliveries.ts'
import { addSubscription } from '../../src/store/webhook/subscriptions.ts'
import { queued } from '../../src/webhook/deliverer.ts'
import { newSecret } from '../../src/webhook/receiver.ts'
import { actorOf } from './actor.ts'

/** Leaves rows in every table of webhooks. */
export async function seedWebhook(store: Store, tenant: TenantId): Promise<void> {
  const url = new URL('https://receiver.example/seed')
  const from = await lastEvent(store, tenant)
  const given = { name: 'seed', url, types: ['*'] }
  const { id } = await addSubscription(store, tenant, given, newSecret(), from, actorOf('seed'))
  await store.tenantTransaction(tenant, (tx) =>
    appendEvent(tx, { type: 'contract.moved', subject: 'seed', data: {} }),
  )
  const events = await readEvents(store, tenant, from)
  await replayEvents(store, tenant, id, queued(tenant, events, new URL('https://covenant.example')))
  const claim = { tenant, id, leaseId: crypto.randomUUID() }
  const attempt = { outcome: 'refused', status: 500, at: new Date(), durationMs: 1, afterMs: 0 } as const
  await recordAttempt(store, claim, from + 1n, attempt, { state: 'dead', retryMs: 0, restMs: 0 })
}
