/**
 * Writes the count of rows that lead to rows of another table. Rows of both tables lie on one line of time for each entity;
 * a row of the other table belongs to the last one before it, or of the same moment. That is decided before anything is
 * filtered or grouped by, so no number depends on how it is asked for. Masks are never lifted in it.
 */

import type { Node, SelectStmt } from 'libpg-query'
import { metricsSuffix, metricTime } from '../../../core/metric.ts'
import type { MetricRelation } from '../../../core/semantic-model.ts'
import type { BranchConversion } from './branches.ts'
import { countsFunction } from './clauses.ts'
import {
  allOf,
  callNode,
  caseNode,
  castNode,
  columnNode,
  integerNode,
  isGiven,
  nullNode,
  operatorNode,
  orderedWindowNode,
  selectNode,
  subqueryNode,
  tableNode,
  targetNode,
  textNode,
  unionAll,
} from './nodes.ts'

interface ConversionParts extends BranchConversion {
  /** Of the rows that lead to others. */
  readonly relation: MetricRelation
  /** What they are grouped by, over the relation `f`, with the names of the results. */
  readonly keys: readonly { readonly node: Node; readonly name: string }[]
  /** Which of them are counted. */
  readonly where: Node | undefined
  /** Names of results; those of others are NULL. */
  readonly outputs: readonly string[]
}

const [zero, one] = [integerNode(0), integerNode(1)]
const column = (name: string) => columnNode('e', name)

/** The count in each group of the rows that lead to others. */
export function conversionNode(parts: ConversionParts): SelectStmt {
  const { name, computation, keys, outputs } = parts
  const constant = computation.constant ?? []
  const same = ['entity', ...constant.map((_, index) => `same${index}`)]
  const kept = [...keys.map((_, index) => `key${index}`), 'counted']
  const events = unionAll([baseRows(parts, same), otherRows(parts, same)])
  const named = (names: readonly string[]) => names.map((each) => targetNode(column(each), each))
  // Each row of the base begins a stretch of time, in which all that follows belongs to it.
  const isBase = caseNode(operatorNode('=', column('kind'), zero), one)
  const stretch = orderedWindowNode('count', isBase, same.map(column), ['at', 'kind', ...kept].map(column))
  const stretches = selectNode({
    targetList: [...named(['at', 'kind', ...same, ...kept]), targetNode(stretch, 'stretch')],
    fromClause: [subqueryNode(events, 'e')],
  })
  const first = (each: string) =>
    orderedWindowNode('first_value', column(each), [...same, 'stretch'].map(column), [column('kind')])
  const told = selectNode({
    targetList: [
      ...named(['at', 'kind']),
      ...['at', 'kind'].map((each) => targetNode(first(each), `base_${each}`)),
      ...kept.map((each) => targetNode(first(each), each)),
    ],
    fromClause: [subqueryNode(stretches, 'e')],
  })
  const { window } = computation
  const begin = window && castNode('interval', textNode(lengthOf(window)))
  const whereClause = allOf([
    operatorNode('=', column('kind'), one),
    operatorNode('=', column('base_kind'), zero),
    operatorNode('=', column('counted'), one),
    begin && operatorNode('>', column('base_at'), operatorNode('-', column('at'), begin)),
  ])
  return selectNode({
    targetList: [
      ...keys.map((key, index) => targetNode(column(`key${index}`), key.name)),
      ...outputs.map((each) =>
        targetNode(each === name ? callNode('count', [], { agg_star: true }) : nullNode(), each),
      ),
    ],
    fromClause: [subqueryNode(told, 'e')],
    ...(whereClause && { whereClause }),
    ...(keys.length > 0 && { groupClause: keys.map((_, index) => integerNode(index + 1)) }),
  })
}

function baseRows(
  { computation, relation, keys, where }: ConversionParts,
  same: readonly string[],
): SelectStmt {
  const names = [computation.entity, ...(computation.constant ?? []).map(({ base }) => base)]
  return rowsOf(relation, computation.base, names, [
    targetNode(zero, 'kind'),
    ...names.map((name, index) => targetNode(columnNode('f', name), same[index] ?? '')),
    ...keys.map(({ node }, index) => targetNode(node, `key${index}`)),
    targetNode(where === undefined ? one : caseNode(where, one, zero), 'counted'),
  ])
}

function otherRows({ computation, to, keys }: ConversionParts, same: readonly string[]): SelectStmt {
  const names = [computation.entity, ...(computation.constant ?? []).map(({ conversion }) => conversion)]
  return rowsOf(to, computation.conversion, names, [
    targetNode(one, 'kind'),
    ...names.map((name, index) => targetNode(columnNode('f', name), same[index] ?? '')),
    ...keys.map((_, index) => targetNode(nullNode(), `key${index}`)),
    targetNode(nullNode(), 'counted'),
  ])
}

/** The rows that count for a metric, at their times. What belongs to nothing, or has no time, leads nowhere. */
function rowsOf(
  { table: { table } }: MetricRelation,
  metric: string,
  names: readonly string[],
  targets: readonly Node[],
): SelectStmt {
  const time = columnNode('f', metricTime)
  const whereClause = allOf([
    callNode(countsFunction, [columnNode(metric)]),
    isGiven(time),
    ...names.map((name) => isGiven(columnNode('f', name))),
  ])
  return selectNode({
    targetList: [targetNode(castNode('timestamp', time), 'at'), ...targets],
    fromClause: [tableNode(table.namespace.join('.'), `${table.name}${metricsSuffix}`, 'f')],
    ...(whereClause && { whereClause }),
  })
}

function lengthOf({ grain, count }: NonNullable<BranchConversion['computation']['window']>): string {
  return grain === 'quarter' ? `${count * 3} months` : `${count} ${grain}s`
}
