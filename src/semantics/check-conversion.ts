/** Checks that a conversion can be computed: it counts rows of two tables that have their time and an entity in common. */

import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import type { Conversion, MetricComputation } from '../core/metric.ts'
import { relationOf, type SemanticModel, withEntities } from '../core/semantic-model.ts'
import { tableName } from '../core/table-ref.ts'
import { compileRequest } from './check-expressions.ts'

/** @throws Fault `unprocessable` where it cannot */
export function assertConversion(
  model: SemanticModel,
  name: string,
  computation: Conversion,
  governances: ReadonlyMap<string, Governance>,
): void {
  const { base, conversion, entity, constant = [] } = computation
  const columns = [
    [base, [entity, ...constant.map((each) => each.base)]],
    [conversion, [entity, ...constant.map((each) => each.conversion)]],
  ] as const
  for (const [metric, names] of columns) {
    const { table } = countOf(model, metric)
    const relation = relationOf(model, table)
    if (relation?.table.timeDimension === undefined)
      throw new Fault('unprocessable', `${tableName(table)} has no \`time_dimension\`.`)
    const { dimensions } = withEntities(relation)
    const strange = names.find((each) => dimensions.get(each)?.route.path !== '')
    if (strange !== undefined)
      throw new Fault(
        'unprocessable',
        `\`${strange}\` is no dimension and no entity of ${tableName(table)} itself.`,
      )
  }
  compileRequest(model, governances, [name])
}

/** @throws Fault `unprocessable` for what is no count of the rows of one table */
function countOf(model: SemanticModel, name: string): Extract<MetricComputation, { kind: 'simple' }> {
  const computation = model.metrics.get(name)?.definition.computation
  const isCount =
    computation?.kind === 'simple' && /^count\s*\(\s*\*\s*\)$/i.test(computation.expression.text.trim())
  if (!isCount || computation.semiAdditive !== undefined)
    throw new Fault(
      'unprocessable',
      `A conversion is of two counts of rows, and ${name} is none. Define it as \`count(*)\`, with a \`filter\`.`,
    )
  if (computation.filter?.dimensions !== undefined)
    throw new Fault(
      'unprocessable',
      `A conversion of ${name} is not supported, because its filter reads ${computation.filter.dimensions.join(', ')} of another table.`,
    )
  return computation
}
