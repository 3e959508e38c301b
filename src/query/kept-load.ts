/**
 * What a statement was compiled from, for a run that follows at once and is part of the same request: loading it
 * again would ask the same questions twice for one answer. It serves one run, or none.
 */

import { limits } from '../limits.ts'
import type { Attempt, Load } from './attempt.ts'
import type { PreparedQuery, QueryContext } from './query-service.ts'
import type { QueryProgress } from './usage-of.ts'

/** A statement that was loaded for a run. */
export interface Loaded {
  readonly context: QueryContext
  readonly progress: QueryProgress
  readonly load: Load
  /** Begun before the load was there; whether it answers is still to be decided. */
  readonly guessed: Attempt | undefined
}

export interface KeptLoad {
  readonly progress: QueryProgress
  /** What is kept, for whoever begins the run; undefined where that comes too late. */
  claim(): Loaded | undefined
}

export class KeptLoads {
  readonly #loads = new WeakMap<PreparedQuery, Loaded & KeptLoad>()

  /**
   * Keeps it for a moment; what nobody claims ends.
   * @param missed fires where the run that it was loaded for can come no more
   */
  keep(query: PreparedQuery, loaded: Loaded, missed?: AbortSignal): void {
    let isOver = false
    const end = () => {
      isOver = true
      settle()
      this.#loads.delete(query)
      void loaded.guessed?.end()
    }
    const expiry = setTimeout(end, limits.keptLoadMs)
    const settle = () => {
      clearTimeout(expiry)
      missed?.removeEventListener('abort', end)
    }
    const claim = () => {
      settle()
      return isOver ? undefined : loaded
    }
    this.#loads.set(query, { ...loaded, claim })
    missed?.addEventListener('abort', end, { once: true })
    if (missed?.aborted) end()
  }

  /**
   * What was loaded for this query, once; the next run loads for itself.
   * @returns undefined for another context's
   */
  take(query: PreparedQuery, context: QueryContext): KeptLoad | undefined {
    const kept = this.#loads.get(query)
    this.#loads.delete(query)
    if (kept === undefined || kept.context === context) return kept
    void kept.claim()?.guessed?.end()
    return undefined
  }
}
