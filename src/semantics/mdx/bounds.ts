/** Bounds of one MDX statement (docs/reference/limits.md). */

import { Fault } from '../../base/fault.ts'

export interface MdxBounds {
  /** Tuples of one set. */
  readonly setTuplesMax: number
  /** Tuples, members and values that are looked at in one evaluation. */
  readonly stepsMax: number
  /** Products of sets, and of axes, up to which all of it is made; beyond, what has rows is asked for. */
  readonly fullProductMax: number
  /** Cells of an answer. */
  readonly cellsMax: number
  /** Members and values that are read. */
  readonly rowsMax: number
  /** How often more is read before the answer is known. */
  readonly roundsMax: number
  readonly timeMs: number
  /** Of the thread in which a statement is evaluated. */
  readonly heapBytesMax: number
}

/** Of the process. */
export const evaluatorBounds = {
  threads: 2,
  /** Evaluated at once, those that wait for rows included. */
  statementsMax: 200,
  /** Milliseconds after which a thread that says nothing is replaced. */
  hangMs: 60_000,
} as const

export const mdxRunBounds: MdxBounds = {
  setTuplesMax: 100_000,
  stepsMax: 1_000_000,
  fullProductMax: 1_000,
  cellsMax: 500_000,
  rowsMax: 500_000,
  roundsMax: 24,
  timeMs: 120_000,
  heapBytesMax: 1_024 ** 3,
}

/** Characters of a text that is made, or shown in a cell, which count as a step. */
const charsOfStep = 256

/** The steps that a text counts for. */
export const stepsOfText = (text: string): number => Math.floor(text.length / charsOfStep)

/** Refuses a statement that goes beyond a bound. @throws Fault `unprocessable` always */
export function exceeds(what: string): never {
  throw new Fault('unprocessable', `MDX: ${what}. Ask for less.`)
}
