/** Checks that the amounts of a metric can be converted: what they are, which column has their currency, and the rates. */

import { Fault } from '../base/fault.ts'
import type { Governance } from '../core/governance.ts'
import type { CurrencyRates, MetricComputation } from '../core/metric.ts'
import { relationOf, type SemanticModel } from '../core/semantic-model.ts'
import { tableName } from '../core/table-ref.ts'
import { amountAggregate } from '../query/compile/metrics/currency.ts'
import { parseMetricExpression } from '../query/compile/metrics/metric-expression.ts'
import { compileRelation } from './check-expressions.ts'

export interface GivenCurrency {
  readonly column: string
  readonly to: string
  readonly rate: string
}

const numbers: readonly string[] = ['int2', 'int4', 'int8', 'numeric', 'float4', 'float8']

/** The rates of a metric, with the column of its table that holds currencies. @throws Fault `unprocessable` for another */
export function boundCurrency({ column: name, to, rate }: GivenCurrency, of: Governance): CurrencyRates {
  const column = of.columns.find((each) => each.current && each.name === name)
  if (column === undefined)
    throw new Fault('unprocessable', `\`currency\`: the table has no column \`${name}\`.`)
  if (column.type !== 'string')
    throw new Fault('unprocessable', `\`currency\`: the column \`${name}\` holds no texts.`)
  const { fieldId, type } = column
  return { column: { text: name, names: { [name]: fieldId }, types: { [String(fieldId)]: type } }, to, rate }
}

/** @throws Fault `unprocessable` where the amounts cannot be converted */
export function assertConverts(
  model: SemanticModel,
  governances: ReadonlyMap<string, Governance>,
  name: string,
  { table, expression, semiAdditive, currency }: Extract<MetricComputation, { kind: 'simple' }>,
): void {
  const relation = relationOf(model, table)
  if (currency === undefined || relation === undefined) return
  const refuse = (why: string) => new Fault('unprocessable', `\`currency\`: ${why}`)
  if (semiAdditive !== undefined) throw refuse('a metric that is `semi_additive` is not converted.')
  if (amountAggregate(parseMetricExpression(expression.text)) === undefined)
    throw refuse('the expression must be one sum, avg, min or max of an amount, without DISTINCT.')
  const { rate, column } = currency
  const placed = relation.dimensions.get(rate)
  const step = placed?.route.from
  const [ofCurrency = -1] = Object.values(column.names)
  if (placed === undefined || step?.route.path !== '' || !step.relationship.columns.includes(ofCurrency))
    throw refuse(
      `\`${rate}\` is no dimension of a table to which a relationship of ${tableName(table)} over the column \`${column.text}\` leads.`,
    )
  const typeOf = (asked: Parameters<typeof compileRelation>[3]) =>
    compileRelation(model, governances, relation, asked).columns[0]?.type ?? ''
  if (!numbers.includes(typeOf({ dimensions: [rate], metrics: [] })))
    throw refuse(`\`${rate}\` is no number.`)
  if (!numbers.includes(typeOf({ dimensions: [], metrics: [name], converts: true })))
    throw refuse('what the expression adds up is no number.')
}
