/**
 * Says when a tenant has events after a number. One look at the store serves all subscriptions of a tenant in this
 * process; without subscriptions there is none. A change of governance makes it look at once.
 */

import type { Logger } from 'pino'
import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { lastEvent } from '../../store/event/events.ts'
import { subscribeToGovernanceVersions } from '../../store/governance/governance-versions.ts'
import type { Store } from '../../store/store.ts'
import { graphqlBounds } from './bounds.ts'

interface Waiter {
  readonly after: bigint
  readonly wake: () => void
}

interface Watch {
  readonly waiters: Set<Waiter>
  timer: ReturnType<typeof setTimeout> | undefined
  isLooking: boolean
}

export class EventFeed {
  readonly #open = new Map<string, number>()
  readonly #watches = new Map<TenantId, Watch>()
  readonly #unsubscribe: () => void

  constructor(
    private readonly store: Store,
    private readonly log: Logger,
    private readonly everyMs: number,
  ) {
    this.#unsubscribe = subscribeToGovernanceVersions(store, (tenant) => void this.#look(tenant))
  }

  /**
   * Takes a place for a subscription.
   * @returns what gives it back
   * @throws Fault `overloaded` where the principal or the tenant has no place left in this process
   */
  enter(tenant: TenantId, sub: string): () => void {
    const { subscriptionsMax, tenantSubscriptionsMax } = graphqlBounds
    const places = [
      { key: tenant, max: tenantSubscriptionsMax, whose: 'the tenant' },
      { key: `${tenant} ${sub}`, max: subscriptionsMax, whose: 'yours' },
    ]
    for (const { key, max, whose } of places)
      if ((this.#open.get(key) ?? 0) >= max)
        throw new Fault('overloaded', `${max} subscriptions of ${whose} are open here; end one first.`)
    for (const { key } of places) this.#open.set(key, (this.#open.get(key) ?? 0) + 1)
    return () => {
      for (const { key } of places) {
        const left = (this.#open.get(key) ?? 1) - 1
        if (left === 0) this.#open.delete(key)
        else this.#open.set(key, left)
      }
    }
  }

  /** Resolves once there may be events after this number, and when the signal aborts. */
  async wait(tenant: TenantId, after: bigint, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { after, wake: resolve }
    const watch = this.#watches.get(tenant) ?? { waiters: new Set(), timer: undefined, isLooking: false }
    this.#watches.set(tenant, watch)
    watch.waiters.add(waiter)
    watch.timer ??= setTimeout(() => void this.#look(tenant), this.everyMs)
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    await promise
    signal.removeEventListener('abort', onAbort)
    watch.waiters.delete(waiter)
    if (watch.waiters.size > 0) return
    clearTimeout(watch.timer)
    watch.timer = undefined
    if (!watch.isLooking) this.#watches.delete(tenant)
  }

  async #look(tenant: TenantId): Promise<void> {
    const watch = this.#watches.get(tenant)
    if (watch === undefined || watch.isLooking) return
    clearTimeout(watch.timer)
    watch.timer = undefined
    watch.isLooking = true
    try {
      const last = await lastEvent(this.store, tenant)
      for (const { after, wake } of watch.waiters) if (after < last) wake()
    } catch (err) {
      this.log.warn({ err, tenant }, 'events could not be looked for; the next look retries')
    } finally {
      watch.isLooking = false
    }
    if (watch.waiters.size === 0) this.#watches.delete(tenant)
    else watch.timer = setTimeout(() => void this.#look(tenant), this.everyMs)
  }

  /** Ends the looks. Who waits must end by a signal. */
  stop(): void {
    this.#unsubscribe()
    for (const { timer } of this.#watches.values()) clearTimeout(timer)
  }
}
