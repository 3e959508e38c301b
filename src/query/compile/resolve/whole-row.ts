/**
 * Resolves whole rows, as `t` in `row_to_json(t)` and `count(t)`. They are arguments of a few functions and no values of
 * their own: engines have other composite types.
 */

import type { FuncCall, Node } from 'libpg-query'
import type { Expr } from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { jsonOfRow } from '../functions/collections.ts'
import { literalOf, typed } from './coerce.ts'
import {
  type Env,
  identifierOf,
  namedColumns,
  type Resolver,
  type ScopeRelation,
  spend,
  use,
} from './context.ts'

/** Functions of a row, with the type of JSON that they make of it. */
const jsonFunctions: ReadonlyMap<string, 'json' | 'jsonb'> = new Map([
  ['row_to_json', 'json'],
  ['to_json', 'json'],
  ['to_jsonb', 'jsonb'],
  ['json_agg', 'json'],
  ['jsonb_agg', 'jsonb'],
])

/**
 * A row as JSON, where the call's argument is one.
 * @returns undefined for any other argument, or function
 * @throws SqlError 0A000 for the row of an outer join, which is NULL where nothing was joined
 */
export function rowAsJson(
  resolver: Resolver,
  name: string,
  { args = [], agg_distinct }: FuncCall,
  env: Env,
): Expr | undefined {
  const type = jsonFunctions.get(name)
  const [arg] = args
  if (type === undefined || arg === undefined || args.length !== 1 || agg_distinct) return undefined
  const inside = name.endsWith('_agg') ? undefined : insideSubquery(name, arg)
  if (inside !== undefined) return resolver.expr(inside, env)
  const members =
    'RowExpr' in arg
      ? (arg.RowExpr.args ?? []).map((each, index) => ({
          name: `f${index + 1}`,
          expr: typed(resolver.expr(each, env)),
        }))
      : rowOf(resolver, arg, env)
  if (members === undefined) return undefined
  spend(resolver, members.length)
  const pairs = members.flatMap((member) => [literalOf(member.name, 'text'), member.expr])
  return { kind: 'call', def: jsonOfRow[type], type, args: pairs }
}

/**
 * `row_to_json((SELECT t FROM … t))` as `(SELECT row_to_json(t) FROM … t)`, where `t` is the row of that FROM.
 * @returns undefined for any other argument
 */
function insideSubquery(name: string, arg: Node): Node | undefined {
  if (!('SubLink' in arg) || arg.SubLink.subLinkType !== 'EXPR_SUBLINK') return undefined
  const { subselect } = arg.SubLink
  if (subselect === undefined || !('SelectStmt' in subselect)) return undefined
  const { targetList = [], fromClause = [] } = subselect.SelectStmt
  const [target, ...more] = targetList
  const val = target !== undefined && 'ResTarget' in target ? target.ResTarget.val : undefined
  const fields = val !== undefined && 'ColumnRef' in val ? (val.ColumnRef.fields ?? []) : []
  const [field] = fields
  if (more.length > 0 || fields.length !== 1 || field === undefined || !('String' in field)) return undefined
  const isRow = fromClause.some(
    (each) => 'RangeSubselect' in each && each.RangeSubselect.alias?.aliasname === field.String.sval,
  )
  if (!isRow || val === undefined) return undefined
  const call: Node = { FuncCall: { funcname: [{ String: { sval: name } }], args: [val] } }
  const select = { ...subselect.SelectStmt, targetList: [{ ResTarget: { val: call } }] }
  return { SubLink: { ...arg.SubLink, subselect: { SelectStmt: select } } }
}

/** Whether the only argument of `count` is a row, which is never NULL. */
export function countsRows(resolver: Resolver, { args = [] }: FuncCall, env: Env): boolean {
  const [arg] = args
  return arg !== undefined && args.length === 1 && rowOf(resolver, arg, env) !== undefined
}

function rowOf(
  resolver: Resolver,
  node: Node,
  env: Env,
): readonly { readonly name: string; readonly expr: Expr }[] | undefined {
  const found = relationOf(node, env)
  if (found === undefined) return undefined
  const { relation, levels } = found
  if (relation.scalar !== undefined) return undefined
  if (relation.mayLack === true)
    throw new SqlError(
      '0A000',
      `A whole row ("${relation.alias}") of an outer join is not supported.`,
      undefined,
      {
        hint: 'Name one of its columns, or its key.',
      },
    )
  return namedColumns(resolver, relation.columns).map(({ name, expr }) => ({
    name,
    expr: use(resolver, expr, levels),
  }))
}

/** The relation that a name means as a whole: `t`, where there is no such column, and `t.*`. */
function relationOf(
  node: Node,
  env: Env,
): { readonly relation: ScopeRelation; readonly levels: number } | undefined {
  if (!('ColumnRef' in node)) return undefined
  const [field, star, ...more] = node.ColumnRef.fields ?? []
  if (field === undefined || 'A_Star' in field || more.length > 0) return undefined
  if (star !== undefined && !('A_Star' in star)) return undefined
  const name = identifierOf(field)
  if (star === undefined)
    for (let each = env.scope.outer, scope = env.scope; ; scope = each, each = each.outer) {
      if (scope.columns.some((column) => column.name === name)) return undefined
      if (each === undefined) break
    }
  let levels = 0
  for (let scope: Env['scope'] | undefined = env.scope; scope !== undefined; scope = scope.outer, levels++) {
    const relation = scope.relations.find(({ alias }) => alias === name)
    if (relation !== undefined) return { relation, levels }
  }
  return undefined
}
