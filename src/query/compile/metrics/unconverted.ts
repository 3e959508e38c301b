/**
 * Writes what tells of amounts without a rate: beside the result of a request, for each metric that converts currencies, a
 * text that says how many rows of which currency are left out, or NULL. It is part of the same statement, so it counts the
 * rows that the numbers are of, as the reader may see them.
 */

import type { Node, SelectStmt } from 'libpg-query'
import { isOverPeriods, type OverPeriods } from '../../../core/metric.ts'
import { baseOfLeaf, leavesOf, type SemanticModel } from '../../../core/semantic-model.ts'
import type { TableRef } from '../../../core/table-ref.ts'
import { parseExpression } from '../parse/parse.ts'
import { rowFunctions } from './currency.ts'
import {
  allOf,
  callNode,
  columnNode,
  integerNode,
  selectNode,
  subqueryNode,
  targetNode,
  withoutPositions,
} from './nodes.ts'

/** A simple metric that converts currencies, and how a request reads its rows. */
export interface RatedMetric {
  readonly table: TableRef
  /** Undefined: the rows of the request's own range. */
  readonly over: readonly (OverPeriods | undefined)[]
}

/** The metrics that convert currencies, of which those of a request are made in the end. */
export function ratedMetrics(
  model: SemanticModel,
  metrics: readonly string[],
): ReadonlyMap<string, RatedMetric> {
  const found = new Map<string, RatedMetric>()
  for (const leaf of metrics.flatMap((name) => leavesOf(model, name) ?? [])) {
    const { computation } = leaf.definition
    const base = baseOfLeaf(model, leaf)
    if (base?.definition.computation.kind !== 'simple') continue
    const { table, currency } = base.definition.computation
    if (currency === undefined) continue
    const over = isOverPeriods(computation) ? computation : undefined
    found.set(base.name, { table, over: [...(found.get(base.name)?.over ?? []), over] })
  }
  return found
}

/** Rows of one metric of which some may have no rate. */
export interface RatedRows {
  readonly metric: string
  /** The relation, under the alias `f`. */
  readonly relation: Node
  /** The rows that the request is of. */
  readonly where: Node | undefined
}

/** The currencies that are named; the rest is one number. */
const namedMax = 10
const sqlNode = (text: string): Node => withoutPositions(parseExpression(text))

/** A result of a request with the texts as further columns, whose names say nothing. @param names of its columns */
export function withUnconverted(
  result: SelectStmt,
  names: readonly string[],
  rated: readonly RatedRows[],
): SelectStmt {
  return selectNode({
    targetList: [
      ...names.map((name) => targetNode(columnNode('a', name), name)),
      ...rated.map((rows, index) => targetNode(scalarNode(textOf(rows)), `unconverted${index}`)),
    ],
    fromClause: [subqueryNode(result, 'a')],
  })
}

function scalarNode(select: SelectStmt): Node {
  return { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: select } } }
}

/** One row: NULL, or a text such as `2 of CHF, 1 of no currency`. */
function textOf({ metric, relation, where }: RatedRows): SelectStmt {
  const whereClause = allOf([where, callNode(rowFunctions.lacksRate, [columnNode(metric)])])
  const counted = selectNode({
    targetList: [
      targetNode(callNode(rowFunctions.currency, [columnNode(metric)]), 'c'),
      targetNode(callNode('count', [], { agg_star: true }), 'n'),
    ],
    fromClause: [relation],
    ...(whereClause && { whereClause }),
    groupClause: [integerNode(1)],
  })
  const ranked = selectNode({
    targetList: [
      targetNode(sqlNode(`coalesce(left(c, 20), 'no currency')`), 'c'),
      targetNode(columnNode('n'), 'n'),
      targetNode(sqlNode('row_number() over (order by n desc, c)'), 'r'),
    ],
    fromClause: [subqueryNode(counted, 'g')],
  })
  const text = `string_agg(n::text || ' of ' || c, ', ' order by r) filter (where r <= ${namedMax})
    || coalesce(' and ' || (sum(n) filter (where r > ${namedMax}))::text || ' of others', '')`
  return selectNode({ targetList: [targetNode(sqlNode(text), 't')], fromClause: [subqueryNode(ranked, 'r')] })
}
