/**
 * Runs detection's store calls one at a time on each replica. A backlog of snapshots must not reach the database as
 * one burst beside commits, so it waits while a commit is in progress.
 */

import type { StandBack } from '../base/right-of-way.ts'

/** The longest rest, so that one slow call does not stop detection. */
const restMsMax = 250

export class StoreTurns {
  #last: Promise<unknown> = Promise.resolve()

  constructor(private readonly standBack: Pick<StandBack, 'clear'>) {}

  /**
   * Does the work after all earlier work, then rests for as long as the work took. So detection uses the database at
   * most half of the time, and less the busier the database is.
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
