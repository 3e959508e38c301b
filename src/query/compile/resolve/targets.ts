/** Resolves the select list: expands stars and names every result as PostgreSQL does. */

import type { ColumnRef, Node } from 'libpg-query'
import { limits } from '../../../limits.ts'
import type { Expr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { spokenType } from '../base/types.ts'
import {
  type Env,
  identifierOf,
  namedColumns,
  type Resolver,
  type ScopeColumn,
  use,
  withoutDatabase,
} from './context.ts'
import { fieldsOf } from './nested.ts'
import { writtenColumn } from './place.ts'

/** Resolves the select list. */
export function resolveTargets(
  resolver: Resolver,
  nodes: readonly Node[],
  env: Env,
): readonly { readonly name: string; readonly expr: Expr }[] {
  const targets: { readonly name: string; readonly expr: Expr }[] = []
  for (const node of nodes) {
    const target = 'ResTarget' in node ? node.ResTarget : undefined
    if (target?.val === undefined) throw new SqlError('42601', 'A result expression is expected.')
    const star =
      'ColumnRef' in target.val
        ? starColumns(resolver, target.val.ColumnRef, env)
        : starFields(resolver, target.val, env)
    if (star)
      for (const { name, expr } of star)
        targets.push({ name, expr: writtenColumn(use(resolver, expr, 0), name, locationOf(target.val)) })
    else
      targets.push({
        name: target.name ?? resultName(target.val) ?? '?column?',
        expr: resolver.expr(target.val, env),
      })
    if (targets.length > limits.targetsMax)
      throw new SqlError('54011', `target lists can have at most ${limits.targetsMax} entries`)
  }
  if (targets.length === 0) throw notSupported('SELECT without a result column')
  return targets
}

function locationOf(node: Node): number | undefined {
  return 'ColumnRef' in node ? node.ColumnRef.location : undefined
}

/** The fields that `(s).*` means; undefined for any other expression. */
function starFields(resolver: Resolver, node: Node, env: Env): readonly ScopeColumn[] | undefined {
  if (!('A_Indirection' in node)) return undefined
  const { arg, indirection = [] } = node.A_Indirection
  const last = indirection.at(-1)
  if (arg === undefined || last === undefined || !('A_Star' in last)) return undefined
  const before = indirection.slice(0, -1)
  const value = resolver.expr(
    before.length === 0 ? arg : { A_Indirection: { arg, indirection: before } },
    env,
  )
  const fields = fieldsOf(resolver, value)
  if (fields === undefined) throw new SqlError('42809', `type ${spokenType(value.type)} is not composite`)
  return fields
}

/** The columns that `*`, `t.*`, `s.t.*` or `d.s.t.*` means; undefined for any other reference. */
function starColumns(resolver: Resolver, node: ColumnRef, env: Env): readonly ScopeColumn[] | undefined {
  const fields = node.fields ?? []
  const last = fields.at(-1)
  if (last === undefined || !('A_Star' in last)) return undefined
  const written = fields.slice(0, -1).map(identifierOf)
  const names = withoutDatabase(resolver, written, 3, node.location)
  if (names.length === 0) {
    if (env.scope.relations.length === 0 && env.scope.columns.length === 0)
      throw new SqlError('42601', 'SELECT * with no tables specified is not valid', node.location)
    return namedColumns(resolver, env.scope.columns)
  }
  const alias = names.at(-1) ?? ''
  const schema = names.length === 2 ? names[0] : undefined
  const found = env.scope.relations.filter(
    (each) => each.alias === alias && (schema === undefined || each.schema === schema),
  )
  if (found[0] === undefined || found.length > 1)
    throw new SqlError('42P01', `missing FROM-clause entry for table "${alias}"`, node.location)
  return namedColumns(resolver, found[0].columns)
}

const valueFunctionNames = new Map([
  ['SVFOP_CURRENT_DATE', 'current_date'],
  ['SVFOP_CURRENT_TIMESTAMP', 'current_timestamp'],
  ['SVFOP_LOCALTIMESTAMP', 'localtimestamp'],
  ['SVFOP_CURRENT_USER', 'current_user'],
  ['SVFOP_USER', 'user'],
  ['SVFOP_SESSION_USER', 'session_user'],
  ['SVFOP_CURRENT_ROLE', 'current_role'],
  ['SVFOP_CURRENT_CATALOG', 'current_catalog'],
  ['SVFOP_CURRENT_SCHEMA', 'current_schema'],
])

/** The name that PostgreSQL gives an expression without AS; undefined where it gives none. */
export function resultName(node: Node): string | undefined {
  if ('ColumnRef' in node) return identifierOf(node.ColumnRef.fields?.at(-1))
  if ('FuncCall' in node) return identifierOf(node.FuncCall.funcname?.at(-1))
  if ('A_Indirection' in node) {
    const { arg, indirection = [] } = node.A_Indirection
    const field = indirection.findLast((step) => 'String' in step)
    return field === undefined ? arg && resultName(arg) : identifierOf(field)
  }
  if ('TypeCast' in node) {
    const inner = node.TypeCast.arg && strongName(node.TypeCast.arg)
    return inner ?? identifierOf(node.TypeCast.typeName?.names?.at(-1))
  }
  if ('CaseExpr' in node) {
    const { defresult } = node.CaseExpr
    return (defresult && strongName(defresult)) ?? 'case'
  }
  if ('CoalesceExpr' in node) return 'coalesce'
  if ('MinMaxExpr' in node) return node.MinMaxExpr.op === 'IS_GREATEST' ? 'greatest' : 'least'
  if ('A_ArrayExpr' in node) return 'array'
  if ('A_Expr' in node) return node.A_Expr.kind === 'AEXPR_NULLIF' ? 'nullif' : undefined
  if ('SQLValueFunction' in node) return valueFunctionNames.get(String(node.SQLValueFunction.op))
  if ('GroupingFunc' in node) return 'grouping'
  if ('RowExpr' in node) return 'row'
  if ('CollateClause' in node) return node.CollateClause.arg && resultName(node.CollateClause.arg)
  if ('JsonObjectConstructor' in node) return 'json_object'
  if ('SubLink' in node) return sublinkName(node)
  return undefined
}

/** The name that PostgreSQL passes through CASE or a cast: a column's or a function's. */
function strongName(node: Node): string | undefined {
  if ('TypeCast' in node) return node.TypeCast.arg && strongName(node.TypeCast.arg)
  if ('CaseExpr' in node) return node.CaseExpr.defresult && strongName(node.CaseExpr.defresult)
  return resultName(node)
}

function sublinkName(node: Extract<Node, { SubLink: unknown }>): string | undefined {
  const { subLinkType, subselect } = node.SubLink
  if (subLinkType === 'EXISTS_SUBLINK') return 'exists'
  if (subLinkType === 'ARRAY_SUBLINK') return 'array'
  if (subLinkType !== 'EXPR_SUBLINK' || subselect === undefined || !('SelectStmt' in subselect))
    return undefined
  const [target] = subselect.SelectStmt.targetList ?? []
  if (target === undefined || !('ResTarget' in target)) return undefined
  return target.ResTarget.name ?? (target.ResTarget.val && resultName(target.ResTarget.val)) ?? '?column?'
}
