/** Resolves FROM: tables, CTEs, subqueries, functions and joins, and the names that they bring into scope. */

import type {
  Alias,
  JoinExpr,
  Node,
  RangeFunction,
  RangeSubselect,
  RangeTableSample,
  RangeVar,
  SelectStmt,
} from 'libpg-query'
import type { GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import {
  type ColumnExpr,
  type Expr,
  type FromItem,
  type FunctionItem,
  type JoinItem,
  type OutputColumn,
  rawIndex,
} from '../base/ir.ts'
import { absentRelation, notSupported, SqlError } from '../base/sql-error.ts'
import { servedType } from '../base/types.ts'
import * as special from '../functions/special.ts'
import { isLifted } from '../metrics/lifted.ts'
import { isOwnAlias, ownColumn } from '../metrics/own-names.ts'
import { applyOperator, logic } from './apply-operator.ts'
import { typed, unify } from './coerce.ts'
import {
  assertDatabase,
  type Env,
  findCte,
  identifierOf,
  namedColumns,
  newId,
  newScope,
  type Resolver,
  type Scope,
  type ScopeColumn,
  type ScopeRelation,
  spend,
  use,
} from './context.ts'
import { nestedOf } from './nested.ts'
import { conditionAt } from './place.ts'
import { recordsOf } from './records-in-from.ts'
import { scalarQuery } from './scalar-in-from.ts'
import { returnsRows, setCallOf } from './sets.ts'
import { resultName } from './targets.ts'

interface Bound {
  readonly item: FromItem
  readonly relations: readonly ScopeRelation[]
  readonly columns: readonly ScopeColumn[]
}

const noAggregates = { noAggregates: 'FROM', noWindows: 'FROM' }

/** Resolves the FROM list into `scope`; later items see earlier ones where they are LATERAL. */
export function resolveFrom(resolver: Resolver, nodes: readonly Node[], scope: Scope): FromItem[] {
  return nodes.map((node) => {
    const bound = resolveItem(resolver, node, scope, scope)
    addTo(resolver, scope, bound)
    return bound.item
  })
}

function addTo(resolver: Resolver, scope: Scope, bound: Bound): void {
  spend(resolver, (scope.columns.length + bound.columns.length) >> 4)
  for (const { alias, schema } of bound.relations)
    if (
      scope.relations.some(
        (each) =>
          each.alias === alias &&
          (each.schema === schema || each.schema === undefined || schema === undefined),
      )
    )
      throw new SqlError('42712', `table name "${alias}" specified more than once`)
  scope.relations = [...scope.relations, ...bound.relations]
  scope.columns = [...scope.columns, ...bound.columns]
}

/** @param lateral the scope that LATERAL items and functions see */
function resolveItem(resolver: Resolver, node: Node, scope: Scope, lateral: Scope): Bound {
  if ('JoinExpr' in node) return resolveJoin(resolver, node.JoinExpr, scope, lateral)
  const bound = resolveLeaf(resolver, node, scope, lateral)
  spend(resolver, bound.columns.length)
  return bound
}

function resolveLeaf(resolver: Resolver, node: Node, scope: Scope, lateral: Scope): Bound {
  if ('RangeVar' in node) return resolveRelation(resolver, node.RangeVar, scope)
  if ('RangeSubselect' in node) return resolveSubselect(resolver, node.RangeSubselect, scope, lateral)
  if ('RangeFunction' in node) return resolveFunction(resolver, node.RangeFunction, lateral)
  if ('RangeTableSample' in node)
    return resolveSubselect(resolver, sampled(node.RangeTableSample), scope, lateral)
  throw notSupported(Object.keys(node)[0] ?? 'This item of FROM')
}

/**
 * A sample as a subquery that keeps each visible row by chance. PostgreSQL's SYSTEM keeps whole blocks by chance, which
 * tables here do not have.
 */
function sampled({ relation: from, method = [], args = [], location }: RangeTableSample): RangeSubselect {
  const [percentage] = args
  const name = method.map(identifierOf).join('.')
  if (from === undefined || !('RangeVar' in from)) throw notSupported('TABLESAMPLE of this', location)
  if (name !== 'bernoulli' && name !== 'system')
    throw new SqlError('42704', `tablesample method ${name} does not exist`, location)
  const given = percentage !== undefined && 'A_Const' in percentage ? percentage.A_Const : undefined
  const share = Number(given?.fval?.fval ?? given?.ival?.ival ?? (given?.ival ? 0 : Number.NaN))
  if (args.length !== 1 || Number.isNaN(share)) throw notSupported('TABLESAMPLE of an expression', location)
  if (share < 0 || share > 100)
    throw new SqlError('22023', 'sample percentage must be between 0 and 100', location)
  const { relname = '', alias = { aliasname: relname } } = from.RangeVar
  const { alias: _, ...plain } = from.RangeVar
  const chance: Node = { FuncCall: { funcname: [{ String: { sval: 'random' } }] } }
  const bound: Node = { A_Const: { fval: { fval: String(share / 100) } } }
  const kept: Node = {
    A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '<' } }], lexpr: chance, rexpr: bound },
  }
  const all: Node = { ResTarget: { val: { ColumnRef: { fields: [{ A_Star: {} }] } } } }
  const select: SelectStmt = {
    targetList: [all],
    fromClause: [{ RangeVar: plain }],
    whereClause: kept,
    op: 'SETOP_NONE',
  }
  return { subquery: { SelectStmt: select }, alias }
}

function resolveRelation(resolver: Resolver, node: RangeVar, scope: Scope): Bound {
  const { catalogname, schemaname, relname = '', alias } = node
  if (catalogname !== undefined) {
    const names = [catalogname, schemaname ?? '', relname]
    assertDatabase(resolver, names, `"${names.join('.')}"`, node.location)
  }
  const cte = schemaname === undefined ? findCte(scope, relname) : undefined
  const id = newId(resolver, 't')
  if (cte) {
    const columns = outputColumns(id, cte.columns, alias)
    if (cte.query !== undefined) resolver.sources.set(id, { from: 'query', query: cte.query })
    return relation({ kind: 'cte', id, cte: cte.id }, alias?.aliasname ?? relname, columns)
  }
  const table = resolver.findTable(schemaname, relname)
  if (table === undefined) throw absentRelation(schemaname, relname, node.location)
  const used = new Set<number>()
  resolver.tables.push({ id, table, used })
  resolver.sources.set(id, { from: 'table', table })
  const isOwn = isOwnAlias(alias?.aliasname)
  const columns = servedColumns(table).flatMap(({ column, index, type, size, nested }) => {
    const expr: ColumnExpr = { kind: 'column', relation: id, index, levelsUp: 0, type, size, nested }
    return isOwn ? ownColumns(resolver, table, column, expr) : { name: column.name, expr }
  })
  return relation(
    { kind: 'table', id, table, used },
    alias?.aliasname ?? relname,
    renamed(columns, alias),
    alias === undefined ? table.schemaName : undefined,
  )
}

type ServedColumn = Pick<ColumnExpr, 'index' | 'type' | 'size' | 'nested'> & {
  readonly column: GovernedColumn
}

const servedOf = new WeakMap<GovernedTable, readonly ServedColumn[]>()

/** The columns of a table; one of an unsupported type is left out, so that no name can reach it. */
function servedColumns(table: GovernedTable): readonly ServedColumn[] {
  const last = servedOf.get(table)
  if (last !== undefined) return last
  const columns = table.columns.flatMap((column, index): readonly ServedColumn[] => {
    const served = servedType(column.type)
    return served === undefined
      ? []
      : [{ column, index, type: served.type, size: served.size, nested: nestedOf(column.type) }]
  })
  servedOf.set(table, columns)
  return columns
}

/** A column under the names by which expanded metrics read it. */
function ownColumns(
  { lifted }: Resolver,
  table: GovernedTable,
  column: GovernedColumn,
  expr: ColumnExpr,
): readonly ScopeColumn[] {
  const raw = isLifted(lifted, table, column) ? { ...expr, index: rawIndex(table, expr.index) } : expr
  return [
    { name: ownColumn(column.fieldId), expr },
    { name: ownColumn(column.fieldId, true), expr: raw },
  ]
}

function relation(
  item: FromItem,
  alias: string,
  columns: readonly ScopeColumn[],
  schema?: string | undefined,
): Bound {
  return { item, relations: [{ alias, schema, columns }], columns }
}

function renamed(columns: readonly ScopeColumn[], alias: Alias | undefined): readonly ScopeColumn[] {
  const names = (alias?.colnames ?? []).map(identifierOf)
  if (names.length > columns.length)
    throw new SqlError('42P10', `table "${alias?.aliasname}" has ${columns.length} columns available`)
  if (names.length === 0) return columns
  return columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }))
}

/** The columns of a query under the names of its alias. */
function outputColumns(
  id: string,
  columns: readonly OutputColumn[],
  alias: Alias | undefined,
): readonly ScopeColumn[] {
  const own = columns.map(
    ({ name, type, size, shape, textScale, nested }, index): ScopeColumn => ({
      name,
      expr: {
        ...{ kind: 'column', relation: id, index, levelsUp: 0, type, size, shape, textScale },
        ...(nested && { nested }),
      },
    }),
  )
  return renamed(own, alias)
}

function resolveSubselect(resolver: Resolver, node: RangeSubselect, scope: Scope, lateral: Scope): Bound {
  const select =
    node.subquery !== undefined && 'SelectStmt' in node.subquery ? node.subquery.SelectStmt : undefined
  if (select === undefined) throw new SqlError('42601', 'A subquery is expected.')
  const id = newId(resolver, 't')
  // Without LATERAL a subquery sees the outer scope and the CTEs, not its neighbours in FROM.
  const outer = node.lateral ? lateral : { ...newScope(scope.outer), ctes: scope.ctes }
  const query = resolver.query(select, outer)
  resolver.sources.set(id, { from: 'query', query })
  const item: FromItem = { kind: 'subquery', id, lateral: node.lateral === true, query }
  // PostgreSQL allows a subquery without an alias since 16; its columns then have no qualifier.
  const columns = outputColumns(id, query.columns, node.alias)
  if (node.alias?.aliasname === undefined) return { item, relations: [], columns }
  return relation(item, node.alias.aliasname, columns)
}

function resolveFunction(resolver: Resolver, node: RangeFunction, lateral: Scope): Bound {
  const [list, ...more] = node.functions ?? []
  const items = list !== undefined && 'List' in list ? (list.List.items ?? []) : []
  const [call] = items
  if (more.length > 0 || call === undefined) throw notSupported('This table function')
  if (node.coldeflist !== undefined)
    return resolveSubselect(resolver, recordsOf(node, call), lateral, lateral)
  if (!('FuncCall' in call)) return resolveScalar(resolver, call, node, lateral)
  const written = (call.FuncCall.funcname ?? []).map(identifierOf)
  const names = written[0] === 'pg_catalog' ? written.slice(1) : written
  const [name = ''] = names
  if (names.length !== 1 || !returnsRows(name)) return resolveScalar(resolver, call, node, lateral)
  const { agg_distinct, agg_filter, agg_order, agg_star, over, location } = call.FuncCall
  if (agg_distinct || agg_filter || agg_order || agg_star || over) throw notSupported('This table function')
  const env: Env = { scope: lateral, noAggregates: 'FROM', noWindows: 'FROM' }
  const args = (call.FuncCall.args ?? []).map((arg) => resolver.expr(arg, env))
  const id = newId(resolver, 't')
  const set = setCallOf(name, args, location)
  const ordinality = node.ordinality === true
  const alias = node.alias?.aliasname ?? name
  const own = set.outputs.length > 1 ? name : (set.columnName ?? alias)
  const columns = [
    ...set.outputs.map((_, index) => set.columnNames?.[index] ?? own),
    ...(ordinality ? ['ordinality'] : []),
  ].map(
    (columnName, index): ScopeColumn => ({
      name: columnName,
      expr: { kind: 'column', relation: id, index, levelsUp: 0, ...(set.outputs[index] ?? { type: 'int8' }) },
    }),
  )
  // Fields of what an array holds are unnested beside it (nested.ts).
  const item: FunctionItem = { kind: 'function', id, ...set, ordinality, args: [...set.args] }
  resolver.sources.set(id, { from: 'function', item })
  const bound = relation(item, alias, renamed(columns, node.alias))
  if (columns.length > 1) return bound
  return { ...bound, relations: bound.relations.map((each) => ({ ...each, scalar: columns[0]?.expr })) }
}

/** A function that returns one value. */
function resolveScalar(resolver: Resolver, call: Node, node: RangeFunction, lateral: Scope): Bound {
  const name = resultName(call) ?? 'case'
  const alias = node.alias?.aliasname ?? name
  const query = scalarQuery(resolver, call, alias, node.ordinality === true, lateral)
  const id = newId(resolver, 't')
  const item: FromItem = { kind: 'subquery', id, lateral: lateral.relations.length > 0, query }
  return relation(item, alias, outputColumns(id, query.columns, node.alias))
}

const joinTypes: Readonly<Record<string, JoinItem['type']>> = {
  JOIN_INNER: 'INNER',
  JOIN_LEFT: 'LEFT',
  JOIN_RIGHT: 'RIGHT',
  JOIN_FULL: 'FULL',
}

function resolveJoin(resolver: Resolver, node: JoinExpr, scope: Scope, lateral: Scope): Bound {
  if (node.larg === undefined || node.rarg === undefined)
    throw new SqlError('42601', 'A join needs two sides.')
  const type = joinTypes[String(node.jointype)]
  if (type === undefined) throw notSupported('This join')
  const left = resolveItem(resolver, node.larg, scope, lateral)
  // The right side may be LATERAL over the left.
  spend(resolver, (lateral.columns.length + left.columns.length) >> 4)
  const inner: Scope = {
    ...lateral,
    relations: [...lateral.relations, ...left.relations],
    columns: [...lateral.columns, ...left.columns],
  }
  const right = resolveItem(resolver, node.rarg, scope, inner)
  const joined = newScope(scope.outer)
  addTo(resolver, joined, left)
  addTo(resolver, joined, right)
  const names = usingNames(resolver, node, left, right)
  const env: Env = { scope: joined, ...noAggregates }
  const merged = names.map((name) => mergeColumn(resolver, name, left, right, type))
  const on =
    merged.length > 0
      ? logic(
          'AND',
          merged.map(({ equal }) => equal),
        )
      : node.quals &&
        conditionAt(
          resolver,
          node.quals,
          { ...env, scope: { ...joined, outer: scope.outer, ctes: scope.ctes } },
          'JOIN/ON',
        )
  const columns = [
    ...merged.map(({ column }) => column),
    ...[...left.columns, ...right.columns].filter(({ name }) => !names.includes(name)),
  ]
  const kind = on === undefined && type === 'INNER' ? 'CROSS' : type
  const item: FromItem = { kind: 'join', type: kind, left: left.item, right: right.item, on }
  const alias = node.alias?.aliasname
  if (alias === undefined) {
    const lacking = (bound: Bound, types: readonly JoinItem['type'][]) =>
      types.includes(type) ? bound.relations.map((each) => ({ ...each, mayLack: true })) : bound.relations
    const relations = [...lacking(left, ['RIGHT', 'FULL']), ...lacking(right, ['LEFT', 'FULL'])]
    return { item, relations, columns }
  }
  return relation(item, alias, renamed(namedColumns(resolver, columns), node.alias))
}

function usingNames(resolver: Resolver, node: JoinExpr, left: Bound, right: Bound): readonly string[] {
  if (!node.isNatural) return (node.usingClause ?? []).map(identifierOf)
  return namedColumns(resolver, left.columns)
    .map(({ name }) => name)
    .filter((name) => right.columns.some((column) => column.name === name))
}

function mergeColumn(
  resolver: Resolver,
  name: string,
  left: Bound,
  right: Bound,
  type: JoinItem['type'],
): { readonly column: ScopeColumn; readonly equal: Expr } {
  const [a, b] = [left, right].map((side) => {
    const found = side.columns.filter((column) => column.name === name)
    if (found.length > 1) throw new SqlError('42702', `common column name "${name}" appears more than once`)
    if (found[0] === undefined)
      throw new SqlError('42703', `column "${name}" specified in USING clause does not exist`)
    return found[0].expr
  })
  if (a === undefined || b === undefined) throw new SqlError('42703', `column "${name}" does not exist`)
  for (const side of [a, b]) use(resolver, side, 0)
  const { exprs, type: common } = unify([a, b], 'JOIN/USING')
  const equal = applyOperator('=', [a, b])
  const [first = a, second = b] = exprs
  const expr: Expr =
    type === 'FULL'
      ? { kind: 'call', type: common, def: special.coalesce, args: [first, second] }
      : typed(type === 'RIGHT' ? second : first)
  return { column: { name, expr }, equal }
}
