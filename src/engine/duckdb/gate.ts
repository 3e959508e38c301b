/** A bounded number of places, and a bounded queue for them, first come first served. */

import { EngineError } from '../engine-error.ts'

/** Leaves the place; a second call does nothing. */
export type Leave = () => void

export class Gate {
  #taken = 0
  readonly #waiting: (() => void)[] = []
  /** Of those who gave their word to leave for others. */
  readonly #borrowers = new Set<() => void>()

  constructor(
    readonly placesMax: number,
    readonly queueMax: number,
  ) {}

  /** Those inside, and those who wait. */
  get load(): { readonly taken: number; readonly waiting: number } {
    return { taken: this.#taken, waiting: this.#waiting.length }
  }

  /**
   * Waits for a place.
   * @throws EngineError 53300 at once where the queue is full, or the signal's reason when it fires
   */
  async enter(signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted()
    if (this.#taken >= this.placesMax) {
      if (this.#waiting.length >= this.queueMax)
        throw new EngineError('53300', 'Too many queries are running and waiting; try again later.')
      for (const wanted of [...this.#borrowers]) wanted()
      await this.#turn(signal)
    } else this.#taken++
    return this.#inside()
  }

  /**
   * A place that nobody else wants now.
   * @param wanted called, once at least, as soon as somebody waits: leave
   * @returns undefined where there is none
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
      // The place is handed on: between two turns nobody can slip in.
      if (next === undefined) this.#taken--
      else next()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal.removeEventListener('abort', give)
        resolve()
      }
      const give = () => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', give, { once: true })
      this.#waiting.push(turn)
    })
  }
}
