/** Who goes first: what a client waits for, and what stands back for it in the same process. */

/** Milliseconds on a clock that never goes back, and waiting by it; a test moves it by hand. */
export interface Pace {
  now(): number
  sleep(ms: number): Promise<void>
}

/** The process's own. */
export const processPace: Pace = { now: () => performance.now(), sleep: (ms) => Bun.sleep(ms) }

export interface RightOfWayOptions {
  /** Milliseconds without anything at work after which what stands back goes on. */
  readonly quietMs: number
  /** Milliseconds for which it stands back at most, however busy the process is. */
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

  /** Does work that a client waits for. @throws what the work throws */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++
    try {
      return await work()
    } finally {
      this.#underWay--
      this.#endedAtMs = this.pace.now()
    }
  }

  /** From now on nothing stands back any more: for shutdown. */
  end(): void {
    this.#ended = true
  }

  /** For one that stands back. */
  standBack(): StandBack {
    return new StandBack(this, this.pace)
  }

  /** Milliseconds that are missing until it has been quiet for long enough; 0 where it has. */
  get restMs(): number {
    const { quietMs } = this.options
    if (this.#ended) return 0
    if (this.#underWay > 0) return quietMs
    return Math.max(this.#endedAtMs + quietMs - this.pace.now(), 0)
  }
}

/** One that stands back: its patience begins with its first wait and ends for good, until it is renewed. */
export class StandBack {
  #sinceMs: number | undefined

  constructor(
    private readonly way: RightOfWay,
    private readonly pace: Pace,
  ) {}

  /** Resolves once it has been quiet for long enough, or patience has run out: at once where nothing is at work. */
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

  /** What it had to do is done: it has all its patience again. */
  renew(): void {
    this.#sinceMs = undefined
  }
}
