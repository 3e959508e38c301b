/** Reads two sides as a reconciliation does, and tells their differences by the names of columns. */

import type { ColumnPair } from '../../src/contract/reconcile/column-kind.ts'
import {
  compareContent,
  compareTotals,
  type Difference,
  type Totals,
} from '../../src/contract/reconcile/compare.ts'
import type { Cells, SideReader } from '../../src/contract/reconcile/locate.ts'
import {
  contentStatement,
  hasContent,
  type Measure,
  rowsStatement,
  type Side,
  totalsStatement,
} from '../../src/contract/reconcile/measures.ts'

/** What the three steps of a reconciliation read of one side. */
export interface SideContent {
  readonly measures: readonly Measure[]
  readonly totals: Totals
  readonly content: Cells
  /** The hash of all rows. */
  readonly whole: string
}

/** Reads one side. @param onStep told of each step that is done */
export async function readSide(
  reader: SideReader,
  pairs: readonly ColumnPair[],
  side: Side,
  onStep: (step: 'totals' | 'content' | 'rows') => void = () => {},
): Promise<SideContent> {
  const { dialect } = reader
  const { signal } = new AbortController()
  const totals = (from: string) => totalsStatement(dialect, pairs, side, from)
  const compared = pairs.filter((pair) => hasContent(pair.left) && hasContent(pair.right))
  const [[rows = '', ...values] = []] = await reader.read(totals, 1, signal)
  onStep('totals')
  const contents = (from: string) => contentStatement(dialect, compared, side, from)
  const [content = []] = await reader.read(contents, 1, signal)
  onStep('content')
  const [[whole = ''] = []] = await reader.read(
    (from) => rowsStatement(dialect, pairs, side, from),
    1,
    signal,
  )
  onStep('rows')
  return { measures: totals('').measures, totals: { rows: rows ?? '', values }, content, whole: whole ?? '' }
}

export type NamedDifference = Omit<Difference, 'fieldId'> & { readonly column: string }

/** The differences, by the names of columns; rows alone where no column differs. */
export function differencesOf(
  pairs: readonly ColumnPair[],
  left: SideContent,
  right: SideContent,
): readonly NamedDifference[] {
  const compared = pairs.filter((pair) => hasContent(pair.left) && hasContent(pair.right))
  const found = [
    ...compareTotals(pairs, left.measures, left.totals, right.totals),
    ...compareContent(compared, left.content, right.content),
  ]
  if (found.length === 0 && left.whole !== right.whole)
    found.push({ fieldId: undefined, measure: 'content', left: '', right: '' })
  const names = new Map(pairs.map(({ fieldId, left: { name } }) => [fieldId, name]))
  return found.map(({ fieldId, ...one }) => ({ column: names.get(fieldId ?? 0) ?? '', ...one }))
}

/** The names of what differs: column and measure. */
export function named(found: readonly NamedDifference[]): readonly string[] {
  return found.map(({ column, measure }) => `${column} ${measure}`.trim())
}
