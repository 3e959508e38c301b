/** Delays logins from an address whose clients, or one user there, keep failing to authenticate. */

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
   * @param user counts by itself; '' for all users of the address together
   * @returns the milliseconds to wait before checking it; undefined where that is too long. Then no turn is taken,
   *   because attempts that are never checked would delay all others.
   */
  turn(address: string, withinMs: number, user = ''): number | undefined {
    const failures = this.#recent(keyOf(address, user))
    if (failures === undefined) return 0
    const now = this.clock.now()
    const turnMs = Math.max(now, failures.nextMs)
    if (turnMs - now > withinMs) return undefined
    failures.nextMs = turnMs + penaltyMs(failures.count)
    return turnMs - now
  }

  failed(address: string, user = ''): void {
    const now = this.clock.now()
    const key = keyOf(address, user)
    const failures = this.#recent(key) ?? { count: 0, lastMs: now, nextMs: now }
    failures.count++
    failures.lastMs = now
    failures.nextMs = Math.max(failures.nextMs, now + penaltyMs(failures.count))
    this.#failures.set(key, failures)
  }

  /** Forgets the failures of a user who has authenticated. */
  succeeded(address: string, user: string): void {
    this.#failures.delete(keyOf(address, user))
  }

  #recent(key: string): Failures | undefined {
    const failures = this.#failures.get(key)
    return failures !== undefined && this.clock.now() - failures.lastMs < memoryMs ? failures : undefined
  }
}

/** A user's name may be long, so its digest stands for it. */
function keyOf(address: string, user: string): string {
  const network = networkOf(address)
  return user === '' ? network : `${network} ${new Bun.CryptoHasher('sha256').update(user).digest('hex')}`
}

function penaltyMs(failures: number): number {
  if (failures < freeFailures) return 0
  return Math.min(penaltyMinMs * 2 ** Math.min(failures - freeFailures, 20), penaltyMaxMs)
}
