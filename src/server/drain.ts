/** Counts requests under way, so that a shutdown can wait for them to finish (docs/reference/operations.md 4.1). */

export class Drain {
  #underWay = 0
  #accepting = true
  #draining = false
  #idle: (() => void) | undefined
  readonly #end = new AbortController()

  /** Aborts once the process refuses new requests. Streams end then, because they are not requests under way. */
  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Whether the process wants further requests. */
  get accepting(): boolean {
    return this.#accepting
  }

  /** Whether the process refuses new requests. */
  get draining(): boolean {
    return this.#draining
  }

  /** Announces the end to load balancers. Requests are served until `close`. */
  announce(): void {
    this.#accepting = false
  }

  /** Runs `work` as a request under way. */
  async track<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++
    try {
      return await work()
    } finally {
      this.#underWay--
      if (this.#underWay === 0) this.#idle?.()
    }
  }

  /**
   * Marks the service as draining and waits for requests under way. The listener refuses new ones by `draining`.
   * @param timeoutMs how long requests under way may still take
   * @returns whether all of them finished in time
   */
  async close(timeoutMs: number): Promise<boolean> {
    this.announce()
    this.#draining = true
    this.#end.abort()
    if (this.#underWay === 0) return true
    const finished = new Promise<true>((resolve) => {
      this.#idle = () => resolve(true)
    })
    return await Promise.race([finished, Bun.sleep(timeoutMs).then(() => false)])
  }
}
