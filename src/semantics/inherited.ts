/** What a metric inherits from its columns: tags, masks, and what has become of the columns since it was saved. */

import type { Governance, StoredColumn } from '../core/governance.ts'
import { isMasked } from '../core/governed-table.ts'
import {
  type BoundExpression,
  type Conversion,
  joinedDimensions,
  type MetricComputation,
  type MetricDefinition,
} from '../core/metric.ts'
import type { Principal } from '../core/principal.ts'
import { currentSchema, seenTable } from '../core/seen-table.ts'
import { type Route, relationOf, type SemanticModel } from '../core/semantic-model.ts'
import type { TableRef } from '../core/table-ref.ts'

/** Why a metric is not what it was. */
export interface MetricProblem {
  readonly kind: 'dropped' | 'retyped' | 'masked'
  readonly column: string
  readonly detail: string
}

/** The expressions of a metric over the columns of its own table. */
export function expressionsOf({
  computation,
}: Pick<MetricDefinition, 'computation'>): readonly BoundExpression[] {
  if (computation.kind !== 'simple') return []
  const { expression, filter, currency } = computation
  return [expression, ...(filter ? [filter] : []), ...(currency ? [currency.column] : [])]
}

/** What a metric reads besides the columns of its own table, or what a conversion reads. */
export function joinedColumns(
  model: SemanticModel,
  computation: MetricComputation,
): readonly { readonly table: TableRef; readonly expression: BoundExpression }[] {
  if (computation.kind === 'conversion') return ofConversion(model, computation)
  const named = joinedDimensions(computation)
  if (computation.kind !== 'simple' || named.length === 0) return []
  const relation = relationOf(model, computation.table)
  return named.flatMap((name) => {
    const placed = relation?.dimensions.get(name)
    if (placed === undefined) return []
    const { route, dimension } = placed
    return [{ table: route.table.table, expression: dimension.expression }, ...stepsTo(route)]
  })
}

/** What a conversion reads of its two tables: the rows that it leads to, and what both have in common. */
function ofConversion(
  { metrics, ...model }: SemanticModel,
  { base, conversion, entity, constant = [] }: Conversion,
): ReturnType<typeof joinedColumns> {
  const reads = [
    [base, [entity, ...constant.map((each) => each.base)]],
    [conversion, [entity, ...constant.map((each) => each.conversion)]],
  ] as const
  return reads.flatMap(([name, dimensions]) => {
    const of = metrics.get(name)?.definition
    if (of?.computation.kind !== 'simple') return []
    const { table } = of.computation
    const relation = relationOf({ ...model, metrics }, table)
    const named = dimensions.flatMap((each) => {
      const placed = relation?.dimensions.get(each) ?? relation?.entities.get(each)
      return placed?.dimension.expression ?? []
    })
    return [...expressionsOf(of), ...named].map((expression) => ({ table, expression }))
  })
}

/** The keys by which a route leads over other tables. */
function stepsTo({ table, from }: Route): ReturnType<typeof joinedColumns> {
  if (from === undefined) return []
  const key = { text: '', names: Object.fromEntries(from.relationship.key.map((id) => [String(id), id])) }
  return [{ table: table.table, expression: key }, ...stepsTo(from.route)]
}

/** The columns that expressions read of a table, those that were dropped left out. */
export function columnsOf(
  expressions: readonly BoundExpression[],
  { columns }: Governance,
): readonly StoredColumn[] {
  const ids = new Set(expressions.flatMap(({ names }) => Object.values(names)))
  return columns.filter(({ fieldId, current }) => current && ids.has(fieldId))
}

/**
 * The problems of a metric's expressions over one table for a principal.
 * @param lifted field ids of columns whose masks an attestation lifts
 */
export function problemsOf(
  expressions: readonly BoundExpression[],
  governance: Governance | undefined,
  principal: Principal,
  lifted: ReadonlySet<number>,
): readonly MetricProblem[] {
  const seen = governance && seenTable(governance, currentSchema(governance), principal)
  const found = new Map<string, MetricProblem>()
  for (const { names, types } of expressions)
    for (const [name, fieldId] of Object.entries(names)) {
      const column = governance?.columns.find((each) => each.fieldId === fieldId && each.current)
      const add = (kind: MetricProblem['kind'], detail: string) =>
        found.set(`${kind} ${fieldId}`, { kind, column: column?.name ?? name, detail })
      if (column === undefined) {
        add('dropped', 'The column is no longer there, so the metric cannot be computed.')
        continue
      }
      const type = typeof column.type === 'string' ? column.type : column.type.type
      const before = types?.[String(fieldId)]
      if (before !== undefined && before !== type)
        add('retyped', `The column was ${before}, and is ${type} now.`)
      if (seen?.columns.some((one) => one.fieldId === fieldId && isMasked(one)) && !lifted.has(fieldId))
        add('masked', 'You see masked values of the column, and the metric is computed from those.')
    }
  return [...found.values()]
}
