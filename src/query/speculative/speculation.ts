/**
 * What the plain path of a query (run.ts) calls so that work starts before its input is confirmed. It may save time
 * and never decides: without speculation (`noSpeculation`) every statement has the same rows and errors.
 */

import type { Attempt, AttemptRun, Load } from '../attempt.ts'
import type { Statement } from '../statement.ts'
import type { QueryProgress } from '../usage-of.ts'

export interface Speculation {
  /** The last load of this statement. It may be assumed, and must be confirmed. */
  last(statement: Statement): Load | undefined
  /** @param load undefined where the statement could not be loaded or compiled */
  remember(statement: Statement, load: Load | undefined): void
  /** May start a run of this statement on its last load. */
  start(statement: Statement, run: AttemptRun): SpeculativeAttempt
}

/** What was started for one run; nobody sees anything of it unless `confirm` gives it. */
export interface SpeculativeAttempt {
  /** Ends it as soon as the signal fires. */
  follow(signal: AbortSignal): void
  /** The attempt, if it runs on exactly this load; otherwise undefined, once it has left its place. */
  confirm(load: Load): Promise<Attempt | undefined>
  /** Ends it, without waiting. */
  end(): void
  /**
   * Ends it, unless it is the run's attempt, and adds its cost to the progress. Waits until its place is free,
   * unless the signal has fired.
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
