/** Says which dimensions of joined tables the filter of a metric reads. The relation joins their tables for it. */

import { baseOfLeaf, leavesOf, type SemanticModel } from '../../../core/semantic-model.ts'
import { type TableRef, tableKey } from '../../../core/table-ref.ts'

/** The dimensions of joined tables that filters of a metric name, where they are those of metrics over a table. */
export function filterDimensions(
  model: Pick<SemanticModel, 'metrics'>,
  table: TableRef,
  name: string,
): readonly string[] {
  return (leavesOf(model, name) ?? []).flatMap((leaf) => {
    const of = baseOfLeaf(model, leaf)?.definition.computation
    if (of?.kind !== 'simple' || tableKey(of.table) !== tableKey(table)) return []
    return of.filter?.dimensions ?? []
  })
}
