/**
 * Limits concurrency: a bounded number of places, and a bounded queue. Owners, such as tenants, take turns, so that
 * none waits for the backlog of another; within an owner it is first come, first served.
 */

import { FairQueue } from '../../base/fair-queue.ts'
import { EngineError } from '../engine-error.ts'

/** Leaves the place; a second call does nothing. */
export type Leave = () => void

export class Gate {
  #taken = 0
  readonly #waiting = new FairQueue<string, () => void>()
  /** Callbacks that ask borrowers to leave. */
  readonly #borrowers = new Set<() => void>()

  constructor(
    readonly placesMax: number,
    readonly queueMax: number,
  ) {}

  /** Places that are taken, and callers that wait. */
  get load(): { readonly taken: number; readonly waiting: number } {
    return { taken: this.#taken, waiting: this.#waiting.count }
  }

  /**
   * Waits for a place.
   * @throws EngineError 53300 at once where the queue is full and the owner has something in it; the signal's reason
   * when it fires
   */
  async enter(owner: string, signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted()
    if (this.#taken >= this.placesMax) {
      if (!this.#waiting.hasRoom(owner, this.queueMax))
        throw new EngineError('53300', 'Too many queries are running and waiting; try again later.')
      for (const wanted of [...this.#borrowers]) wanted()
      await this.#turn(owner, signal)
    } else this.#taken++
    return this.#inside()
  }

  /**
   * Takes a free place without waiting, on condition of leaving when another caller needs it.
   * @param wanted called, perhaps several times, when another caller waits; the borrower must then leave
   * @returns undefined where no place is free
   */
  borrow(wanted: () => void): Leave | undefined {
    if (this.#taken >= this.placesMax) return undefined
    this.#taken++
    const leave = this.#inside()
    const borrower = () => wanted()
    this.#borrowers.add(borrower)
    return () => {
      this.#borrowers.delete(borrower)
      leave()
    }
  }

  #inside(): Leave {
    let inside = true
    return () => {
      if (!inside) return
      inside = false
      const next = this.#waiting.shift()
      // The place passes directly to the next caller, so that no new caller can take it in between.
      if (next === undefined) this.#taken--
      else next()
    }
  }

  #turn(owner: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener('abort', give)
        resolve()
      }
      const give = () => {
        this.#waiting.remove(owner, turn)
        reject(signal.reason)
      }
      signal.addEventListener('abort', give, { once: true })
      this.#waiting.push(owner, turn)
    })
  }
}
