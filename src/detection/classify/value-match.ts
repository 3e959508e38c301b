/** Counts how the values of a column fit one class. Every classifier returns this shape. */

/**
 * How one cell fits a class. `strong`: valid by itself. `weak`: valid, but other things of its form are too, so it
 * needs a name. `shaped`: has the form and breaks the rules.
 */
export type CellMatch = 'strong' | 'weak' | 'shaped' | 'none'

export interface ValueMatch {
  readonly strong: number
  readonly weak: number
  readonly shaped: number
  /** The first cell that is strong, else weak, else shaped. */
  readonly example: string | undefined
}

/** Counts what `judge` says of each of `cells`, which are normalised and short (normalise-cell.ts). */
export function matchCells(cells: readonly string[], judge: (cell: string) => CellMatch): ValueMatch {
  const counts = { strong: 0, weak: 0, shaped: 0, none: 0 }
  const examples: Partial<Record<CellMatch, string>> = {}
  for (const cell of cells) {
    const match = judge(cell)
    counts[match]++
    examples[match] ??= cell
  }
  const { strong, weak, shaped } = counts
  return { strong, weak, shaped, example: examples.strong ?? examples.weak ?? examples.shaped }
}
