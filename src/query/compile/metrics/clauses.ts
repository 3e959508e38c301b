/** Writes the clauses of a SELECT over a metric relation: stars, `MEASURE(…)` and what stands for it. */

import type { Node, SelectStmt } from 'libpg-query'
import { metricsSuffix } from '../../../core/metric.ts'
import type { MetricRelation } from '../../../core/semantic-model.ts'
import { SqlError } from '../base/sql-error.ts'
import { aggregates } from '../functions/aggregates.ts'
import { parseExpression } from '../parse/parse.ts'
import { columnNode, columnPath, functionName, mapNodes, targetNode } from './nodes.ts'

const measureFunction = 'measure'
/** In a statement of ours: whether a row counts for a simple metric. */
export const countsFunction = 'metric_counts'

/** The dimensions of a relation that a SELECT may name, at any depth. */
export function namedDimensions(select: SelectStmt, relation: MetricRelation): ReadonlySet<string> {
  const { dimensions } = relation
  const found = new Set((select.targetList ?? []).some(isStar) ? ofStar(relation) : [])
  collect(select, (name) => {
    if (dimensions.has(name)) found.add(name)
  })
  return found
}

/** The dimensions that a star stands for, without entities. */
function ofStar({ dimensions, entities }: MetricRelation): readonly string[] {
  return [...dimensions.keys()].filter((name) => !entities.has(name))
}

/** The metrics of a relation, or of a model, that a SELECT may name, at any depth. */
export function namedMetrics(
  select: SelectStmt,
  { metrics }: Pick<MetricRelation, 'metrics'>,
): readonly string[] {
  const found = new Set<string>()
  collect(select, (name) => {
    if (metrics.has(name)) found.add(name)
  })
  return [...found]
}

function collect(tree: unknown, found: (name: string) => void): void {
  if (typeof tree !== 'object' || tree === null) return
  if ('ColumnRef' in tree) {
    const name = columnPath(tree as Node)?.at(-1)
    if (name !== undefined) found(name)
    return
  }
  for (const value of Object.values(tree)) collect(value, found)
}

function isStar(target: Node): boolean {
  return (
    JSON.stringify(target).includes('"A_Star"') &&
    'ResTarget' in target &&
    'ColumnRef' in (target.ResTarget.val ?? {})
  )
}

interface ClauseParts {
  readonly relation: MetricRelation
  readonly alias: string
  /** Writes a metric. */
  readonly measure: (name: string) => Node
  /** By the names of functions in a statement of ours: what they say of a row and a metric. */
  readonly ofRows?: ReadonlyMap<string, (name: string) => Node> | undefined
}

/**
 * The SELECT with its measures written out, and a star as the dimensions. FROM is left as it is.
 * @throws SqlError 42803 for a metric outside MEASURE, or inside another aggregate than its own
 */
export function writeClauses(select: SelectStmt, parts: ClauseParts): SelectStmt {
  const { targetList = [], sortClause, groupClause, fromClause, withClause, ...others } = select
  const { relation, alias } = parts
  const outputs = new Set(
    targetList.flatMap((target) => ('ResTarget' in target ? (outputName(target.ResTarget) ?? []) : [])),
  )
  const write = <T>(tree: T): T => mapNodes(tree, (node) => writeNode(node, parts))
  // ORDER BY and GROUP BY may name a result.
  const writeKey = (node: Node): Node => {
    const [name = '', ...more] = columnPath('SortBy' in node ? node.SortBy.node : node) ?? []
    return more.length === 0 && outputs.has(name) ? node : write(node)
  }
  return {
    ...write(others),
    ...(withClause && { withClause }),
    ...(fromClause && { fromClause }),
    ...(groupClause && { groupClause: groupClause.map(writeKey) }),
    ...(sortClause && { sortClause: sortClause.map(writeKey) }),
    targetList: targetList.flatMap((target) => {
      if (isStar(target)) return ofStar(relation).map((name) => targetNode(columnNode(alias, name), name))
      if (!('ResTarget' in target)) return [write(target)]
      const name = outputName(target.ResTarget)
      const written = {
        ...target.ResTarget,
        ...(target.ResTarget.val && { val: write(target.ResTarget.val) }),
      }
      return [{ ResTarget: name === undefined ? written : { ...written, name } }]
    }),
  }
}

/** The name that a result has by AS, or as MEASURE of a metric. */
function outputName({ name, val }: { readonly name?: string; readonly val?: Node }): string | undefined {
  return name ?? (functionName(val) === measureFunction ? soleArgument(val) : undefined)
}

function soleArgument(node: Node | undefined): string | undefined {
  if (node === undefined || !('FuncCall' in node)) return undefined
  const [arg, ...more] = node.FuncCall.args ?? []
  return more.length === 0 ? columnPath(arg)?.at(-1) : undefined
}

function writeNode(node: Node, { relation, measure, ofRows }: ClauseParts): Node | undefined {
  const { metrics, dimensions, table } = relation
  if ('FuncCall' in node) {
    const called = functionName(node) ?? ''
    const argument = soleArgument(node)
    const ofRow = ofRows?.get(called)
    if (ofRow !== undefined) return ofRow(argument ?? '')
    if (called === measureFunction) {
      if (argument === undefined) throw new SqlError('42883', 'MEASURE needs the name of a metric.')
      const { agg_distinct, agg_filter, agg_order, over } = node.FuncCall
      if (agg_distinct || agg_filter || agg_order || over)
        throw new SqlError('0A000', 'MEASURE with DISTINCT, FILTER, ORDER BY or OVER is not supported.')
      return measure(argument)
    }
    if (argument === undefined || !metrics.has(argument) || dimensions.has(argument)) return undefined
    if (aggregates.has(called) && called === outerAggregate(relation, argument) && isPlain(node))
      return measure(argument)
    throw new SqlError(
      '42803',
      `${called}(${argument}) is not how the metric is defined. Use MEASURE(${argument}).`,
    )
  }
  const name = columnPath(node)?.at(-1)
  if (name === undefined || dimensions.has(name) || !metrics.has(name)) return undefined
  throw new SqlError(
    '42803',
    `"${name}" is a metric of ${table.table.name}${metricsSuffix}. Use MEASURE(${name}), and group by dimensions.`,
  )
}

function isPlain(node: Node): boolean {
  if (!('FuncCall' in node)) return false
  const { agg_distinct, agg_filter, agg_order, over } = node.FuncCall
  return !(agg_distinct || agg_filter || agg_order || over)
}

/** The aggregate that is the whole of a simple metric. */
function outerAggregate({ metrics }: MetricRelation, name: string): string | undefined {
  const computation = metrics.get(name)?.definition.computation
  return computation?.kind === 'simple'
    ? functionName(parseExpression(computation.expression.text))
    : undefined
}
