/** Says what follows from an attempt: when it is tried again, how long the receiver is left alone, what is given up. */

import type { Attempt } from '../core/webhook.ts'
import type { Consequence } from '../store/webhook/deliveries.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Milliseconds from a failed attempt to the next; after the last there is none. */
export const retryWaitsMs: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]
const restMs = 5 * second
const restMsMax = 5 * minute
const afterMsMax = 24 * hour
/** A receiver that has failed for so long, and so often, is not tried any more. */
const failingMsMax = 5 * 24 * hour
const failuresMin = 10

/** From 0 to 1. */
function fraction(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32
}

/** Up to a fifth more or less, so that what failed together is not tried together. */
function jittered(ms: number, random: () => number): number {
  return Math.round(ms * (0.8 + 0.4 * random()))
}

/**
 * What follows from an attempt.
 * @param tries attempts of this delivery before this one
 * @param before failed attempts of the subscription in a row, and for how long
 */
export function consequenceOf(
  attempt: Attempt,
  tries: number,
  before: { readonly failures: number; readonly failingMs: number },
  random: () => number = fraction,
): Consequence {
  if (attempt.outcome === 'delivered') return { state: 'delivered', retryMs: 0, restMs: 0 }
  const waitMs = retryWaitsMs[tries]
  const afterMs = Math.min(attempt.afterMs, afterMsMax)
  const rest = Math.min(restMs * 2 ** Math.min(before.failures, 20), restMsMax)
  const fails = before.failingMs > failingMsMax && before.failures >= failuresMin
  return {
    state: waitMs === undefined ? 'dead' : 'waiting',
    retryMs: Math.max(jittered(waitMs ?? 0, random), afterMs),
    restMs: Math.max(jittered(rest, random), afterMs),
    ends: attempt.status === 410 ? 'gone' : fails ? 'failing' : undefined,
  }
}
