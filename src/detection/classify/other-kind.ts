/** Whether cells are plainly of another kind than the class that their column is named for. No names are read here. */

import type { SensitiveClass } from '../../core/classification.ts'

/** Fewer cells may be anything. */
const cellsMin = 3
/** Share of the cells that must be of the other kind. */
const shareMin = 0.9

/**
 * What the names of a class are used for elsewhere: identity and insurance numbers of other countries; `pan` and `ccn`
 * for India's tax number, angles, cost centres, all shorter than a card number. A mask or a token is none of these.
 */
const namesakes: Readonly<Partial<Record<SensitiveClass, RegExp>>> = {
  us_ssn:
    /^(?:[A-Z]{0,2}[- ]?(?!\d{9}$|\d{3}([- ])\d{2}\1\d{4}$)\d(?:[ ./-]?\d){6,15}[ -]?[A-Z]?(?:[ -]?\d{3})?|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z])$/i,
  credit_card: /^(?!.*x{2})[-+]?[\p{L}\d][\p{L}\d .,/-]{0,10}$/iu,
}
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
  const differ = new Set(cells).size > 1
  const isOther = (cell: string) =>
    namesakes[each]?.test(cell) === true ||
    (hasOtherWords && differ && (plainCode.test(cell) || plainWords.test(cell)))
  return cells.filter(isOther).length / cells.length >= shareMin
}
