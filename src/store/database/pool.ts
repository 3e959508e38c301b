/**
 * Sessions shared by requests: each belongs to one borrower at a time, first come first served. A session keeps the
 * plans of the tenant that it served last, so a tenant gets that one again where it is free.
 */

import { Fault } from '../../base/fault.ts'
import type { Engine, Link } from './link.ts'
import { toStoreFault } from './store-fault.ts'

interface Waiter {
  readonly grant: (link: Link | undefined) => void
}

/** Milliseconds that a borrower waits for a free session before it is told that the store is busy. */
const waitMs = 10_000

export class Pool {
  /** The longest idle first. */
  readonly #idle: Link[] = []
  readonly #served = new WeakMap<Link, string>()
  readonly #waiting = new Set<Waiter>()
  #open = 0
  #closed = false

  constructor(readonly engine: Engine) {}

  /** Takes in a session opened elsewhere, in the state `release` expects. */
  adopt(link: Link): void {
    this.#open++
    this.#idle.push(link)
  }

  /**
   * A session of the borrower's own until it is given back by `release` or `discard`.
   * @param tenant whom it is to serve; undefined for work that no tenant's plans are of use to
   * @throws Fault `unavailable` where none comes free in time or none can be opened; the signal's reason
   */
  async borrow(tenant?: string, signal?: AbortSignal): Promise<Link> {
    const link = await this.#borrow(tenant, signal)
    if (tenant !== undefined) this.#served.set(link, tenant)
    return link
  }

  async #borrow(tenant: string | undefined, signal: AbortSignal | undefined): Promise<Link> {
    signal?.throwIfAborted()
    for (;;) {
      if (this.#closed) throw new Fault('unavailable', 'The database is closed.')
      const idle = this.#takeIdle(tenant)
      if (idle !== undefined) {
        if (!idle.dead) return idle
        await this.discard(idle)
        continue
      }
      if (this.#open < this.engine.linksMax) return this.#openOne()
      const granted = await this.#wait(signal)
      if (granted !== undefined) return granted
    }
  }

  /** The tenant's own, or one that served nobody; another tenant's only where no more may be opened. */
  #takeIdle(tenant: string | undefined): Link | undefined {
    if (tenant === undefined) return this.#idle.pop()
    const own = this.#idle.findLastIndex((link) => (this.#served.get(link) ?? tenant) === tenant)
    if (own >= 0) return this.#idle.splice(own, 1)[0]
    return this.#open < this.engine.linksMax ? undefined : this.#idle.shift()
  }

  release(link: Link): void {
    if (link.dead || this.#closed) {
      void this.discard(link).catch(() => {})
      return
    }
    const [next] = this.#waiting
    if (next === undefined) this.#idle.push(link)
    else next.grant(link)
  }

  /** Ends the session; its place in the pool is free once nothing of it runs any more. */
  async discard(link: Link): Promise<void> {
    await link.discard()
    this.#open--
    const [next] = this.#waiting
    next?.grant(undefined)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const waiter of this.#waiting) waiter.grant(undefined)
    const idle = this.#idle.splice(0)
    this.#open -= idle.length
    await Promise.all(idle.map((link) => (link.dead ? link.discard() : link.close())))
  }

  async #openOne(): Promise<Link> {
    this.#open++
    try {
      return await this.engine.open('tenant')
    } catch (error) {
      this.#open--
      const [next] = this.#waiting
      next?.grant(undefined)
      const fault = toStoreFault(error)
      throw new Fault('unavailable', 'The database is not available.', { cause: fault.cause ?? fault })
    }
  }

  /** @returns a session handed over, or undefined where there is reason to look again */
  #wait(signal: AbortSignal | undefined): Promise<Link | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Link | undefined>()
    const leave = (settle: () => void) => {
      this.#waiting.delete(waiter)
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    const waiter: Waiter = { grant: (link) => leave(() => resolve(link)) }
    const onAbort = () => leave(() => reject(signal?.reason))
    const timer = setTimeout(
      () => leave(() => reject(new Fault('unavailable', 'The database is busy. Try again.'))),
      waitMs,
    )
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#waiting.add(waiter)
    return promise
  }
}
