/**
 * Detection's calls of the store, one at a time a replica: a backlog of snapshots must not come to the database as
 * one burst beside commits, and stands back while one is at work.
 */

import type { StandBack } from '../base/right-of-way.ts'

/** A rest is no longer than this, so that one slow call does not hold up detection. */
const restMsMax = 250

export class StoreTurns {
  #last: Promise<unknown> = Promise.resolve()

  constructor(private readonly standBack: Pick<StandBack, 'clear'>) {}

  /**
   * Does the work after all that came before it. Then nothing is done for as long as it took: detection has the
   * database for half of the time at most, and less of it the busier the database is.
   * @throws what the work throws
   */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(async () => {
      await this.standBack.clear()
      const startedMs = performance.now()
      const rested = () => Bun.sleep(Math.min(performance.now() - startedMs, restMsMax))
      const done = Promise.try(work)
      return { done, rest: done.then(rested, rested) }
    })
    this.#last = turn.then(({ rest }) => rest)
    return turn.then(({ done }) => done)
  }
}
