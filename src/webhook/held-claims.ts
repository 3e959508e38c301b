/**
 * Keeps a process's claims on subscriptions while it sends: prolongs their leases, and says at once when one is lost. It
 * neither takes claims nor gives them back. The lease is short, so that another replica takes over soon after a death.
 */

import type { Logger } from 'pino'
import type { Store } from '../store/store.ts'
import { type Claim, renewClaims } from '../store/webhook/claims.ts'

/** Milliseconds that a claim lasts where its holder says nothing more. */
export const leaseMs = 6_000
/** Four attempts fall into a lease, so that three lost ones lose nothing. */
const renewMs = leaseMs / 4

interface Held {
  readonly lost: AbortController
  /** Fires when another replica may hold the claim, whatever the store says or does not say. */
  ending: Timer
}

export class HeldClaims {
  readonly #held = new Map<string, Held>()
  readonly #timer: Timer
  #renewing: Promise<void> | undefined

  constructor(private readonly parts: { readonly store: Store; readonly log: Logger }) {
    this.#timer = setInterval(() => this.renew(), renewMs)
    this.#timer.unref()
  }

  /**
   * Begins to prolong a claim.
   * @param takenMs `performance.now()` before the claim was asked for
   * @returns fires once another replica may hold the claim
   */
  hold({ leaseId }: Claim, takenMs: number): AbortSignal {
    const lost = new AbortController()
    this.#held.set(leaseId, { lost, ending: endAt(lost, takenMs + leaseMs) })
    return lost.signal
  }

  drop({ leaseId }: Claim): void {
    clearTimeout(this.#held.get(leaseId)?.ending)
    this.#held.delete(leaseId)
  }

  /** Prolongs all claims once, unless that is going on. */
  renew(): Promise<void> {
    if (this.#held.size === 0) return Promise.resolve()
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#renewing
  }

  async #renewOnce(): Promise<void> {
    const askedMs = performance.now()
    const ids = [...this.#held.keys()]
    try {
      const kept = await renewClaims(this.parts.store, ids, leaseMs)
      for (const id of ids) {
        const held = this.#held.get(id)
        if (held === undefined) continue
        clearTimeout(held.ending)
        if (kept.has(id)) held.ending = endAt(held.lost, askedMs + leaseMs)
        else held.lost.abort()
      }
    } catch (err) {
      this.parts.log.warn({ err }, 'leases of webhooks could not be prolonged')
    }
  }
}

/** @param untilMs by `performance.now()` */
function endAt(lost: AbortController, untilMs: number): Timer {
  const timer = setTimeout(() => lost.abort(), Math.max(untilMs - performance.now(), 0))
  timer.unref()
  return timer
}
