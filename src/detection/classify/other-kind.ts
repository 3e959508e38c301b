/** Whether cells are plainly of another kind than the class that their column is named for. No names are read here. */

import type { SensitiveClass } from '../../core/classification.ts'
import { detectorClasses } from './classes/detector-classes.ts'

/** Fewer cells may be anything. */
const cellsMin = 3
/** Share of the cells that must be of the other kind. */
const shareMin = 0.9

/** Codes, small numbers, decimals, dates. */
const plainCode =
  /^(?:\p{L}{1,3}|[-+]?\d{1,3}|[-+]?\d+[.,]\d{1,3}|\d{1,2}[/.]\d{2,4}|\d{4}-\d{2}-\d{2}(?:[T ].*)?)$/u
const plainWords = /^(?!x+$)\p{L}+(?:[ '_-]\p{L}+){0,5}$/iu

/**
 * Whether nearly all cells are of another kind. Where the name has words beside the class that are unknown
 * (`hasOtherWords`), codes and differing words count: `email_frequency` with 1, 2 and `weekly`. A word that repeats in
 * all of them may stand for what was taken out.
 */
export function holdsOtherKind(
  cells: readonly string[],
  each: SensitiveClass,
  hasOtherWords: boolean,
): boolean {
  if (cells.length < cellsMin) return false
  const { namesake } = detectorClasses[each]
  const differ = new Set(cells).size > 1
  const isOther = (cell: string) =>
    namesake?.test(cell) === true ||
    (hasOtherWords && differ && (plainCode.test(cell) || plainWords.test(cell)))
  return cells.filter(isOther).length / cells.length >= shareMin
}
