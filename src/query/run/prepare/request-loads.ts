/**
 * Holds the load of `prepare` until the run of the same request takes it, so that one request loads once. A load
 * serves that one run or none.
 */

import { limits } from '../../../limits.ts'
import type { PreparedQuery, QueryContext } from '../../query-service.ts'
import type { Load } from '../attempt/attempt.ts'
import type { QueryProgress } from '../record/usage-of.ts'
import type { SpeculativeAttempt } from './speculation.ts'

/** A statement's load, with the context and the start that belong to it. */
interface RequestLoad {
  readonly context: QueryContext
  readonly progress: QueryProgress
  readonly load: Load
  /** What was started speculatively, before the load was there. */
  readonly start: SpeculativeAttempt
}

export interface WaitingLoad {
  readonly progress: QueryProgress
  /** The load, for a run that begins now; undefined where the load has expired. */
  use(): RequestLoad | undefined
}

export class RequestLoads {
  readonly #loads = new WeakMap<PreparedQuery, RequestLoad & WaitingLoad>()

  /**
   * Holds a load for `requestLoadMs`. Ends what was started for it if no run takes it.
   * @param missed fires when its run can no longer come
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
   * Takes the load of this query, once; the next run loads again.
   * @returns undefined where there is none, or it belongs to another context
   */
  take(query: PreparedQuery, context: QueryContext): WaitingLoad | undefined {
    const waiting = this.#loads.get(query)
    this.#loads.delete(query)
    if (waiting === undefined || waiting.context === context) return waiting
    waiting.use()?.start.end()
    return undefined
  }
}
