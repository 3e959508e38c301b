/** The nouns of webhooks: what a subscription is, and the states of what it is sent (docs/webhooks.md). */

import { about, choice, from, int64, maybe, type Static, text, texts, time, uuid, whole } from './record.ts'

/**
 * `gone`: the receiver answered 410. `failing`: it failed for days. Both until someone enables it again. `unreadable`: no
 * secrets key opens its URL and secrets, so it is removed and added again.
 */
const subscriptionStates = ['enabled', 'disabled', 'gone', 'failing', 'unreadable'] as const

/** `dead`: given up; it is sent again only if someone asks for it. */
export const deliveryStates = ['waiting', 'delivered', 'dead'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** `address_refused`: the receiver's name leads to an address that the service does not connect to. */
export const attemptOutcomes = [
  'delivered',
  'refused',
  'timed_out',
  'unreachable',
  'address_refused',
] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** A subscription as it is listed. Its URL and secrets are sealed apart. */
export const subscription = {
  id: from(uuid, 'subscription_id'),
  name: text,
  address: about(text, 'scheme, host and port of the receiver’s URL'),
  types: texts,
  state: about(
    choice(subscriptionStates),
    '`gone`: the receiver answered 410; `failing`: it failed for days; `unreadable`: the key of its URL and secrets was lost',
  ),
  position: about(int64, 'decimal: the number of the last event that was taken for it'),
  failingSince: maybe(about(time, 'absent while attempts succeed')),
  previousSecretUntil: maybe(
    about(from(time, 'previous_until'), 'until when the secret before the last rotation signs, too'),
  ),
  createdAt: time,
}
export type ListedSubscription = Static<typeof subscription>

/** A delivery `d` as it is listed, with its last attempt `a`. */
export const delivery = {
  sequence: about(from(int64, 'd.sequence'), 'decimal: the number of the event'),
  type: from(text, 'd.type'),
  state: from(choice(deliveryStates), 'd.state'),
  attempts: from(whole, 'd.attempts'),
  dueAt: maybe(about(from(time, "case when d.state = 'waiting' then d.due_at end"), 'when it is tried next')),
  createdAt: from(time, 'd.created_at'),
  endedAt: maybe(from(time, 'd.ended_at')),
  lastOutcome: maybe(from(choice(attemptOutcomes), 'a.outcome')),
  lastStatus: maybe(about(from(whole, 'a.status'), 'of the last answer')),
}
export type ListedDelivery = Static<typeof delivery>

/** How one attempt ended. */
export interface Attempt {
  readonly outcome: AttemptOutcome
  /** Undefined where there was no answer. */
  readonly status: number | undefined
  readonly at: Date
  readonly durationMs: number
  /** How long the receiver asked to be left alone. */
  readonly afterMs: number
}

/** Every event, whatever its type. */
export const everyType = '*'

/** Whether a subscription wants events of a type. */
export function wants(types: readonly string[], type: string): boolean {
  return types.includes(everyType) || types.includes(type)
}
