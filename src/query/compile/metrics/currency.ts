/**
 * Writes the amounts of a metric in one currency: each row's amount times its rate, before the aggregate. An amount without
 * a rate is NULL and so left out, which no number shows. So a statement may measure such a metric only where it carries
 * what says how many rows that are (unconverted.ts).
 */

import type { Node } from 'libpg-query'
import { type GovernedTable, isMasked } from '../../../core/governed-table.ts'
import type { CurrencyRates } from '../../../core/metric.ts'
import type { MetricRelation } from '../../../core/semantic-model.ts'
import { tableKey } from '../../../core/table-ref.ts'
import { SqlError } from '../base/sql-error.ts'
import { type ColumnOf, columnsOfDimensions } from './lifted.ts'
import { allOf, caseNode, functionName, isGiven, isNull, operatorNode, textNode } from './nodes.ts'

/** The aggregates whose result is an amount where what they read is one. */
const ofAmounts: readonly string[] = ['sum', 'avg', 'min', 'max']

/** In a statement of ours: the currency of a row's amount, and whether that has no rate. */
export const rowFunctions = { currency: 'metric_currency', lacksRate: 'metric_lacks_rate' } as const

/** An aggregate over one amount of each row. */
interface AmountAggregate {
  readonly call: Extract<Node, { readonly FuncCall: unknown }>['FuncCall']
  readonly amount: Node
}

/** The aggregate that an expression is; undefined for anything else, and one of different values. */
export function amountAggregate(expression: Node): AmountAggregate | undefined {
  if (!('FuncCall' in expression) || !ofAmounts.includes(functionName(expression) ?? '')) return undefined
  const { args = [], agg_distinct: distinct, agg_order: order, over } = expression.FuncCall
  const [amount, ...more] = args
  if (amount === undefined || more.length > 0 || distinct || order || over) return undefined
  return { call: expression.FuncCall, amount }
}

/** The columns of a relation's subquery that say what an amount is worth. */
interface Rated {
  readonly to: string
  readonly currency: Node
  readonly rate: Node
}

/** The aggregate over amounts of one currency. */
export function convertedNode(expression: Node, rated: Rated): Node {
  const { call, amount } = aggregateOf(expression)
  return { FuncCall: { ...call, args: [convertedAmount(amount, rated)] } }
}

/** Whether a row has an amount that counts but for its rate. */
export function lacksRate(expression: Node, rated: Rated, filter: Node | undefined): Node {
  const { call, amount } = aggregateOf(expression)
  const isLost = isNull(convertedAmount(amount, rated))
  return allOf([filter, call.agg_filter, isGiven(amount), isLost]) ?? isLost
}

/** An amount of an unknown currency has no rate, whatever the joined row says. */
function convertedAmount(amount: Node, { to, currency, rate }: Rated): Node {
  const converted = caseNode(isGiven(currency), operatorNode('*', amount, rate))
  return caseNode(operatorNode('=', currency, textNode(to)), amount, converted)
}

function aggregateOf(expression: Node): AmountAggregate {
  const found = amountAggregate(expression)
  if (found === undefined) throw new SqlError('XX000', 'The statement could not be compiled.')
  return found
}

/** The error where nothing would tell the reader of amounts without a rate. */
export function notTold(metric: string): SqlError {
  return new SqlError(
    '0A000',
    `The metric "${metric}" converts currencies, and amounts without a rate would be left out here without a word. Ask for it by POST /api/v1/metrics/query, metricValues or query_metric, whose answers say how many they are.`,
  )
}

/** A column that says what amounts of a metric are worth. */
export interface RateColumn extends ColumnOf {
  readonly metric: string
}

/** The columns that must show: those of the currency and of the rate, and those that lead to the rate. */
export function rateColumns(
  { table: { table }, dimensions }: MetricRelation,
  converted: ReadonlyMap<string, CurrencyRates>,
): readonly RateColumn[] {
  return [...converted].flatMap(([metric, { column, rate }]) => {
    const placed = dimensions.get(rate)
    const own = Object.values(column.names).map((fieldId) => ({ table, fieldId }))
    return [...own, ...columnsOfDimensions(placed === undefined ? [] : [placed])].map((each) => ({
      ...each,
      metric,
    }))
  })
}

/**
 * A masked rate or currency would make other amounts of all, and not say so.
 * @throws SqlError 0A000 where a mask hides one from the reader
 */
export function assertRatesShow(
  rates: readonly RateColumn[],
  tables: readonly Pick<GovernedTable, 'ref' | 'columns'>[],
): void {
  const hidden = rates.find(({ table, fieldId }) =>
    tables
      .find(({ ref }) => tableKey(ref) === tableKey(table))
      ?.columns.some((column) => column.fieldId === fieldId && isMasked(column)),
  )
  if (hidden === undefined) return
  throw new SqlError(
    '0A000',
    `A mask hides the currencies or the rates of the metric "${hidden.metric}" from you, so its amounts cannot be converted.`,
    undefined,
    { kind: 'unprocessable', reason: 'masked_rate' },
  )
}
