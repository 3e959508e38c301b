/** Runs one piece of work at a time, owners in turn, so that an owner with much waiting work does not delay others. */

export class FairTurns<Owner> {
  /** In the order of turns: the first owner has the current or next turn. */
  readonly #waiting = new Map<Owner, (() => Promise<void>)[]>()
  #isRunning = false

  /**
   * @param turnMs how long a turn continues with work of the same owner, because a change of owners is expensive
   * @param nowMs a monotonic clock
   */
  constructor(
    readonly turnMs: number,
    readonly nowMs: () => number,
  ) {}

  /** Runs the work when its turn comes. @returns its result */
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
      // Moves the owner to the end of the Map, where the iteration reaches it again.
      this.#waiting.delete(owner)
      if (pieces.length > 0) this.#waiting.set(owner, pieces)
    }
    this.#isRunning = false
  }
}
