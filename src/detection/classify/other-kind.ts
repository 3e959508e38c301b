/** Judges whether cells are plainly of another kind than the class that the column's name says. It reads no names. */

import type { SensitiveClass } from '../../core/classification.ts'
import { detectorClasses } from './classes/detector-classes.ts'

/** Fewer cells prove nothing. */
const cellsMin = 3
/** Share of the cells that must be of the other kind. */
const shareMin = 0.9

/** Codes, small numbers, decimals, dates. */
const plainCode =
  /^(?:\p{L}{1,3}|[-+]?\d{1,3}|[-+]?\d+[.,]\d{1,3}|\d{1,2}[/.]\d{2,4}|\d{4}-\d{2}-\d{2}(?:[T ].*)?)$/u
const plainWords = /^(?!x+$)\p{L}+(?:[ '_-]\p{L}+){0,5}$/iu

/**
 * Whether nearly all cells are of another kind. If the name has unknown words beside the class (`hasOtherWords`),
 * codes and varying words are another kind: `email_frequency` with 1, 2 and `weekly`. A word that is the same in all
 * cells may replace a redacted value.
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
