/** One piece of work after another, those whom it is for by turns: whoever has much of it waiting holds up nobody else. */

export class FairTurns<Owner> {
  /** Whose turn it is, or is next, comes first. */
  readonly #waiting = new Map<Owner, (() => Promise<void>)[]>()
  #isRunning = false

  /**
   * @param turnMs for which a turn goes on with the next piece of the same owner, since a change of owners costs
   * @param nowMs a clock that only goes forward
   */
  constructor(
    readonly turnMs: number,
    readonly nowMs: () => number,
  ) {}

  /** @returns what the work does, once it is its turn */
  take<T>(owner: Owner, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const pieces = this.#waiting.get(owner) ?? []
    pieces.push(() => work().then(resolve, reject))
    this.#waiting.set(owner, pieces)
    if (!this.#isRunning) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (const [owner, pieces] of this.#waiting) {
      const endMs = this.nowMs() + this.turnMs
      do await pieces.shift()?.()
      while (pieces.length > 0 && this.nowMs() < endMs)
      // To the end of the row, which a Map's iteration then comes to.
      this.#waiting.delete(owner)
      if (pieces.length > 0) this.#waiting.set(owner, pieces)
    }
    this.#isRunning = false
  }
}
