/** Finds the glossary terms that columns of a table mean, by the dimensions that show them as they are. */

import type { Dimension } from '../core/metric.ts'
import { tableKey } from '../core/table-ref.ts'
import { columnPath } from '../query/compile/metrics/nodes.ts'
import { parseExpression } from '../query/compile/parse/parse.ts'
import { loadSemanticModel } from '../store/semantics/load-model.ts'
import type { Asking } from './describe-metric.ts'

/** Terms by field id. Whether the table may be read is the caller's to ask. */
export async function columnTerms(
  { store, clock, tenant }: Pick<Asking, 'store' | 'clock' | 'tenant'>,
  table: Parameters<typeof tableKey>[0],
): Promise<ReadonlyMap<number, string>> {
  const { model } = await loadSemanticModel(store, tenant, clock.now())
  const dimensions = model.tables.get(tableKey(table))?.dimensions ?? []
  return new Map(
    dimensions.flatMap((dimension) => {
      const fieldId = dimension.term === undefined ? undefined : shownColumn(dimension)
      return fieldId === undefined || dimension.term === undefined ? [] : [[fieldId, dimension.term]]
    }),
  )
}

/** The column that a dimension is, if its expression is one. */
function shownColumn({ expression: { text, names } }: Dimension): number | undefined {
  const [fieldId, ...more] = Object.values(names)
  if (fieldId === undefined || more.length > 0) return undefined
  return columnPath(parseExpression(text)) === undefined ? undefined : fieldId
}
