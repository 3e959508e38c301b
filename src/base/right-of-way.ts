/** Gives work that a client waits for priority over background work in the same process. */

/** A monotonic clock in milliseconds, and sleeping by it; tests set the time. */
export interface Pace {
  now(): number
  sleep(ms: number): Promise<void>
}

/** The process's own clock. */
export const processPace: Pace = { now: () => performance.now(), sleep: (ms) => Bun.sleep(ms) }

interface RightOfWayOptions {
  /** Milliseconds without client work after which background work continues. */
  readonly quietMs: number
  /** Longest wait of background work in milliseconds, however busy the process is. */
  readonly waitMsMax: number
}

export class RightOfWay {
  #underWay = 0
  #endedAtMs = Number.NEGATIVE_INFINITY
  #ended = false

  constructor(
    readonly options: RightOfWayOptions,
    private readonly pace: Pace = processPace,
  ) {}

  /**
   * Runs work that a client waits for.
   * @throws what the work throws
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++
    try {
      return await work()
    } finally {
      this.#underWay--
      this.#endedAtMs = this.pace.now()
    }
  }

  /** Ends all waiting from now on: for shutdown. */
  end(): void {
    this.#ended = true
  }

  /** Makes the waiting side for one background job. */
  standBack(): StandBack {
    return new StandBack(this, this.pace)
  }

  /** Milliseconds until the process has been quiet for long enough; 0 where it has. */
  get restMs(): number {
    const { quietMs } = this.options
    if (this.#ended) return 0
    if (this.#underWay > 0) return quietMs
    return Math.max(this.#endedAtMs + quietMs - this.pace.now(), 0)
  }
}

/** The wait of one background job. Its longest wait starts with the first `clear()` and is not reset until `renew()`. */
export class StandBack {
  #sinceMs: number | undefined

  constructor(
    private readonly way: RightOfWay,
    private readonly pace: Pace,
  ) {}

  /** Resolves once the process has been quiet for long enough, or the longest wait is over; at once where it is idle. */
  async clear(): Promise<void> {
    for (;;) {
      const { restMs } = this.way
      if (restMs === 0) return
      const now = this.pace.now()
      this.#sinceMs ??= now
      const leftMs = this.#sinceMs + this.way.options.waitMsMax - now
      if (leftMs <= 0) return
      await this.pace.sleep(Math.min(restMs, leftMs))
    }
  }

  /** Resets the longest wait, after the job did its piece of work. */
  renew(): void {
    this.#sinceMs = undefined
  }
}
