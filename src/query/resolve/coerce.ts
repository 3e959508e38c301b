/** Conversions: literals and parameters take the type of their place, the rest is cast as PostgreSQL would. */

import type { NumericSize, SqlType } from '../../core/sql-type.ts'
import type { Expr } from '../ir.ts'
import { literalSize, readLiteral } from '../literal.ts'
import { SqlError } from '../sql-error.ts'
import { casts, commonType, convertsImplicitly, isFloat, isNumber, spokenType } from '../types.ts'
import { atOneScale } from './decimal.ts'

/** NULL of a type. */
export function nullOf(type: SqlType): Expr {
  return { kind: 'literal', type, value: null }
}

/** A literal of a type from its text. */
export function literalOf(text: string, type: SqlType): Expr {
  const value = readLiteral(text, type)
  const size = type === 'numeric' ? literalSize(value) : undefined
  return { kind: 'literal', type, value, ...(size && { size }) }
}

/**
 * The expression as a type, where PostgreSQL would convert it unasked.
 *
 * @throws SqlError 42804 where it would not; 22P02 and its like for a literal that is no such value
 */
export function coerce(expr: Expr, type: SqlType): Expr {
  if (expr.type === type) return expr
  const settled = settle(expr, type)
  if (settled !== undefined) return settled
  if (!convertsImplicitly(expr.type, type))
    throw new SqlError(
      '42804',
      `an expression is of type ${spokenType(expr.type)} where ${spokenType(type)} is needed`,
    )
  return convert(expr, type)
}

/**
 * An explicit cast.
 *
 * @param size of numeric(p,s)
 * @param length of varchar(n)
 * @throws SqlError 42804 where there is none
 */
export function castTo(
  expr: Expr,
  type: SqlType,
  size?: NumericSize | undefined,
  length?: number | undefined,
): Expr {
  const settled = settle(expr, type) ?? (expr.type === type ? expr : undefined)
  if (settled !== undefined && size === undefined && length === undefined) return settled
  // Its digits may be more than a numeric of the engines holds.
  if (expr.kind === 'literal' && expr.type === 'numeric' && expr.value !== null && isFloat(type))
    return literalOf(expr.value, type)
  const arg = settled ?? expr
  if (!casts(arg.type, type))
    throw new SqlError('42804', `cannot cast type ${spokenType(arg.type)} to ${spokenType(type)}`)
  return { kind: 'cast', type, arg, size, length }
}

/** A literal or parameter without a type takes the given one; a text literal's cast is done here. */
function settle(expr: Expr, type: SqlType): Expr | undefined {
  if (expr.type !== 'unknown') return undefined
  if (expr.kind === 'literal') return expr.value === null ? nullOf(type) : literalOf(expr.value, type)
  if (expr.kind === 'parameter') {
    expr.type = type
    return expr
  }
  return undefined
}

function convert(expr: Expr, type: SqlType): Expr {
  // Whole numbers keep their digits, so that decimals stay as narrow as they can.
  if (expr.kind === 'literal' && expr.value !== null && isNumber(expr.type) && isNumber(type))
    return literalOf(expr.value, type)
  return { kind: 'cast', type, arg: expr }
}

/** A column's or statement's result: what has no type yet is text. */
export function typed(expr: Expr): Expr {
  return expr.type === 'unknown' ? coerce(expr, 'text') : expr
}

/**
 * All as the one type that they have in common.
 *
 * @param what for the message: CASE, UNION, …
 * @throws SqlError 42804 where there is none
 */
export function unify(
  exprs: readonly Expr[],
  what: string,
): { readonly exprs: readonly Expr[]; readonly type: SqlType } {
  const type = commonType(exprs.map((expr) => expr.type))
  if (type === undefined) {
    const [first, second] = [...new Set(exprs.map((expr) => spokenType(expr.type)))]
    throw new SqlError('42804', `${what} types ${first} and ${second} cannot be matched`)
  }
  const coerced = exprs.map((expr) => coerce(expr, type))
  return { exprs: type === 'numeric' ? atOneScale(coerced) : coerced, type }
}

/** A boolean condition. */
export function condition(expr: Expr, what: string): Expr {
  if (expr.type !== 'bool' && expr.type !== 'unknown')
    throw new SqlError('42804', `argument of ${what} must be type boolean, not type ${spokenType(expr.type)}`)
  return coerce(expr, 'bool')
}
