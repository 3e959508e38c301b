/** Bounds of one DAX query (docs/reference/limits.md). */

import { Fault } from '../../base/fault.ts'

export interface DaxBounds {
  /** Rows that are read, and rows of a table. */
  readonly rowsMax: number
  /** Values that are computed. */
  readonly stepsMax: number
  readonly timeMs: number
}

export const daxRunBounds: DaxBounds = { rowsMax: 500_000, stepsMax: 20_000_000, timeMs: 120_000 }

/** Refuses a query that goes beyond a bound. @throws Fault `unprocessable` always */
export function exceeds(what: string): never {
  throw new Fault('unprocessable', `DAX: ${what}. Ask for less.`)
}
