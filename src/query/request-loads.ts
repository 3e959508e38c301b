/**
 * What `prepare` loaded for the run of the same request, until that run takes it. One request needs one load. It
 * serves that one run, or none.
 */

import { limits } from '../limits.ts'
import type { Load } from './attempt.ts'
import type { PreparedQuery, QueryContext } from './query-service.ts'
import type { SpeculativeAttempt } from './speculative/speculation.ts'
import type { QueryProgress } from './usage-of.ts'

/** A statement that was loaded for a run. */
export interface RequestLoad {
  readonly context: QueryContext
  readonly progress: QueryProgress
  readonly load: Load
  /** What was started before the load was there. */
  readonly start: SpeculativeAttempt
}

export interface WaitingLoad {
  readonly progress: QueryProgress
  /** The load, for the run that begins now; undefined where it comes too late. */
  use(): RequestLoad | undefined
}

export class RequestLoads {
  readonly #loads = new WeakMap<PreparedQuery, RequestLoad & WaitingLoad>()

  /**
   * Holds a load for a moment. What was started for one that is not used ends.
   * @param missed fires where the run that it was loaded for can no longer come
   */
  hold(query: PreparedQuery, loaded: RequestLoad, missed?: AbortSignal): void {
    let isOver = false
    const end = () => {
      isOver = true
      stopWaiting()
      this.#loads.delete(query)
      loaded.start.end()
    }
    const expiry = setTimeout(end, limits.requestLoadMs)
    const stopWaiting = () => {
      clearTimeout(expiry)
      missed?.removeEventListener('abort', end)
    }
    const use = () => {
      stopWaiting()
      return isOver ? undefined : loaded
    }
    this.#loads.set(query, { ...loaded, use })
    missed?.addEventListener('abort', end, { once: true })
    if (missed?.aborted) end()
  }

  /**
   * What was loaded for this query, once; the next run loads for itself.
   * @returns undefined for another context's
   */
  take(query: PreparedQuery, context: QueryContext): WaitingLoad | undefined {
    const waiting = this.#loads.get(query)
    this.#loads.delete(query)
    if (waiting === undefined || waiting.context === context) return waiting
    waiting.use()?.start.end()
    return undefined
  }
}
