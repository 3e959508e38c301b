/** Says which dimensions of joined tables a metric reads: its filter, and its rates. The relation joins their tables for it. */

import { joinedDimensions } from '../../../core/metric.ts'
import { baseOfLeaf, leavesOf, type SemanticModel } from '../../../core/semantic-model.ts'
import { type TableRef, tableKey } from '../../../core/table-ref.ts'

/** The dimensions of joined tables that a metric reads in each row, where they are those of metrics over a table. */
export function filterDimensions(
  model: Pick<SemanticModel, 'metrics'>,
  table: TableRef,
  name: string,
): readonly string[] {
  return (leavesOf(model, name) ?? []).flatMap((leaf) => {
    const of = baseOfLeaf(model, leaf)?.definition.computation
    if (of?.kind !== 'simple' || tableKey(of.table) !== tableKey(table)) return []
    return joinedDimensions(of)
  })
}
