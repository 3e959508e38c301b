/**
 * Sends events to webhooks: takes them from the tenant's sequence, sends them one after another to each subscription, and
 * tries again what failed. Every replica runs one; a subscription is sent to by one replica at a time.
 */

import type { Logger } from 'pino'
import type { TenantEvent } from '../core/event.ts'
import type { TenantId } from '../core/tenant.ts'
import { type Attempt, wants } from '../core/webhook.ts'
import { readEvents } from '../store/event/events.ts'
import type { Store } from '../store/store.ts'
import {
  type Claim,
  type ClaimedSubscription,
  claimSubscriptions,
  loadClaimed,
  releaseClaim,
} from '../store/webhook/claims.ts'
import {
  dueDeliveries,
  failuresOf,
  type QueuedEvent,
  queueEvents,
  recordAttempt,
} from '../store/webhook/deliveries.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { cloudEvent, eventId } from './cloud-event.ts'
import { HeldClaims, leaseMs } from './held-claims.ts'
import type { Send } from './receiver.ts'
import { consequenceOf } from './retry.ts'

interface DelivererParts {
  readonly store: Store
  readonly metrics: Pick<Metrics, 'webhookAttempts'>
  readonly log: Logger
  readonly send: Send
  /** The public address of this service, the source of its events. */
  readonly publicUrl: () => URL
  /** Whether it looks by itself; else only `deliver` does. Default: true. */
  readonly byTime?: boolean
}

/** Subscriptions that this process sends to at once, and all replicas to one tenant's. */
const lanes = 64
const tenantLanesMax = 4
const lookMs = 1_000
/** How long a subscription with nothing due is left before its tenant's sequence is read again. */
const quietMs = 3_000
/** Deliveries and events that one turn of a subscription takes. */
const turnDeliveries = 20
const turnEvents = 500

export class Deliverer {
  readonly #timer: Timer | undefined
  readonly #stop = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  readonly #held: HeldClaims
  #looking: Promise<boolean> | undefined

  constructor(private readonly parts: DelivererParts) {
    this.#held = new HeldClaims(parts)
    if (parts.byTime === false) return
    this.#timer = setInterval(() => this.#look().catch(() => {}), lookMs)
    this.#timer.unref()
  }

  /** Sends what is due until nothing is, and waits for it. */
  async deliver(): Promise<void> {
    let isEager = true
    while (!this.#stop.signal.aborted && (await this.#look(isEager))) {
      isEager = false
      await Promise.all(this.#running)
    }
  }

  /** Ends attempts in flight. Their deliveries are due again. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#stop.abort()
    await Promise.allSettled([this.#looking, ...this.#running])
    await this.#held.stop()
  }

  /**
   * Claims subscriptions while lanes are free.
   * @param isEager also those that were looked at a moment ago
   * @returns whether there were any
   */
  #look(isEager = false): Promise<boolean> {
    this.#looking ??= this.#claim(isEager).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #claim(isEager: boolean): Promise<boolean> {
    const limit = lanes - this.#running.size
    if (limit <= 0 || this.#stop.signal.aborted) return false
    const takenMs = performance.now()
    try {
      const claims = await claimSubscriptions(this.parts.store, {
        limit,
        lanesMax: tenantLanesMax,
        leaseMs,
        isEager,
      })
      for (const claim of claims) this.#start(claim, takenMs)
      return claims.length > 0
    } catch (err) {
      this.parts.log.error({ err }, 'the webhooks that are due could not be read')
      return false
    }
  }

  #start(claim: Claim, takenMs: number): void {
    const turn = this.#turn(claim, this.#held.hold(claim, takenMs))
      .catch((err: unknown) =>
        this.parts.log.error({ err, webhook: claim.id }, 'events could not be sent to a webhook'),
      )
      .finally(() => {
        this.#held.drop(claim)
        this.#running.delete(turn)
      })
    this.#running.add(turn)
  }

  /** One turn of a subscription: takes events, then sends what is due until an attempt fails. */
  async #turn(claim: Claim, lost: AbortSignal): Promise<void> {
    const { store, log } = this.parts
    const signal = AbortSignal.any([this.#stop.signal, lost])
    let isMore = false
    try {
      const subscription = await loadClaimed(store, claim)
      if (subscription === 'unreadable')
        log.error(
          { webhook: claim.id, state: subscription },
          'no secrets key opens the URL and secrets of a webhook: remove it and add it again, or enable it once the key is back',
        )
      if (subscription === undefined || subscription === 'unreadable') return
      isMore = await this.#take(claim, subscription)
      const due = await dueDeliveries(store, claim, turnDeliveries)
      isMore ||= due.length === turnDeliveries
      for (const delivery of due) if (!(await this.#attempt(claim, subscription, delivery, signal))) return
    } finally {
      await releaseClaim(store, claim, isMore ? 0 : quietMs)
    }
  }

  /** Queues events of the tenant's sequence. @returns whether there may be more */
  async #take(claim: Claim, { types, position }: ClaimedSubscription): Promise<boolean> {
    const { store, publicUrl } = this.parts
    const events = await readEvents(store, claim.tenant, position, turnEvents)
    const last = events.at(-1)
    if (last === undefined) return false
    const wanted = events.filter(({ type }) => wants(types, type))
    await queueEvents(store, claim, queued(claim.tenant, wanted, publicUrl()), last.sequence)
    return events.length === turnEvents
  }

  /** @returns whether it was delivered */
  async #attempt(
    claim: Claim,
    { receiver, signsTwice }: ClaimedSubscription,
    { sequence, body, tries }: QueuedEvent & { readonly tries: number },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { store, send, metrics, log } = this.parts
    if (signal.aborted) return false
    const { url, secret, previous } = receiver.reveal()
    const secrets = signsTwice && previous !== undefined ? [secret, previous] : [secret]
    const message = { id: eventId(claim.tenant, sequence), body, secrets }
    const attempt: Attempt = await send(new URL(url), message, signal)
    // It is due again once the lease is given back, or has ended.
    if (signal.aborted && attempt.outcome !== 'delivered') return false
    const before =
      attempt.outcome === 'delivered' ? { failures: 0, failingMs: 0 } : await failuresOf(store, claim)
    const consequence = consequenceOf(attempt, tries, before)
    await recordAttempt(store, claim, sequence, attempt, consequence)
    metrics.webhookAttempts.inc({ outcome: attempt.outcome })
    if (consequence.state === 'dead')
      log.warn({ webhook: claim.id, sequence: String(sequence) }, 'an event for a webhook was given up')
    if (consequence.ends !== undefined)
      log.warn({ webhook: claim.id, state: consequence.ends }, 'a webhook is no longer sent to')
    return attempt.outcome === 'delivered'
  }
}

/** Events as they are queued. */
export function queued(
  tenant: TenantId,
  events: readonly TenantEvent[],
  source: URL,
): readonly QueuedEvent[] {
  return events.map((event) => ({
    sequence: event.sequence,
    type: event.type,
    body: cloudEvent(tenant, event, source),
  }))
}
