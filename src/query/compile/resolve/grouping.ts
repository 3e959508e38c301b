/** Checks expressions of a grouped SELECT: only group keys, aggregates and expressions of these are allowed. */

import { childrenOf, type Expr, exprKey, type GroupElement, type Select } from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { typed } from './coerce.ts'
import { asWritten } from './place.ts'

/**
 * Checks every expression that is computed per group.
 *
 * @throws SqlError 42803 for a column that is neither grouped nor inside an aggregate
 */
export function checkGrouping(select: Select, exprs: readonly Expr[]): void {
  const keys = new Set(select.groupBy.flatMap(groupExprs).map(exprKey))
  for (const expr of exprs) check(expr, keys)
}

/**
 * A column of the select list as a key of GROUP BY.
 *
 * @throws SqlError 42803 or 42P20 where it holds an aggregate or window function
 */
export function groupable(expr: Expr): Expr {
  checkGroupable(expr)
  return typed(expr)
}

function checkGroupable(expr: Expr): void {
  if (expr.kind === 'aggregate')
    throw new SqlError('42803', 'aggregate functions are not allowed in GROUP BY')
  if (expr.kind === 'window') throw new SqlError('42P20', 'window functions are not allowed in GROUP BY')
  for (const child of childrenOf(expr)) checkGroupable(child)
}

/** Every expression that a GROUP BY element names. */
export function groupExprs(element: GroupElement): readonly Expr[] {
  if (element.kind === 'expr') return [element.expr]
  return element.kind === 'empty' ? [] : element.items.flatMap(groupExprs)
}

function check(expr: Expr, keys: ReadonlySet<string>): void {
  if (expr.kind === 'literal' || expr.kind === 'parameter') return
  if (expr.kind === 'aggregate') {
    // What is ordered WITHIN GROUP is the last argument; those before it are one value of the group.
    if (expr.def.ordered) for (const arg of expr.args.slice(0, -1)) check(arg, keys)
    return
  }
  if (keys.has(exprKey(expr))) return
  if (expr.kind === 'grouping') {
    if (expr.args.every((arg) => keys.has(exprKey(arg)))) return
    throw new SqlError(
      '42803',
      'arguments to GROUPING must be grouping expressions of the associated query level',
    )
  }
  if (expr.kind === 'column' && expr.levelsUp === 0) {
    const { name, position } = asWritten(expr) ?? {}
    const what = name === undefined ? 'a column' : `column "${name}"`
    const message = `${what} must appear in the GROUP BY clause or be used in an aggregate function`
    throw new SqlError('42803', message, position)
  }
  for (const child of childrenOf(expr)) check(child, keys)
}
