/**
 * Starts the engine on the last load of the same statement while this run's load is under way.
 *
 * This is sound because a result depends on three things: the load (credential, governed tables, snapshots), the
 * statement compiled from it, and the parameters. The attempt is used only if this run's own load has arrived and is
 * equal in all of them. If the load differs or fails, the attempt is discarded and the run goes on, or fails, without
 * it. So no cache replaces the store or the upstream. docs/adr/0007 says what a discarded attempt costs.
 */

import { readEngineOf } from '../../../core/read-engine.ts'
import { Attempt, type AttemptParts, type AttemptRun, type Load } from '../attempt/attempt.ts'
import type { Statement } from '../load/statement.ts'
import { nothingStarted, type Speculation, type SpeculativeAttempt } from '../prepare/speculation.ts'
import { discard } from '../record/usage-of.ts'
import { isSameLoad, LastLoads } from './last-loads.ts'

export class SpeculativeStarts implements Speculation {
  readonly #loads = new LastLoads()

  constructor(readonly parts: AttemptParts) {}

  last({ key }: Statement): Load | undefined {
    return this.#loads.get(key)
  }

  remember({ key }: Statement, load: Load | undefined): void {
    if (load === undefined) this.#loads.delete(key)
    else this.#loads.set(key, load)
  }

  /**
   * Starts nothing without a steady last load, or before the parameters have values. It starts only the embedded
   * engine, because no other system should do work that may be discarded.
   */
  start({ key }: Statement, run: AttemptRun): SpeculativeAttempt {
    const load = this.#loads.steady(key)
    if (load?.compiled.parameters.length !== run.parameters.length) return nothingStarted
    if (readEngineOf(load.loaded.credential.config) !== 'duckdb') return nothingStarted
    return startOf(new Attempt(this.parts, load, run))
  }
}

function startOf(attempt: Attempt): SpeculativeAttempt {
  return {
    follow: (signal) => attempt.follow(signal),
    async confirm(load) {
      if (isSameLoad(attempt.load, load)) return attempt
      // The run's own attempt needs the slot.
      await attempt.vacate()
      return undefined
    },
    end: () => void attempt.end(),
    async discard(progress, signal) {
      if (attempt === progress.attempt) return
      await (signal?.aborted ? attempt.end() : attempt.vacate())
      discard(progress, attempt.stats)
    },
  }
}
