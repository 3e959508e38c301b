/**
 * Starts the engine on what the same statement was run from last, while what it must be run from now is loaded.
 *
 * Why that is sound: an answer is a function of the load (credential, governed tables, snapshots), the statement
 * compiled from it, and parameters. Nothing of an attempt is looked at before a load that was begun for this very
 * run has come and is the same in all of these. Then the attempt is the one that would have been begun now, only
 * earlier. Where the load differs or fails, the attempt ends unseen and the run goes on, or fails, without it. So
 * no cache stands for the store or the upstream. docs/adr/0007 says what a discarded attempt costs.
 */

import { readEngineOf } from '../../core/read-engine.ts'
import { Attempt, type AttemptParts, type AttemptRun, type Load } from '../attempt.ts'
import type { Statement } from '../statement.ts'
import { isSameLoad, LastLoads } from './last-loads.ts'
import { nothingStarted, type Speculation, type SpeculativeAttempt } from './speculation.ts'

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
   * Starts nothing where there is no last load that is worth assuming, where parameters have no values yet, and
   * where the engine is not the embedded one: no other system is asked for work that may be discarded.
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
      // It must leave its place before another is asked for.
      await attempt.vacate()
      return undefined
    },
    end: () => void attempt.end(),
    async discard(progress, signal) {
      if (attempt === progress.attempt) return
      await (signal?.aborted ? attempt.end() : attempt.vacate())
      progress.discarded = attempt.stats
    },
  }
}
