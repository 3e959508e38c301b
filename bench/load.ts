/** Puts load on an asynchronous function: closed loop, or open loop without coordinated omission. It knows no HTTP. */

/** One exchange: resolves to its milliseconds, rejects when it failed. */
export type Exchange = () => Promise<number>

/**
 * All workers run at once, and each makes its exchanges one after another.
 * @param exchanges one for each worker
 * @param spreadMs time over which the workers' starts are spread evenly. Workers that start together stay in step if
 *   every exchange takes the same time, and measure bursts
 * @returns milliseconds of each
 */
export async function closedLoop(
  exchanges: readonly Exchange[],
  countEach: number,
  spreadMs = 0,
): Promise<number[]> {
  const taken = await Promise.all(
    exchanges.map(async (exchange, worker) => {
      if (spreadMs > 0) await Bun.sleep((worker * spreadMs) / exchanges.length)
      const times: number[] = []
      for (let index = 0; index < countEach; index++) times.push(await exchange())
      return times
    }),
  )
  return taken.flat()
}

export interface OpenLoopTimes {
  /** Milliseconds since each exchange was due, including the wait for a free worker. */
  readonly times: readonly number[]
  /** Milliseconds by which this process was late for each: the generator's own share of `times`. */
  readonly lateness: readonly number[]
}

/**
 * Exchanges are due at a fixed rate, regardless of how long earlier ones take. If every worker is busy, an exchange
 * waits for a free one, and its time starts when it was due.
 * @param exchanges one for each worker
 */
export async function openLoop(
  exchanges: readonly Exchange[],
  ratePerSecond: number,
  count: number,
): Promise<OpenLoopTimes> {
  const free = [...exchanges]
  const waiting: ((exchange: Exchange) => void)[] = []
  const startMs = performance.now()
  const lateness: number[] = []

  const run = async (dueMs: number): Promise<number> => {
    const exchange = free.pop() ?? (await new Promise<Exchange>((resolve) => void waiting.push(resolve)))
    try {
      await exchange()
      return performance.now() - dueMs
    } finally {
      const next = waiting.shift()
      if (next === undefined) free.push(exchange)
      else next(exchange)
    }
  }

  const running: Promise<number>[] = []
  for (let index = 0; index < count; index++) {
    const dueMs = startMs + (index * 1000) / ratePerSecond
    const aheadMs = dueMs - performance.now()
    if (aheadMs > 0) await Bun.sleep(aheadMs)
    lateness.push(Math.max(0, performance.now() - dueMs))
    const done = run(dueMs)
    // The caller awaits it later with all others; until then a rejection must not be reported as unhandled.
    done.catch(() => {})
    running.push(done)
  }
  return { times: await Promise.all(running), lateness }
}
