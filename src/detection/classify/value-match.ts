/** What the values of a column say about one class: the shape every classifier's answer has, and its counting. */

/**
 * How one cell fits a class. `strong`: valid by itself. `weak`: valid, but so are other things of its form; counts
 * only beside a name. `shaped`: has the form and breaks the rules.
 */
export type CellMatch = 'strong' | 'weak' | 'shaped' | 'none'

export interface ValueMatch {
  readonly strong: number
  readonly weak: number
  readonly shaped: number
  /** The first cell that is strong, else the first that is weak. */
  readonly example: string | undefined
}

/** Counts what `judge` says of each of `cells`, which are normalised and short (normalise-cell.ts). */
export function matchCells(cells: readonly string[], judge: (cell: string) => CellMatch): ValueMatch {
  let strong = 0
  let weak = 0
  let shaped = 0
  let strongExample: string | undefined
  let weakExample: string | undefined
  for (const cell of cells) {
    const match = judge(cell)
    if (match === 'strong') {
      strong++
      strongExample ??= cell
    } else if (match === 'weak') {
      weak++
      weakExample ??= cell
    } else if (match === 'shaped') shaped++
  }
  return { strong, weak, shaped, example: strongExample ?? weakExample }
}
