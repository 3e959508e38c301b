/**
 * Where work waits for something that is shared and used up: owners in turn, each for a bounded time, until its turn
 * comes or it leaves. It has nothing to give itself; what shares a thing calls `next` when some of it is free.
 */

import { FairQueue } from './fair-queue.ts'
import type { Fault } from './fault.ts'

interface Waiting<Given, Want> {
  readonly want: Want
  readonly give: (given: Given) => void
  readonly refuse: () => void
}

interface FairWaitOptions {
  readonly waitMs: number
  /** Why work that has waited for so long is refused. */
  readonly late: () => Fault
}

export class FairWait<Given, Want = undefined> {
  readonly #queue = new FairQueue<string, Waiting<Given, Want>>()
  #late = 0

  constructor(readonly options: FairWaitOptions) {}

  /** All that waits. */
  get count(): number {
    return this.#queue.count
  }

  /** Work so far that waited for too long. */
  get late(): number {
    return this.#late
  }

  /** What waits of one owner. */
  countOf(owner: string): number {
    return this.#queue.countOf(owner)
  }

  /** Owners of whom something waits, in the order of their turns. */
  get owners(): readonly string[] {
    return this.#queue.owners
  }

  /**
   * @returns what `next` gave
   * @throws the Fault of the options where that takes too long; the signal's reason
   */
  wait(owner: string, want: Want, signal?: AbortSignal): Promise<Given> {
    // An event that was before it is not heard of again.
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<Given>()
    const end = (settle: () => void) => {
      this.#queue.remove(owner, waiting)
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    const refuse = () => {
      end(() => reject(this.options.late()))
      // It had its turn, and did not come to use it.
      this.#queue.moveLast(owner)
    }
    const waiting: Waiting<Given, Want> = { want, refuse, give: (given) => end(() => resolve(given)) }
    const onAbort = () => end(() => reject(signal?.reason))
    const timer = setTimeout(() => {
      this.#late++
      refuse()
    }, this.options.waitMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    this.#queue.push(owner, waiting)
    return promise
  }

  /** What each owner wants that waits, in the order of their turns. */
  heads(): readonly { readonly owner: string; readonly want: Want }[] {
    return this.#queue.heads().map(({ owner, item }) => ({ owner, want: item.want }))
  }

  /** Refuses all that want what is told. */
  refuse(isRefused: (owner: string, want: Want) => boolean): void {
    for (const [owner, { want, refuse }] of this.#queue.entries()) if (isRefused(owner, want)) refuse()
  }

  /**
   * Ends the wait of whose turn it is.
   * @param may who has no turn now is passed over
   * @returns false where nobody is left; nothing was given then
   */
  next(given: Given, may?: (owner: string) => boolean): boolean {
    const waiting = this.#queue.shift(may)
    waiting?.give(given)
    return waiting !== undefined
  }
}
