/** Makes nodes of statement trees, in the parser's form. */

import type { Node, SelectStmt } from 'libpg-query'
import type { Grain } from '../../../core/metric.ts'
import { ownPeriod } from './own-names.ts'

const name = (text: string): Node => ({ String: { sval: text } })

/** A reference to a column, `relation.column` or `column`. */
export function columnNode(...path: readonly string[]): Node {
  return { ColumnRef: { fields: path.map(name) } }
}

/** A whole number. */
export function integerNode(value: number): Node {
  return { A_Const: { ival: { ival: value } } }
}

/** A text. */
export function textNode(value: string): Node {
  return { A_Const: { sval: { sval: value } } }
}

/** `NULL` */
export function nullNode(): Node {
  return { A_Const: { isnull: true } }
}

/** `$number` */
export function parameterNode(number: number): Node {
  return { ParamRef: { number } }
}

/** Values in brackets. */
export function listNode(items: readonly Node[]): Node {
  return { List: { items: [...items] } }
}

/** `left operator right` */
export function operatorNode(operator: string, left: Node, right: Node): Node {
  return { A_Expr: { kind: 'AEXPR_OP', name: [name(operator)], lexpr: left, rexpr: right } }
}

/** All of them, or none where there are none. */
export function allOf(conditions: readonly (Node | undefined)[]): Node | undefined {
  const args = conditions.filter((each) => each !== undefined)
  return args.length > 1 ? { BoolExpr: { boolop: 'AND_EXPR', args } } : args[0]
}

/** One of them at least. */
export function anyOf(args: readonly Node[]): Node {
  return { BoolExpr: { boolop: 'OR_EXPR', args: [...args] } }
}

/** `NULL` where the expression is zero. */
export function nullIfZero(value: Node): Node {
  return { A_Expr: { kind: 'AEXPR_NULLIF', name: [name('=')], lexpr: value, rexpr: integerNode(0) } }
}

/** `left IN (items)`, and `NOT IN` where the operator is `<>`. */
export function inNode(operator: '=' | '<>', left: Node, items: readonly Node[]): Node {
  return { A_Expr: { kind: 'AEXPR_IN', name: [name(operator)], lexpr: left, rexpr: listNode(items) } }
}

/** A cast to a type. */
export function castNode(type: 'float8' | 'timestamp' | 'date' | 'interval', arg: Node): Node {
  return { TypeCast: { arg, typeName: { names: [name(type)], typemod: -1 } } }
}

/** A cast to double precision. */
export function toDouble(arg: Node): Node {
  return castNode('float8', arg)
}

/** `CASE WHEN condition THEN result [ELSE otherwise] END` */
export function caseNode(condition: Node, result: Node, otherwise?: Node): Node {
  const args = [{ CaseWhen: { expr: condition, result } }]
  return { CaseExpr: { args, ...(otherwise && { defresult: otherwise }) } }
}

/** `value IS NOT NULL` */
export function isGiven(arg: Node): Node {
  return { NullTest: { arg, nulltesttype: 'IS_NOT_NULL' } }
}

/** `value IS NULL` */
export function isNull(arg: Node): Node {
  return { NullTest: { arg, nulltesttype: 'IS_NULL' } }
}

/** `NOT condition` */
export function notNode(condition: Node): Node {
  return { BoolExpr: { boolop: 'NOT_EXPR', args: [condition] } }
}

/** A function call or an aggregate. */
export function callNode(
  functionName: string,
  args: readonly Node[],
  more: { readonly agg_filter?: Node; readonly agg_distinct?: true; readonly agg_star?: true } = {},
): Node {
  const shape = args.length > 0 ? { args: [...args] } : {}
  return { FuncCall: { funcname: [name(functionName)], ...shape, ...more } }
}

/** The parser's default frame. */
const frameOptions = 1058

/** An aggregate as a window over a partition. */
export function windowNode(functionName: string, arg: Node, partition: readonly Node[]): Node {
  const over = { ...(partition.length > 0 && { partitionClause: [...partition] }), frameOptions }
  return { FuncCall: { funcname: [name(functionName)], args: [arg], over } }
}

/** A window function over the rows of a partition up to those of the same place in an order. */
export function orderedWindowNode(
  functionName: string,
  arg: Node,
  partition: readonly Node[],
  order: readonly Node[],
): Node {
  const orderClause = order.map((node) => sortNode(node, 'SORTBY_DEFAULT'))
  const over = { partitionClause: [...partition], orderClause, frameOptions }
  return { FuncCall: { funcname: [name(functionName)], args: [arg], over } }
}

/** The start of the period that a moment is in, which for hours is no date. */
export function periodNode(grain: Grain, moment: Node): Node {
  const unit = textNode(grain)
  if (grain !== 'hour') return callNode(ownPeriod, [unit, moment])
  return callNode('date_trunc', [unit, castNode('timestamp', moment)])
}

/** The place of a row among the different values of an order, from 1. */
export function rankNode(order: readonly Node[], partition: readonly Node[] = []): Node {
  const orderClause = order.map(
    (node): Node => ({
      SortBy: { node, sortby_dir: 'SORTBY_DEFAULT', sortby_nulls: 'SORTBY_NULLS_DEFAULT' },
    }),
  )
  const parts = partition.length > 0 && { partitionClause: [...partition] }
  return { FuncCall: { funcname: [name('dense_rank')], over: { ...parts, orderClause, frameOptions } } }
}

/** An entry of the select list. */
export function targetNode(val: Node, as: string): Node {
  return { ResTarget: { name: as, val } }
}

/** A table of a schema under an alias. */
export function tableNode(schemaname: string, relname: string, aliasname: string): Node {
  return { RangeVar: { schemaname, relname, inh: true, relpersistence: 'p', alias: { aliasname } } }
}

/** A query in FROM under an alias, which may name its columns. */
export function subqueryNode(select: SelectStmt, aliasname: string, columns: readonly string[] = []): Node {
  const alias = { aliasname, ...(columns.length > 0 && { colnames: columns.map(name) }) }
  return { RangeSubselect: { subquery: { SelectStmt: select }, alias } }
}

/** An entry of ORDER BY, NULL last. */
export function sortNode(node: Node, direction: 'SORTBY_DEFAULT' | 'SORTBY_DESC'): Node {
  return { SortBy: { node, sortby_dir: direction, sortby_nulls: 'SORTBY_NULLS_LAST' } }
}

/** `EXISTS (select)` */
export function existsNode(select: SelectStmt): Node {
  return { SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect: { SelectStmt: select } } }
}

/** A plain SELECT with these clauses. */
export function selectNode(clauses: SelectStmt): SelectStmt {
  return { limitOption: 'LIMIT_OPTION_DEFAULT', op: 'SETOP_NONE', ...clauses }
}

/** All rows of queries, one at least. */
export function unionAll(queries: readonly SelectStmt[]): SelectStmt {
  return queries.reduce((larg, rarg) => selectNode({ op: 'SETOP_UNION', all: true, larg, rarg }))
}

/** `left JOIN right ON condition` */
export function innerJoinNode(larg: Node, rarg: Node, quals: Node): Node {
  return { JoinExpr: { jointype: 'JOIN_INNER', larg, rarg, quals } }
}

/** `left LEFT JOIN right ON condition` */
export function leftJoinNode(larg: Node, rarg: Node, quals: Node): Node {
  return { JoinExpr: { jointype: 'JOIN_LEFT', larg, rarg, quals } }
}

/** The names of a column reference; undefined for another node, and where it ends in a star. */
export function columnPath(node: Node | undefined): readonly string[] | undefined {
  if (node === undefined || !('ColumnRef' in node)) return undefined
  const names = (node.ColumnRef.fields ?? []).map((field) =>
    'String' in field ? field.String.sval : undefined,
  )
  return names.every((each) => each !== undefined) ? (names as readonly string[]) : undefined
}

/** The name of a called function, without its schema. */
export function functionName(node: Node | undefined): string | undefined {
  if (node === undefined || !('FuncCall' in node)) return undefined
  const last = node.FuncCall.funcname?.at(-1)
  return last !== undefined && 'String' in last ? last.String.sval : undefined
}

/**
 * A copy of a tree in which `replace` may stand in for nodes. Subqueries are not entered.
 * @param replace gives the replacement, or undefined to go on below
 */
export function mapNodes<T>(tree: T, replace: (node: Node) => Node | undefined): T {
  if (Array.isArray(tree)) return tree.map((each) => mapNodes(each, replace)) as T
  if (typeof tree !== 'object' || tree === null) return tree
  const replaced = Object.keys(tree).length === 1 ? replace(tree as unknown as Node) : undefined
  if (replaced !== undefined) return replaced as T
  const members = Object.entries(tree)
  return Object.fromEntries(
    members.map(([key, value]) => [key, key === 'SelectStmt' ? value : mapNodes(value, replace)]),
  ) as T
}

/** A tree without positions, which would be those of another text. */
export function withoutPositions<T>(tree: T): T {
  return JSON.parse(JSON.stringify(tree, (key, value: unknown) => (key === 'location' ? undefined : value)))
}
