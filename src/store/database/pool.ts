/**
 * Lends connections to requests, each to one borrower at a time. Tenants that wait take turns, so that none waits for
 * the backlog of another; while others use the store, a tenant with slow statements leaves them a quarter of the
 * connections. A connection holds the plans of the tenant that it served last, and what the server knows of
 * the relations of each that it has served. So a tenant gets one of its connections again where one is free, and each
 * connection serves few tenants. One that has served many is replaced.
 */

import { FairWait } from '../../base/fair-wait.ts'
import { Fault } from '../../base/fault.ts'
import type { Link, StoreBackend } from './link.ts'
import { toStoreFault } from './store-fault.ts'

/** Milliseconds that a borrower waits for a free connection before it fails with "busy". */
export const borrowWaitMs = 10_000

/** The part of the connections that a tenant leaves to others, while these use the store. */
const othersPart = 1 / 4
/** Milliseconds after its last use for which a tenant counts as one of them. */
const othersRecentMs = 60_000

/** Of work that found no connection in time. */
export const databaseBusy = () => new Fault('unavailable', 'The database is busy. Try again.')

/** Connections of a pool, and borrowers. */
export interface PoolUse {
  readonly idle: number
  readonly lent: number
  readonly waiting: number
  /** Borrowers so far that got no connection in time. */
  readonly refused: number
  readonly max: number
  /** Milliseconds since a tenant, other than the one that is left out, last used a connection or waited for one. */
  readonly quietMs: number
}

interface Use {
  readonly tenant: string
  readonly atMs: number
}

export class Pool {
  readonly #idle: Link[] = []
  readonly #served = new WeakMap<Link, string>()
  /** Of work outside any tenant undefined. */
  readonly #borrowers = new WeakMap<Link, string | undefined>()
  /** Connections that each tenant has now. */
  readonly #lentTo = new Map<string, number>()
  /** All tenants that a connection has served. */
  readonly #tenants = new WeakMap<Link, Set<string>>()
  /** Work outside any tenant has turns of its own. */
  readonly #waiting = new FairWait<Link | undefined>({ waitMs: borrowWaitMs, late: databaseBusy })
  #open = 0
  #closed = false
  /** The two tenants that used a connection last, and until when. */
  #lastUses: readonly Use[] = []

  /** @param nowMs a monotonic clock */
  constructor(
    readonly backend: StoreBackend,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** How the connections are used now. @param besides whose use is left out of `quietMs` */
  use(besides?: string): PoolUse {
    const idle = this.#idle.length
    return {
      idle,
      lent: this.#open - idle,
      waiting: this.#waiting.count,
      refused: this.#waiting.late,
      max: this.backend.linksMax,
      quietMs: this.#quietMs(besides),
    }
  }

  #quietMs(besides: string | undefined): number {
    if (this.#waiting.owners.some((owner) => owner !== besides && owner !== '')) return 0
    const other = this.#lastUses.find((use) => use.tenant !== besides)
    return other === undefined ? Number.POSITIVE_INFINITY : this.nowMs() - other.atMs
  }

  #noteUse(tenant: string): void {
    const other = this.#lastUses.find((use) => use.tenant !== tenant)
    this.#lastUses = [{ tenant, atMs: this.nowMs() }, ...(other === undefined ? [] : [other])]
  }

  /** Adds a connection that was opened elsewhere, in the state that `release` expects. */
  adopt(link: Link): void {
    this.#open++
    this.#idle.push(link)
  }

  /**
   * Lends a connection until `release` or `discard`.
   * @param tenant whose cached plans help; undefined for work outside any tenant
   * @throws Fault `unavailable` where none becomes free in time or none can be opened; the signal's reason
   */
  async borrow(tenant?: string, signal?: AbortSignal): Promise<Link> {
    const link = await this.#borrow(tenant, signal)
    this.#borrowers.set(link, tenant)
    if (tenant === undefined) return link
    this.#lentTo.set(tenant, (this.#lentTo.get(tenant) ?? 0) + 1)
    this.#noteUse(tenant)
    this.#served.set(link, tenant)
    const tenants = this.#tenants.get(link) ?? new Set()
    this.#tenants.set(link, tenants.add(tenant))
    return link
  }

  async #borrow(tenant: string | undefined, signal: AbortSignal | undefined): Promise<Link> {
    signal?.throwIfAborted()
    for (;;) {
      if (this.#closed) throw new Fault('unavailable', 'The database is closed.')
      if (tenant === undefined || this.#mayBorrow(tenant)) {
        const idle = this.#takeIdle(tenant)
        if (idle !== undefined) {
          if (!idle.dead) return idle
          await this.discard(idle)
          continue
        }
        if (this.#open < this.backend.linksMax) return this.#openOne()
      }
      const granted = await this.#waiting.wait(tenant ?? '', undefined, signal)
      if (granted !== undefined) return granted
    }
  }

  readonly #mayBorrow = (tenant: string): boolean => {
    const { linksMax } = this.backend
    const share = linksMax - Math.floor(linksMax * othersPart)
    return (this.#lentTo.get(tenant) ?? 0) < share || this.#quietMs(tenant) > othersRecentMs
  }

  /** The connection is no longer its borrower's. */
  #takeBack(link: Link): void {
    const tenant = this.#borrowers.get(link)
    this.#borrowers.delete(link)
    if (tenant === undefined) return
    this.#noteUse(tenant)
    const left = (this.#lentTo.get(tenant) ?? 0) - 1
    if (left > 0) this.#lentTo.set(tenant, left)
    else this.#lentTo.delete(tenant)
  }

  /**
   * Chooses an idle connection. First comes one whose last tenant this was, then one that has served it, then an unused
   * one. If there is none of these and no more may be opened, it is the one that has served the fewest tenants.
   */
  #takeIdle(tenant: string | undefined): Link | undefined {
    if (tenant === undefined) return this.#idle.pop()
    let [best, bestRank] = [-1, Number.POSITIVE_INFINITY]
    for (const [index, link] of this.#idle.entries()) {
      const rank = this.#rankOf(link, tenant)
      // Of equals the one that was used last, because the caches of the processor may hold it.
      if (rank <= bestRank) [best, bestRank] = [index, rank]
    }
    if (bestRank > 0 && this.#open < this.backend.linksMax) return undefined
    return best < 0 ? undefined : this.#idle.splice(best, 1)[0]
  }

  /** The lower, the better for the tenant; above 0 it is better to open a connection. */
  #rankOf(link: Link, tenant: string): number {
    const tenants = this.#tenants.get(link)
    if (tenants === undefined) return 0
    if (this.#served.get(link) === tenant) return -2
    return tenants.has(tenant) ? -1 : tenants.size
  }

  release(link: Link): void {
    this.#takeBack(link)
    const isWorn = (this.#tenants.get(link)?.size ?? 0) >= this.backend.tenantsOfLinkMax
    if (link.dead || this.#closed || isWorn) {
      void this.discard(link).catch(() => {})
      return
    }
    if (!this.#waiting.next(link, this.#mayBorrow)) this.#idle.push(link)
  }

  /** Ends the connection. Its place in the pool is free once nothing of it runs any more. */
  async discard(link: Link): Promise<void> {
    await link.discard()
    this.#takeBack(link)
    this.#open--
    this.#waiting.next(undefined, this.#mayBorrow)
  }

  async close(): Promise<void> {
    this.#closed = true
    while (this.#waiting.next(undefined));
    const idle = this.#idle.splice(0)
    this.#open -= idle.length
    await Promise.all(idle.map((link) => (link.dead ? link.discard() : link.close())))
  }

  async #openOne(): Promise<Link> {
    this.#open++
    try {
      return await this.backend.open('tenant')
    } catch (error) {
      this.#open--
      this.#waiting.next(undefined, this.#mayBorrow)
      const fault = toStoreFault(error)
      throw new Fault('unavailable', 'The database is not available.', { cause: fault.cause ?? fault })
    }
  }
}
