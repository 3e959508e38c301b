/** The nouns of webhooks: what a subscription is, and the states of what it is sent (docs/webhooks.md). */

/** `gone`: the receiver answered 410. `failing`: it failed for days. Both until someone enables it again. */
export const subscriptionStates = ['enabled', 'disabled', 'gone', 'failing'] as const
export type SubscriptionState = (typeof subscriptionStates)[number]

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
