/**
 * The interface by which run.ts starts work before its input is confirmed. Speculation may save time and decides
 * nothing: with `noSpeculation` every statement has the same rows and errors.
 */

import type { Attempt, AttemptRun, Load } from '../attempt/attempt.ts'
import type { Statement } from '../load/statement.ts'
import type { QueryProgress } from '../record/usage-of.ts'

export interface Speculation {
  /** The last load of this statement. It may be assumed, and must be confirmed. */
  last(statement: Statement): Load | undefined
  /** @param load undefined where the statement could not be loaded or compiled */
  remember(statement: Statement, load: Load | undefined): void
  /** May start a run of this statement on its last load. */
  start(statement: Statement, run: AttemptRun): SpeculativeAttempt
}

/** What was started for one run. Nothing of it is seen unless `confirm` returns it. */
export interface SpeculativeAttempt {
  /** Ends the attempt as soon as the signal fires. */
  follow(signal: AbortSignal): void
  /** The attempt, if it runs on exactly this load; otherwise undefined, once its slot is free. */
  confirm(load: Load): Promise<Attempt | undefined>
  /** Ends the attempt without waiting. */
  end(): void
  /**
   * Ends the attempt unless the run uses it, and adds its cost to the progress. Waits until its slot is free, unless
   * the signal has fired.
   */
  discard(progress: QueryProgress, signal: AbortSignal | undefined): Promise<void>
}

export const nothingStarted: SpeculativeAttempt = {
  follow: () => {},
  confirm: async () => undefined,
  end: () => {},
  discard: async () => {},
}

/** Starts nothing: each step waits for the one before it. */
export const noSpeculation: Speculation = {
  last: () => undefined,
  remember: () => {},
  start: () => nothingStarted,
}
