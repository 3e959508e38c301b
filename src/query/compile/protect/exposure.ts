/**
 * Finds the columns that a statement reads in something that can fail, directly or through the columns of
 * subqueries. It depends on no policy and no engine; barrier.ts decides how such a column is written.
 */

import {
  type ColumnExpr,
  childrenOf,
  type Expr,
  type FromItem,
  type Query,
  type Relation,
  relationsOf,
  type Select,
} from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { groupExprs } from '../resolve/grouping.ts'
import { decimalsCanFail, expressionCanFail, nodeCanFail } from './fallible.ts'

/** Indexes of columns, from 0, by the id of a table's appearance. */
export type ColumnPlaces = ReadonlyMap<string, ReadonlySet<number>>

interface Exposure {
  /** Columns read by something that can fail. */
  readonly exposed: ColumnPlaces
  /** Columns read by a condition that cannot fail: see `isBare`. */
  readonly bare: ColumnPlaces
}

/**
 * The exposure of a whole statement.
 * @throws SqlError XX000 where a column names a relation that the statement does not have
 */
export function exposureOf(query: Query): Exposure {
  const walk: Walk = {
    relations: new Map(),
    ctes: new Map(),
    exposed: new Map(),
    bare: new Map(),
    seen: new Set(),
  }
  walkQuery(walk, query)
  return walk
}

/** The conditions that one condition joins by AND. */
export function conjuncts(condition: Expr): readonly Expr[] {
  return condition.kind === 'logic' && condition.op === 'AND'
    ? condition.args.flatMap(conjuncts)
    : [condition]
}

/**
 * Whether a condition may read columns without a barrier. It cannot fail, so it reveals nothing of hidden rows, and
 * the engine can skip row groups by it. A condition on columns of an outer query may not.
 */
export function isBare(condition: Expr): boolean {
  return !expressionCanFail(condition) && isLocal(condition)
}

function isLocal(expr: Expr): boolean {
  if (expr.kind === 'column') return expr.levelsUp === 0
  return expr.kind !== 'subquery' && childrenOf(expr).every(isLocal)
}

interface Walk {
  readonly relations: Map<string, Relation>
  readonly ctes: Map<string, Query>
  readonly exposed: Map<string, Set<number>>
  readonly bare: Map<string, Set<number>>
  /** Columns and queries that are exposed already, so that none is walked twice. */
  readonly seen: Set<string | Query | Expr>
}

function add(places: Map<string, Set<number>>, { relation, index }: ColumnExpr): void {
  const indexes = places.get(relation) ?? new Set()
  places.set(relation, indexes.add(index))
}

function walkQuery(walk: Walk, query: Query): void {
  for (const { id, query: cte } of query.ctes) {
    walk.ctes.set(id, cte)
    walkQuery(walk, cte)
    // Whether its bounds are met depends on all that a recursive query reads.
    if (cte.body.kind === 'set' && cte.body.recursive !== undefined)
      for (const index of cte.columns.keys()) exposeOutput(walk, cte, index)
  }
  const { body } = query
  if (body.kind === 'select') walkSelect(walk, body)
  else if (body.kind === 'values') for (const expr of body.rows.flat()) walkExpr(walk, expr)
  else {
    const { left, right } = body
    walkQuery(walk, left)
    walkQuery(walk, right)
    for (const [index, column] of left.columns.entries())
      if (decimalsCanFail([column, right.columns[index] ?? column])) exposeOutput(walk, query, index)
  }
  for (const { expr } of query.orderBy) walkExpr(walk, expr)
}

function walkSelect(walk: Walk, select: Select): void {
  const { from, targets, where, groupBy, having, distinctOn = [] } = select
  // Before any is walked, because they may name each other.
  for (const item of from.flatMap(relationsOf)) walk.relations.set(item.id, item)
  for (const item of from) walkItem(walk, item)
  if (where) walkCondition(walk, where)
  for (const expr of [...targets, ...groupBy.flatMap(groupExprs), ...distinctOn]) walkExpr(walk, expr)
  if (having) walkExpr(walk, having)
}

function walkItem(walk: Walk, item: FromItem): void {
  if (item.kind === 'subquery') walkQuery(walk, item.query)
  if (item.kind === 'function')
    for (const arg of item.args) {
      walkExpr(walk, arg)
      expose(walk, arg)
    }
  if (item.kind !== 'join') return
  walkItem(walk, item.left)
  walkItem(walk, item.right)
  if (item.on) walkCondition(walk, item.on)
}

function walkCondition(walk: Walk, condition: Expr): void {
  for (const each of conjuncts(condition))
    if (isBare(each)) addColumns(walk.bare, each)
    else walkExpr(walk, each)
}

function addColumns(places: Map<string, Set<number>>, expr: Expr): void {
  if (expr.kind === 'column') add(places, expr)
  for (const child of childrenOf(expr)) addColumns(places, child)
}

/**
 * Exposes all columns of an expression that can fail: whether the failing part is reached may depend on any of them.
 * Only an aggregate is a boundary, because no engine computes it before the filters below it.
 */
function walkExpr(walk: Walk, expr: Expr): void {
  if (expr.kind === 'column' || expr.kind === 'literal' || expr.kind === 'parameter') return
  if (expr.kind === 'aggregate') {
    for (const child of childrenOf(expr)) walkExpr(walk, child)
    return
  }
  const inner: Expr[] = []
  if (canFailHere(walk, expr, inner)) expose(walk, expr)
  for (const each of inner) walkExpr(walk, each)
}

/** @param inner receives the aggregates inside the expression */
function canFailHere(walk: Walk, expr: Expr, inner: Expr[]): boolean {
  if (expr.kind === 'aggregate') {
    inner.push(expr)
    return false
  }
  if (expr.kind === 'subquery') walkQuery(walk, expr.query)
  // The arguments of a window's aggregate are computed row by row, as all else here.
  const below = childrenOf(expr).map((child) => canFailHere(walk, child, inner))
  return nodeCanFail(expr) || below.includes(true)
}

/** Exposes every column that the expression reads outside its aggregates. */
function expose(walk: Walk, expr: Expr): void {
  if (expr.kind === 'aggregate' || walk.seen.has(expr)) return
  walk.seen.add(expr)
  if (expr.kind === 'column') exposeColumn(walk, expr)
  if (expr.kind === 'subquery')
    for (const index of expr.query.columns.keys()) exposeOutput(walk, expr.query, index)
  for (const child of childrenOf(expr)) expose(walk, child)
}

function exposeColumn(walk: Walk, column: ColumnExpr): void {
  const { relation, index } = column
  // ORDER BY names a column of a set operation's result by its index.
  if (relation === '') return
  const item = walk.relations.get(relation)
  const query =
    item?.kind === 'cte' ? walk.ctes.get(item.cte) : item?.kind === 'subquery' ? item.query : undefined
  if (item?.kind === 'table') add(walk.exposed, column)
  else if (item?.kind === 'function') for (const arg of item.args) expose(walk, arg)
  else if (query !== undefined) exposeOutput(walk, query, index)
  else throw new SqlError('XX000', 'The statement could not be compiled.')
}

function exposeOutput(walk: Walk, { body }: Query, index: number): void {
  const exprs = body.kind === 'values' ? body.rows.map((row) => row[index]) : []
  if (body.kind === 'select') exprs.push(body.targets[index])
  if (body.kind === 'set') {
    exposeOutput(walk, body.left, index)
    exposeOutput(walk, body.right, index)
  }
  for (const expr of exprs) if (expr) expose(walk, expr)
}
