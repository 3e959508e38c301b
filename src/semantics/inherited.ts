/** What a metric inherits from its columns: tags, masks, and what has become of the columns since it was saved. */

import type { Governance, StoredColumn } from '../core/governance.ts'
import { isMasked } from '../core/governed-table.ts'
import type { BoundExpression, MetricDefinition } from '../core/metric.ts'
import type { Principal } from '../core/principal.ts'
import { currentSchema, seenTable } from '../core/seen-table.ts'

/** Why a metric is not what it was. */
export interface MetricProblem {
  readonly kind: 'dropped' | 'retyped' | 'masked'
  readonly column: string
  readonly detail: string
}

function expressionsOf({ computation }: MetricDefinition): readonly BoundExpression[] {
  if (computation.kind !== 'simple') return []
  return [computation.expression, ...(computation.filter ? [computation.filter] : [])]
}

/** The columns that a metric reads itself, those that were dropped left out. */
export function columnsOf(definition: MetricDefinition, { columns }: Governance): readonly StoredColumn[] {
  const ids = new Set(expressionsOf(definition).flatMap(({ names }) => Object.values(names)))
  return columns.filter(({ fieldId, current }) => current && ids.has(fieldId))
}

/**
 * The problems of a metric for a principal.
 * @param lifted field ids of columns whose masks an attestation lifts
 */
export function problemsOf(
  definition: MetricDefinition,
  governance: Governance | undefined,
  principal: Principal,
  lifted: ReadonlySet<number>,
): readonly MetricProblem[] {
  const seen = governance && seenTable(governance, currentSchema(governance), principal)
  const found = new Map<string, MetricProblem>()
  for (const { names, types } of expressionsOf(definition))
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
