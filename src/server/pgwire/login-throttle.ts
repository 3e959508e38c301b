/** Delays logins from an address whose clients keep failing to authenticate. */

import type { Clock } from '../../base/clock.ts'
import { Lru } from '../../base/lru.ts'
import { networkOf } from './network.ts'

/** Failures without a delay, such as a mistyped secret or a tool that tries three times. */
const freeFailures = 5
const penaltyMinMs = 100
const penaltyMaxMs = 10_000
/** Milliseconds after which failures are forgotten. */
const memoryMs = 600_000
const addressesMax = 10_000

interface Failures {
  count: number
  lastMs: number
  /** When the next attempt may be checked. */
  nextMs: number
}

export class LoginThrottle {
  readonly #failures = new Lru<string, Failures>(addressesMax)

  constructor(readonly clock: Clock) {}

  /**
   * Takes a turn for one attempt of an address. Attempts wait one after another.
   * @param withinMs how long the attempt can wait
   * @returns the milliseconds to wait before checking it; undefined where that is too long. Then no turn is taken,
   *   because attempts that are never checked would delay all others.
   */
  turn(address: string, withinMs: number): number | undefined {
    const failures = this.#recent(address)
    if (failures === undefined) return 0
    const now = this.clock.now()
    const turnMs = Math.max(now, failures.nextMs)
    if (turnMs - now > withinMs) return undefined
    failures.nextMs = turnMs + penaltyMs(failures.count)
    return turnMs - now
  }

  failed(address: string): void {
    const now = this.clock.now()
    const failures = this.#recent(address) ?? { count: 0, lastMs: now, nextMs: now }
    failures.count++
    failures.lastMs = now
    failures.nextMs = Math.max(failures.nextMs, now + penaltyMs(failures.count))
    this.#failures.set(networkOf(address), failures)
  }

  #recent(address: string): Failures | undefined {
    const failures = this.#failures.get(networkOf(address))
    return failures !== undefined && this.clock.now() - failures.lastMs < memoryMs ? failures : undefined
  }
}

function penaltyMs(failures: number): number {
  if (failures < freeFailures) return 0
  return Math.min(penaltyMinMs * 2 ** Math.min(failures - freeFailures, 20), penaltyMaxMs)
}
