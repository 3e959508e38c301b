/**
 * Compiles a request for metrics to a statement's tree over metric relations, which the read path expands and protects.
 * Metrics of several tables are computed apart and brought together on the dimensions that they share, so that no table
 * multiplies the rows of another.
 */

import type { Node, SelectStmt } from 'libpg-query'
import { type Grain, metricsSuffix, metricTime } from '../../../core/metric.ts'
import type { SemanticModel } from '../../../core/semantic-model.ts'
import type { TableRef } from '../../../core/table-ref.ts'
import { SqlError } from '../base/sql-error.ts'
import { type Branch, type BranchParts, planBranches } from './branches.ts'
import { conversionNode } from './conversions.ts'
import { countedRange, hasBegin } from './counted-range.ts'
import { type Key, keyNode } from './key.ts'
import {
  allOf,
  callNode,
  castNode,
  columnNode,
  inNode,
  innerJoinNode,
  integerNode,
  isGiven,
  isNull,
  listNode,
  nullNode,
  operatorNode,
  parameterNode,
  selectNode,
  sortNode,
  subqueryNode,
  tableNode,
  targetNode,
  textNode,
  unionAll,
} from './nodes.ts'
import { periodsOf } from './periods.ts'
import { type RatedMetric, type RatedRows, ratedMetrics, withUnconverted } from './unconverted.ts'

export const filterOperators = [
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not in',
  'is null',
  'is not null',
] as const
export type FilterOperator = (typeof filterOperators)[number]

export interface MetricFilter {
  readonly dimension: string
  readonly operator: FilterOperator
  /** PostgreSQL text forms. */
  readonly values: readonly string[]
}

export interface MetricRequest {
  readonly metrics: readonly string[]
  readonly dimensions: readonly { readonly name: string; readonly grain?: Grain | undefined }[]
  readonly where: readonly MetricFilter[]
  /** Groups by the metrics' own time. */
  readonly grain?: Grain | undefined
  /** Half-open range of the metrics' own time. */
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly orderBy: readonly { readonly name: string; readonly descending: boolean }[]
  readonly limit: number
}

interface MetricStatement {
  readonly tree: SelectStmt
  /** Values of `$1` and so on. */
  readonly parameters: readonly string[]
  /** Metrics that convert currencies: the last columns say for each which amounts have no rate (unconverted.ts). */
  readonly converted: readonly string[]
}

interface Writing {
  readonly request: MetricRequest
  readonly keys: readonly Key[]
  /** Every branch filters by the same parameters. */
  readonly conditions: readonly (() => Node)[]
}

/** Mentions of values in all branches of a request, because the compiler visits each. */
const mentionsMax = 100_000

/**
 * Compiles a request.
 * @throws SqlError 42703 for an unknown metric or dimension, 0A000 for metrics that cannot be asked for together, 54001
 *   for too many values
 */
export function compileMetricRequest(model: SemanticModel, request: MetricRequest): MetricStatement {
  const keys = keysOf(request)
  assertNames(request, keys)
  const named = [...keys, ...request.where.map(({ dimension: name }) => ({ name }))].map(({ name }) => name)
  const parts: BranchParts = {
    model,
    metrics: request.metrics,
    dimensions: rangeOf(request) ? [...named, metricTime] : named,
  }
  const { branches, isDirect } = planBranches(parts)
  const parameters: string[] = []
  const conditions = request.where.map((filter) => conditionOf(filter, parameters))
  const rated = ratedMetrics(model, request.metrics)
  if (parameters.length * (branches.length + rated.size) > mentionsMax)
    throw new SqlError('54001', 'The request has too many values.')
  const writing: Writing = { request, keys, conditions }
  const [only] = branches
  const core =
    isDirect && only !== undefined
      ? branchNode(writing, only, request.metrics)
      : togetherNode(writing, branches)
  const sortClause = orderOf(writing)
  const names = [...keys.map(({ name }) => name), ...request.metrics]
  const rows = [...rated].map(([metric, found]) => ratedRows(writing, metric, found))
  const tree = selectNode({
    ...(rows.length > 0 ? withUnconverted(core, names, rows) : core),
    ...(sortClause.length > 0 && { sortClause }),
    ...{ limitCount: integerNode(request.limit), limitOption: 'LIMIT_OPTION_COUNT' },
  })
  return { tree, parameters, converted: [...rated.keys()] }
}

function rangeOf({ from, to }: MetricRequest): boolean {
  return from !== undefined || to !== undefined
}

function keysOf({ dimensions, grain }: MetricRequest): readonly Key[] {
  const asked = dimensions.map((each) => ({
    name: each.name,
    grain: each.grain ?? (each.name === metricTime ? grain : undefined),
  }))
  if (grain === undefined || asked.some(({ name }) => name === metricTime)) return asked
  return [{ name: metricTime, grain }, ...asked]
}

function assertNames({ metrics, orderBy }: MetricRequest, keys: readonly Key[]): void {
  const names = [...keys.map(({ name }) => name), ...metrics]
  if (metrics.length === 0) throw new SqlError('42601', 'At least one metric is needed.')
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new SqlError('42702', `"${repeated}" is asked for twice.`)
  const unknown = orderBy.find(({ name }) => !names.includes(name))
  if (unknown !== undefined) throw new SqlError('42703', `"${unknown.name}" is not among what is asked for.`)
}

/** Adds a filter's values to the parameters. */
function conditionOf({ dimension, operator, values }: MetricFilter, parameters: string[]): () => Node {
  const counts: Partial<Record<FilterOperator, (count: number) => boolean>> = {
    'is null': (count) => count === 0,
    'is not null': (count) => count === 0,
    in: (count) => count > 0,
    'not in': (count) => count > 0,
  }
  const fits = counts[operator] ?? ((count: number) => count === 1)
  if (!fits(values.length))
    throw new SqlError('42601', `The filter \`${operator}\` has the wrong number of values.`)
  const numbers = values.map((value) => parameters.push(value))
  return () => {
    const column = columnNode('f', dimension)
    const [first = parameterNode(0), ...others] = numbers.map(parameterNode)
    switch (operator) {
      case 'is null':
        return isNull(column)
      case 'is not null':
        return isGiven(column)
      case 'in':
        return inNode('=', column, [first, ...others])
      case 'not in':
        return inNode('<>', column, [first, ...others])
      default:
        return operatorNode(operator === '!=' ? '<>' : operator, column, first)
    }
  }
}

const momentNode = (ms: number) =>
  castNode('timestamp', textNode(new Date(ms).toISOString().slice(0, 19).replace('T', ' ')))

const timeNode = () => columnNode('f', metricTime)

/** One table's metrics by the keys. @param outputs names of metrics and of columns that stay NULL here */
function branchNode(writing: Writing, branch: Branch, outputs: readonly string[]): SelectStmt {
  const { request, keys, conditions } = writing
  const { relation, metrics, periods } = branch
  const where = conditions.map((condition) => condition())
  if (periods === undefined) {
    if (request.from !== undefined)
      where.push(operatorNode('>=', timeNode(), momentNode(request.from.getTime())))
    if (request.to !== undefined) where.push(operatorNode('<', timeNode(), momentNode(request.to.getTime())))
  }
  if (branch.conversion) {
    const named = keys.map((key) => ({ node: keyNode(key), name: key.name }))
    return conversionNode({ ...branch.conversion, relation, keys: named, where: allOf(where), outputs })
  }
  const keyTargets = keys.map((key) =>
    targetNode(periods !== undefined && key.name === metricTime ? periodKey(key) : keyNode(key), key.name),
  )
  const measures = outputs.map((name) => {
    const measured = metrics.get(name)
    return targetNode(measured === undefined ? nullNode() : callNode('measure', [columnNode(measured)]), name)
  })
  const whereClause = allOf(where)
  return selectNode({
    targetList: [...keyTargets, ...measures],
    fromClause: [periods === undefined ? relationNode(relation.table.table) : periodsNode(writing, branch)],
    ...(whereClause && { whereClause }),
    ...(keys.length > 0 && { groupClause: keys.map((_, index) => integerNode(index + 1)) }),
  })
}

/** The start of a period of {@link periodsNode}. */
function periodKey({ grain }: Key): Node {
  const start = columnNode('p', 't')
  return grain === 'hour' ? start : castNode('date', start)
}

function relationNode({ namespace, name }: TableRef): Node {
  return tableNode(namespace.join('.'), `${name}${metricsSuffix}`, 'f')
}

/** The relation, each row beside every period that counts it. */
function periodsNode({ request, keys }: Writing, { relation, periods: over }: Branch): Node {
  const grain = keys.find(({ name }) => name === metricTime)?.grain
  const { from, to } = request
  if (grain === undefined || from === undefined || to === undefined || over === undefined)
    throw new SqlError(
      '42601',
      'A cumulative metric, and one with an offset, needs `grain`, `from` and `to`.',
    )
  const rows = periodsOf(grain, from.getTime(), to.getTime()).map((period) => {
    const { beginMs, endMs } = countedRange(over, grain, period)
    const begin = beginMs === undefined ? castNode('timestamp', nullNode()) : momentNode(beginMs)
    return listNode([momentNode(period.startMs), begin, momentNode(endMs)])
  })
  const periods = subqueryNode(selectNode({ valuesLists: rows }), 'p', ['t', 'lo', 'hi'])
  const ends = operatorNode('<', timeNode(), columnNode('p', 'hi'))
  const begins = hasBegin(over) ? operatorNode('>=', timeNode(), columnNode('p', 'lo')) : undefined
  return innerJoinNode(periods, relationNode(relation.table.table), allOf([begins, ends]) ?? ends)
}

/** The rows of a request of which some amounts may have no rate: over periods, from the first counted one to the last. */
function ratedRows(
  { request, keys, conditions }: Writing,
  metric: string,
  { table, over }: RatedMetric,
): RatedRows {
  const { from, to } = request
  const grain = keys.find(({ name }) => name === metricTime)?.grain
  const plain = { beginMs: from?.getTime(), endMs: to?.getTime() }
  const ranges = over.flatMap((each) =>
    each === undefined || grain === undefined || from === undefined || to === undefined
      ? [plain]
      : periodsOf(grain, from.getTime(), to.getTime()).map((period) => countedRange(each, grain, period)),
  )
  const begin = ranges.some(({ beginMs }) => beginMs === undefined)
    ? undefined
    : Math.min(...ranges.map(({ beginMs = 0 }) => beginMs))
  const end = ranges.some(({ endMs }) => endMs === undefined)
    ? undefined
    : Math.max(...ranges.map(({ endMs = 0 }) => endMs))
  const where = allOf([
    ...conditions.map((condition) => condition()),
    begin === undefined ? undefined : operatorNode('>=', timeNode(), momentNode(begin)),
    end === undefined ? undefined : operatorNode('<', timeNode(), momentNode(end)),
  ])
  return { metric, relation: relationNode(table), where }
}

/** Branches one below the other, each group's values brought together, and what is computed from them. */
function togetherNode(writing: Writing, branches: readonly Branch[]): SelectStmt {
  const { keys, request } = writing
  const leaves = [...new Set(branches.flatMap(({ metrics }) => [...metrics.keys()]))]
  const union = unionAll(branches.map((branch) => branchNode(writing, branch, leaves)))
  const keyTargets = () => keys.map(({ name }) => targetNode(columnNode(name), name))
  // Every branch gives one row for a group, so the greatest value is the only one.
  const values = leaves.map((name) => targetNode(callNode('max', [columnNode(name)]), name))
  const grouped = selectNode({
    targetList: [...keyTargets(), ...values],
    fromClause: [subqueryNode(union, 'b')],
    ...(keys.length > 0 && { groupClause: keys.map(({ name }) => columnNode(name)) }),
  })
  const results = request.metrics.map((name) => targetNode(callNode('metric_over', [columnNode(name)]), name))
  return selectNode({
    targetList: [...keyTargets(), ...results],
    fromClause: [subqueryNode(grouped, 'u')],
  })
}

/** Without an order the keys order the result, so that a limit always cuts the same rows. */
function orderOf({ request, keys }: Writing): Node[] {
  const names = [...keys.map(({ name }) => name), ...request.metrics]
  const orders = request.orderBy.map(({ name, descending }) =>
    sortNode(integerNode(names.indexOf(name) + 1), descending ? 'SORTBY_DESC' : 'SORTBY_DEFAULT'),
  )
  const rest = keys.flatMap(({ name }, index) =>
    request.orderBy.some((each) => each.name === name)
      ? []
      : [sortNode(integerNode(index + 1), 'SORTBY_DEFAULT')],
  )
  return [...orders, ...rest]
}
