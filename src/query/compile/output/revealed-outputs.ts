/**
 * Finds which columns of a result a reader sees in clear though the engine has protected values only. Such a column may
 * be passed on to the result and nothing else: an engine would compare, sort and group by what is stored.
 */

import type { Reveal } from '../../../core/reveal.ts'
import {
  type ColumnExpr,
  childrenOf,
  columnAt,
  type Expr,
  type FromItem,
  type Query,
  type Relation,
  relationsOf,
  type Select,
} from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { groupExprs } from '../resolve/grouping.ts'

/** By the place of each output; undefined where it is as the engine gives it. */
export type RevealedOutputs = readonly (Reveal | undefined)[]

interface Walk {
  readonly relations: Map<string, Relation>
  readonly ctes: Map<string, Query>
  readonly done: Map<Query, RevealedOutputs>
}

/**
 * The revealed columns of a statement's result.
 * @throws SqlError 0A000 where a revealed column is used in any other way
 */
export function revealedOutputs(query: Query): RevealedOutputs {
  return outputsOf({ relations: new Map(), ctes: new Map(), done: new Map() }, query)
}

function outputsOf(walk: Walk, query: Query): RevealedOutputs {
  const done = walk.done.get(query)
  if (done !== undefined) return done
  for (const { id, query: cte } of query.ctes) walk.ctes.set(id, cte)
  for (const { query: cte } of query.ctes) outputsOf(walk, cte)
  const { body } = query
  let outputs: RevealedOutputs = query.columns.map(() => undefined)
  if (body.kind === 'select') outputs = ofSelect(walk, body)
  else if (body.kind === 'values') for (const expr of body.rows.flat()) assertPlain(walk, expr)
  else {
    // None is revealed, which a recursive query must know of itself.
    walk.done.set(query, outputs)
    for (const side of [body.left, body.right]) assertNone(outputsOf(walk, side))
  }
  for (const { expr } of query.orderBy) assertPlain(walk, expr)
  for (const expr of [query.limit, query.offset]) if (expr) assertPlain(walk, expr)
  walk.done.set(query, outputs)
  return outputs
}

function ofSelect(walk: Walk, select: Select): RevealedOutputs {
  const { from, targets, where, groupBy, having, distinct, distinctOn = [] } = select
  // Before any is walked, because they may name each other.
  for (const item of from.flatMap(relationsOf)) walk.relations.set(item.id, item)
  for (const item of from) checkFrom(walk, item)
  for (const expr of [...distinctOn, ...groupBy.flatMap(groupExprs)]) assertPlain(walk, expr)
  for (const expr of [where, having]) if (expr) assertPlain(walk, expr)
  const outputs = targets.map((target) => {
    if (target.kind === 'column') return ofColumn(walk, target)
    assertPlain(walk, target)
    return undefined
  })
  if (distinct) assertNone(outputs)
  return outputs
}

function checkFrom(walk: Walk, item: FromItem): void {
  if (item.kind === 'join') {
    checkFrom(walk, item.left)
    checkFrom(walk, item.right)
    if (item.on) assertPlain(walk, item.on)
  } else if (item.kind === 'function') for (const arg of item.args) assertPlain(walk, arg)
  else if (item.kind === 'subquery') outputsOf(walk, item.query)
}

function ofColumn(walk: Walk, { relation, index }: ColumnExpr): Reveal | undefined {
  const item = walk.relations.get(relation)
  if (item?.kind === 'table') return columnAt(item.table, index)?.reveal
  const query =
    item?.kind === 'subquery' ? item.query : item?.kind === 'cte' ? walk.ctes.get(item.cte) : undefined
  return query && outputsOf(walk, query)[index]
}

/** @throws SqlError 0A000 where the expression depends on a revealed column */
function assertPlain(walk: Walk, expr: Expr): void {
  if (expr.kind === 'column') assertNone([ofColumn(walk, expr)])
  if (expr.kind === 'subquery') {
    const outputs = outputsOf(walk, expr.query)
    // Whether there is a row does not depend on what its columns hold.
    if (expr.form !== 'exists') assertNone(outputs)
  }
  for (const child of childrenOf(expr)) assertPlain(walk, child)
}

function assertNone(outputs: RevealedOutputs): void {
  const used = outputs.find((output) => output !== undefined)
  if (used === undefined) return
  throw new SqlError(
    '0A000',
    `Column ${used.column} is revealed to you in results only: a statement can select it as it is, and not compute, compare, group or sort by it.`,
  )
}
