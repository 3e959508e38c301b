/** Declares the operations on webhooks: subscriptions, their secrets, what was sent to them, and replays. */

import { tenantOperationsOf } from '../auth/administration/tenant-operations.ts'
import { Fault } from '../base/fault.ts'
import type { AddressRules } from '../catalog/address.ts'
import { eventTypes } from '../core/event.ts'
import { attemptOutcomes, delivery, deliveryStates, everyType, subscription, wants } from '../core/webhook.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import { schemaMembers, schemaOf, viewOf } from '../http/record-view.ts'
import {
  anyObject,
  described,
  flag,
  int64,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../http/schemas.ts'
import { lastEvent, readEvents } from '../store/event/events.ts'
import type { Store } from '../store/store.ts'
import { findDelivery, listDeliveries, replayDead, replayEvents } from '../store/webhook/deliveries.ts'
import {
  addSubscription,
  changeSubscription,
  deleteSubscription,
  findSubscription,
  listSubscriptions,
  recordReplay,
  rotateSecret,
} from '../store/webhook/subscriptions.ts'
import { queued } from './deliverer.ts'
import { checkReceiver, newSecret } from './receiver.ts'

export interface WebhookParts {
  readonly store: Store
  readonly addressRules: AddressRules
  /** The source of events; absent on the command line that works on the store, which replays no range. */
  readonly publicUrl?: () => URL
}

const pair = tenantOperationsOf<WebhookParts>()
const tag = 'events'
const roles = ['administrator', 'owner'] as const
const reading = { scope: 'read', roles, capability: 'contracts' } as const
const administering = { scope: 'admin', roles, capability: 'contracts' } as const

/** Events that one replay of a range queues. */
const replayEventsMax = 1_000
const hourMs = 3_600_000
const overlapHoursMax = 168

const name = { ...nonEmpty, maxLength: 200 }
const url = described(
  nonEmpty,
  'an https URL, of which path and query are kept as secrets. A private address must be allowed by the operator',
)
const types = list(oneOf([...eventTypes, everyType]), { minItems: 1, uniqueItems: true })
const webhook = schemaOf(subscription)
const webhookView = viewOf(subscription)
const secret = described(text, 'shown only here: `whsec_` and the key in base64')
const deliveryMembers = schemaMembers(delivery)
const deliveryView = viewOf(delivery)
const unknown = 'There is no such webhook.'
const example = { webhook: '0d6a3b8e-6f0a-4e2c-9a54-5b0f9e4e8c11' }

export const webhookSubscriptionOperations = [
  pair({
    name: 'create_webhook',
    tag,
    summary: 'Sends events from now on to a receiver, signed by a secret that is shown once',
    method: 'POST',
    path: '/webhooks',
    status: 201,
    access: administering,
    gives: { nothing: 'own input' },
    input: { name, url, types: described(types, '`*` is every type') },
    output: object({ ...webhook.properties, secret }),
    faults: { conflict: 'The tenant has too many webhooks.' },
    examples: [
      { input: { name: 'audit', url: 'https://events.example/covenant', types: ['contract.moved'] } },
    ],
    run: async ({ parts, tenant, actor }, input) => {
      const receiver = await checkReceiver(input.url, parts.addressRules)
      const made = newSecret()
      const from = await lastEvent(parts.store, tenant)
      const added = { name: input.name, url: receiver, types: input.types }
      return {
        ...webhookView(await addSubscription(parts.store, tenant, added, made, from, await actor())),
        secret: made,
      }
    },
  }),
  pair({
    name: 'list_webhooks',
    tag,
    summary: 'The webhooks of the tenant, without secrets',
    method: 'GET',
    path: '/webhooks',
    access: reading,
    gives: { nothing: 'administration' },
    input: pageInput,
    output: pageOf(webhook),
    run: async ({ parts, tenant }, page) =>
      pageView(await listSubscriptions(parts.store, tenant, pageRequest(page)), webhookView),
  }),
  pair({
    name: 'get_webhook',
    tag,
    summary: 'One webhook, without its secret',
    method: 'GET',
    path: '/webhooks/{webhook}',
    access: reading,
    gives: { nothing: 'administration' },
    input: { webhook: uuid },
    output: webhook,
    faults: { not_found: unknown },
    run: async ({ parts, tenant }, { webhook: id }) =>
      webhookView(await findSubscription(parts.store, tenant, id)),
  }),
  pair({
    name: 'change_webhook',
    tag,
    summary: 'Changes a webhook, or switches it on or off',
    description: 'What happened while it was off is sent once it is on again.',
    method: 'PATCH',
    path: '/webhooks/{webhook}',
    access: administering,
    gives: { nothing: 'own input' },
    input: { webhook: uuid, name: maybe(name), url: maybe(url), types: maybe(types), enabled: maybe(flag) },
    output: webhook,
    faults: { not_found: unknown },
    examples: [{ input: { ...example, enabled: false } }],
    run: async ({ parts, tenant, actor }, { webhook: id, url: address, ...change }) => {
      const receiver = address === undefined ? undefined : await checkReceiver(address, parts.addressRules)
      return webhookView(
        await changeSubscription(parts.store, tenant, id, { ...change, url: receiver }, await actor()),
      )
    },
  }),
  pair({
    name: 'rotate_webhook_secret',
    tag,
    summary: 'Makes a new secret; the one before signs beside it for some hours',
    method: 'POST',
    path: '/webhooks/{webhook}/secrets',
    access: administering,
    gives: { nothing: 'administration' },
    input: {
      webhook: uuid,
      overlap_hours: maybe({ ...wholeNumber, maximum: overlapHoursMax, default: 24 }),
    },
    output: object({ ...webhook.properties, secret }),
    faults: { not_found: unknown },
    examples: [{ input: { ...example, overlap_hours: 24 } }],
    run: async ({ parts, tenant, actor }, { webhook: id, overlap_hours: hours = 24 }) => {
      const made = newSecret()
      const rotated = await rotateSecret(parts.store, tenant, id, made, hours * hourMs, await actor())
      return { ...webhookView(rotated), secret: made }
    },
  }),
  pair({
    name: 'delete_webhook',
    tag,
    summary: 'Removes a webhook with all that waits for it',
    method: 'DELETE',
    path: '/webhooks/{webhook}',
    access: administering,
    gives: { nothing: 'own input' },
    input: { webhook: uuid },
    faults: { not_found: unknown },
    run: async ({ parts, tenant, actor }, { webhook: id }) => {
      await deleteSubscription(parts.store, tenant, id, await actor())
    },
  }),
  pair({
    name: 'list_webhook_deliveries',
    tag,
    summary: 'What was or will be sent to a webhook, newest event first',
    method: 'GET',
    path: '/webhooks/{webhook}/deliveries',
    access: reading,
    gives: { nothing: 'administration' },
    input: { webhook: uuid, state: maybe(oneOf(deliveryStates)), ...pageInput },
    output: pageOf(object(deliveryMembers)),
    faults: { not_found: unknown },
    run: async ({ parts, tenant }, { webhook: id, state, ...page }) => {
      await findSubscription(parts.store, tenant, id)
      return pageView(
        await listDeliveries(parts.store, tenant, id, { ...pageRequest(page), state }),
        deliveryView,
      )
    },
  }),
  pair({
    name: 'get_webhook_delivery',
    tag,
    summary: 'One delivery: the event as it is sent, and its last 100 attempts',
    method: 'GET',
    path: '/webhooks/{webhook}/deliveries/{sequence}',
    access: reading,
    gives: { overseen: ['existence', 'description', 'columns', 'counts'] },
    input: { webhook: uuid, sequence: int64 },
    output: object({
      ...deliveryMembers,
      event: anyObject,
      tried: list(
        object({
          at: time,
          duration_ms: wholeNumber,
          outcome: oneOf(attemptOutcomes),
          status: maybe(wholeNumber),
        }),
      ),
    }),
    faults: { not_found: 'There is no such delivery, or it is no longer kept.' },
    run: async ({ parts, tenant }, { webhook: id, sequence }) => {
      await findSubscription(parts.store, tenant, id)
      const { body, tried, ...delivery } = await findDelivery(parts.store, tenant, id, sequence)
      return {
        ...deliveryView(delivery),
        event: JSON.parse(body) as Readonly<Record<string, unknown>>,
        tried: tried.map(({ durationMs, ...one }) => ({ ...one, duration_ms: durationMs })),
      }
    },
  }),
  pair({
    name: 'replay_webhook',
    tag,
    summary: 'Sends events again: one, a range of numbers, or all that were given up',
    description: `At most ${replayEventsMax} events of the sequence at once; \`next\` says where to go on.`,
    method: 'POST',
    path: '/webhooks/{webhook}/replays',
    access: administering,
    gives: { nothing: 'administration' },
    input: {
      webhook: uuid,
      from: maybe(described(int64, 'the number of the first event')),
      to: maybe(described(int64, 'the number of the last; default: `from`')),
      dead: maybe(described(flag, 'instead of a range: what was given up')),
    },
    output: object({
      queued: wholeNumber,
      next: maybe(described(text, 'decimal: the first number of the range that was not looked at')),
    }),
    faults: { not_found: unknown },
    examples: [{ input: { ...example, from: 17, to: 42 } }],
    run: async ({ parts, tenant, actor }, { webhook: id, from, to = from, dead = false }) => {
      if (
        dead === (from !== undefined) ||
        (from !== undefined && (from < 1n || to === undefined || to < from))
      )
        throw new Fault('bad_request', 'Give `dead`, or `from` and a `to` that is not below it.')
      const { types: wanted } = await findSubscription(parts.store, tenant, id)
      await recordReplay(parts.store, tenant, id, { from, to, dead }, await actor())
      if (from === undefined || to === undefined)
        return { queued: await replayDead(parts.store, tenant, id, replayEventsMax) }
      if (parts.publicUrl === undefined)
        throw new Fault('bad_request', 'A range is replayed by the service alone: use --url.')
      const read = await readEvents(parts.store, tenant, from - 1n, replayEventsMax)
      const within = read.filter(({ sequence }) => sequence <= to)
      const fitting = within.filter(({ type }) => wants(wanted, type))
      const last = read.at(-1)?.sequence
      return {
        queued: await replayEvents(parts.store, tenant, id, queued(tenant, fitting, parts.publicUrl())),
        ...(last !== undefined &&
          read.length === replayEventsMax &&
          last < to && { next: String(last + 1n) }),
      }
    },
  }),
].flat()
