/**
 * Parses expressions of metrics, which know two aggregates that PostgreSQL has not: `median(x)`, which is a percentile, and
 * `approx_count_distinct(x)`, which is the engine's own estimate.
 */

import type { Node } from 'libpg-query'
import { aggregates, estimate } from '../functions/aggregates.ts'
import { parseExpression } from '../parse/parse.ts'
import { functionName, mapNodes, withoutPositions } from './nodes.ts'

/** The aggregates of metrics alone, by their names in an expression. */
const writers: ReadonlyMap<string, (arg: Node, call: object) => Node> = new Map([
  [
    'median',
    (node: Node, call: object): Node => ({
      FuncCall: {
        ...call,
        funcname: [{ String: { sval: 'percentile_cont' } }],
        args: [{ A_Const: { fval: { fval: '0.5' } } }],
        agg_order: [{ SortBy: { node, sortby_dir: 'SORTBY_DEFAULT', sortby_nulls: 'SORTBY_NULLS_DEFAULT' } }],
        agg_within_group: true,
      },
    }),
  ],
  [
    'approx_count_distinct',
    (_: Node, call: object): Node => ({
      FuncCall: { ...call, funcname: [{ String: { sval: estimate.name } }] },
    }),
  ],
])

/** Whether a name in such a tree is that of an aggregate. */
export function isAggregate(name: string): boolean {
  return aggregates.has(name) || name === estimate.name
}

/** An expression's tree without positions, in which every aggregate is one of the compiler. */
export function parseMetricExpression(text: string): Node {
  const rewrite = <T>(tree: T): T =>
    mapNodes(tree, (node) => {
      if (!('FuncCall' in node) || node.FuncCall.over !== undefined) return undefined
      const { funcname = [], args = [], agg_order: order } = node.FuncCall
      const writer = funcname.length === 1 && order === undefined && writers.get(functionName(node) ?? '')
      const [arg, ...more] = args
      return writer && arg !== undefined && more.length === 0
        ? writer(arg, { ...node.FuncCall, args: rewrite(args) })
        : undefined
    })
  return rewrite(withoutPositions(parseExpression(text)))
}
