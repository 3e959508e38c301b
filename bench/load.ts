/** Load on something asynchronous: closed loop, and open loop without coordinated omission. Knows no HTTP. */

/** One exchange: resolves to the milliseconds that it took, rejects where it failed. */
export type Exchange = () => Promise<number>

/**
 * Every worker makes its exchanges one after the other, all workers at once.
 * @param exchanges one for each worker
 * @param spreadMs over how many milliseconds their beginnings are spread evenly. Against an upstream that takes
 *   the same time for everything, workers that begin together stay in step and measure bursts
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
  /** Milliseconds from when each exchange was due, whether or not it could begin then. */
  readonly times: readonly number[]
  /** Milliseconds by which this process itself was late for each: what of `times` is the generator's own. */
  readonly lateness: readonly number[]
}

/**
 * Exchanges fall due at a fixed rate, however long those before them take. One that finds every worker busy
 * waits for a free one, and its time counts from when it was due.
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
    // Whoever awaits them all learns of it; until then it must not count as unhandled.
    done.catch(() => {})
    running.push(done)
  }
  return { times: await Promise.all(running), lateness }
}
