/**
 * Decides whether an expression can fail, from its types alone and for all engines at once. An error that a hidden row
 * causes reveals that row, so barrier.ts keeps hidden values out of expressions that can fail.
 */

import { elementOf, isArray, type NumericSize, type SqlType } from '../../../core/sql-type.ts'
import { childrenOf, type Expr, type FromItem, type Query, type QueryBody, type Typed } from '../base/ir.ts'
import { isFloat, isInteger, isNumber, isString } from '../base/types.ts'
import * as special from '../functions/special.ts'
import { groupExprs } from '../resolve/grouping.ts'

/** Expressions that were checked already and cannot fail, as a condition and as a result. */
interface Seen {
  readonly conditions: Set<Expr>
  readonly results: Set<Expr>
}

/**
 * Whether a condition of a statement can fail, for an engine that computes results of the filtered rows only.
 *
 * @param query the whole statement
 */
export function canFail(query: Query): boolean {
  return queryCanFail(query, true, { conditions: new Set(), results: new Set() })
}

/** Whether an expression can fail anywhere, its subqueries included. */
export function expressionCanFail(expr: Expr): boolean {
  return exprCanFail(expr, false, { conditions: new Set(), results: new Set() })
}

/** @param top whether the client alone reads the result */
function queryCanFail(query: Query, top: boolean, seen: Seen): boolean {
  const results = query.orderBy.map(({ expr }) => expr)
  return (
    query.ctes.some((cte) => queryCanFail(cte.query, false, seen)) ||
    bodyCanFail(query.body, top, seen) ||
    results.some((expr) => exprCanFail(expr, top, seen))
  )
}

function bodyCanFail(body: QueryBody, top: boolean, seen: Seen): boolean {
  const isResult = (expr: Expr) => exprCanFail(expr, top, seen)
  if (body.kind === 'values') return body.rows.some((row) => row.some(isResult))
  if (body.kind === 'set') {
    const { left, right } = body
    const together = left.columns.map((column, index) => [column, right.columns[index] ?? column])
    return (
      (!top && together.some(decimalsCanFail)) ||
      queryCanFail(left, top, seen) ||
      queryCanFail(right, top, seen)
    )
  }
  const conditions = [body.where, body.having].filter((each) => each !== undefined)
  return (
    body.from.some((item) => itemCanFail(item, seen)) ||
    // An engine may apply a HAVING condition on a group key to each row instead.
    conditions.some((expr) => exprCanFail(expr, false, seen)) ||
    [...body.targets, ...body.groupBy.flatMap(groupExprs), ...(body.distinctOn ?? [])].some(isResult)
  )
}

function itemCanFail(item: FromItem, seen: Seen): boolean {
  switch (item.kind) {
    case 'table':
    case 'cte':
      return false
    case 'subquery':
      return queryCanFail(item.query, false, seen)
    case 'function':
      return true
    case 'join':
      return (
        itemCanFail(item.left, seen) ||
        itemCanFail(item.right, seen) ||
        (item.on !== undefined && exprCanFail(item.on, false, seen))
      )
  }
}

/** @param isResult whether the client alone reads the value; then only its subqueries are checked */
function exprCanFail(expr: Expr, isResult: boolean, seen: Seen): boolean {
  // The most frequent kinds first.
  if (expr.kind === 'column' || expr.kind === 'literal' || expr.kind === 'parameter') return false
  const harmless = isResult ? seen.results : seen.conditions
  if (harmless.has(expr)) return false
  harmless.add(expr)
  if (!isResult && nodeCanFail(expr)) return true
  if (expr.kind === 'subquery' && queryCanFail(expr.query, false, seen)) return true
  // No engine computes an aggregate before the filters below it.
  const below = isResult || expr.kind === 'aggregate'
  return childrenOf(expr).some((child) => exprCanFail(child, below, seen))
}

/** Whether an expression itself can fail, apart from its arguments. An aggregate's own failure is ignored. */
export function nodeCanFail(expr: Expr): boolean {
  switch (expr.kind) {
    case 'cast':
      return castCanFail(expr.arg.type, expr.type, expr.size)
    case 'call': {
      const [, pattern] = expr.args
      // A pattern that ends in its escape character fails; the compiler has checked a literal one.
      if (expr.def === special.like || expr.def === special.iLike) return pattern?.kind !== 'literal'
      if (expr.def.writesTexts && expr.args.some(({ type }) => hasNoSureText(type))) return true
      return expr.def.fallible || decimalsCanFail(expr.args)
    }
    case 'window':
      return expr.call.kind === 'call' && nodeCanFail(expr.call)
    case 'in':
      return decimalsCanFail([expr.arg, ...expr.list])
    case 'array':
      return decimalsCanFail(expr.elements)
    case 'case':
      return decimalsCanFail([
        ...expr.whens.map(({ result }) => result),
        ...(expr.otherwise ? [expr.otherwise] : []),
      ])
    case 'subquery':
      return expr.args.some((arg, index) => decimalsCanFail([arg, expr.query.columns[index] ?? arg]))
    default:
      return false
  }
}

const moments: readonly SqlType[] = ['timestamp', 'timestamptz']

function castCanFail(from: SqlType, to: SqlType, size: NumericSize | undefined): boolean {
  // DuckDB casts all children of a list, those of hidden rows included.
  if (isArray(from) && isArray(to)) return elementOf(from) !== elementOf(to) || size !== undefined
  if (isArray(from) && isString(to)) return true
  if (to === 'float8') return isString(from)
  // A timestamp may lie in a year that has no text.
  if (isString(to)) return moments.includes(from)
  if (from === to) return size !== undefined
  if (isInteger(from)) return !isFloat(to) && !(to === 'numeric' && size === undefined) && !isWider(from, to)
  // A date may lie beyond all timestamps.
  return !(moments.includes(from) && [...moments, 'date'].includes(to))
}

/** Whether a value, or an element of an array, may have no text. */
function hasNoSureText(type: SqlType): boolean {
  return castCanFail(isArray(type) ? elementOf(type) : type, 'text', undefined)
}

function isWider(from: SqlType, to: SqlType): boolean {
  const order: readonly SqlType[] = ['int2', 'int4', 'int8']
  return order.indexOf(from) < order.indexOf(to)
}

/**
 * Whether decimals in one place may have no common type. Engines bring them to one scale, and a large number may not
 * fit beside a long fraction.
 */
export function decimalsCanFail(exprs: readonly (Expr | Typed)[]): boolean {
  const decimals = exprs.filter(({ type }) => type === 'numeric' || type === 'numeric[]')
  if (decimals.length < 2 || decimals.some((each) => 'kind' in each && each.kind === 'aggregate'))
    return false
  const sizes = decimals.map(sizeOf)
  const known = sizes.filter((size) => size !== undefined)
  const whole = Math.max(0, ...known.map(([precision, scale]) => precision - scale))
  const scale = Math.max(0, ...known.map((size) => size[1]))
  if (known.length === sizes.length) return whole + scale > 38
  // Integer literals do not change the scale of the others.
  const isWhole = (each: Expr | Typed) => 'kind' in each && each.kind === 'literal' && sizeOf(each)?.[1] === 0
  return decimals.filter((each) => !isWhole(each)).length > 1
}

/** Precision and scale of a numeric as an engine has it; undefined where only the engine knows. */
function sizeOf(expr: Expr | Typed): NumericSize | undefined {
  if (expr.size !== undefined || !('kind' in expr)) return expr.size
  if (expr.kind === 'literal') return [1, 0]
  if (expr.kind === 'parameter') return [38, 10]
  if (expr.kind !== 'cast' || !isNumber(expr.arg.type)) return undefined
  return expr.arg.type === 'int8' ? [19, 0] : isInteger(expr.arg.type) ? [10, 0] : undefined
}
