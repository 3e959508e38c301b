/** A clock on which a sleep ends at once and moves the time on. */

import type { Pace } from '../../src/base/right-of-way.ts'
import { nextTurn } from '../../src/base/turn.ts'

export interface HandPace extends Pace {
  /** Resolves after the next sleep. */
  slept(): Promise<void>
  advance(ms: number): void
}

/** Starts at 0 milliseconds. */
export function handPace(): HandPace {
  let nowMs = 0
  let next = Promise.withResolvers<void>()
  return {
    now: () => nowMs,
    async sleep(ms) {
      // A turn in between: a loop that sleeps must not keep all else from its turn.
      await nextTurn()
      nowMs += ms
      const slept = next
      next = Promise.withResolvers()
      slept.resolve()
    },
    slept: () => next.promise,
    advance(ms) {
      nowMs += ms
    },
  }
}
