/** Converts expressions: untyped literals and parameters take the type of their place, others get a cast. */

import { type ArrayType, elementOf, isArray, type NumericSize, type SqlType } from '../../../core/sql-type.ts'
import type { CallExpr, Expr, LiteralExpr, ParameterExpr } from '../base/ir.ts'
import { isLocalTime, literalSize, readLiteral } from '../base/literal.ts'
import { SqlError } from '../base/sql-error.ts'
import {
  casts,
  commonType,
  convertsImplicitly,
  isFloat,
  isNumber,
  isString,
  spokenType,
} from '../base/types.ts'
import { inOneForm } from './alike.ts'
import { atOneScale } from './decimal.ts'

/** NULL of a type. */
export function nullOf(type: SqlType): LiteralExpr {
  return { kind: 'literal', type, value: null }
}

/** A literal of a type from its text. */
export function literalOf(text: string, type: SqlType): LiteralExpr {
  const value = readLiteral(text, type)
  const size = type === 'numeric' ? literalSize(value) : undefined
  const isLocal = type === 'timestamptz' && isLocalTime(text)
  return { kind: 'literal', type, value, ...(size && { size }), ...(isLocal && { moment: 'local' }) }
}

/**
 * The expression as a type, where PostgreSQL converts implicitly.
 *
 * @throws SqlError 42804 where it does not; 22P02 and similar for an invalid literal
 */
export function coerce(expr: Expr, type: SqlType): Expr {
  if (expr.type === type) return expr
  const given = giveType(expr, type)
  if (given !== undefined) return given
  if (!convertsImplicitly(expr.type, type))
    throw new SqlError(
      '42804',
      `an expression has type ${spokenType(expr.type)} but must have type ${spokenType(type)}`,
    )
  return convert(expr, type)
}

/**
 * An explicit cast.
 *
 * @param size of numeric(p,s)
 * @param length of varchar(n)
 * @throws SqlError 42846 where no such cast exists
 */
export function castTo(
  expr: Expr,
  type: SqlType,
  size?: NumericSize | undefined,
  length?: number | undefined,
): Expr {
  const given = giveType(expr, type) ?? (expr.type === type ? expr : undefined)
  if (given !== undefined && size === undefined && length === undefined) return given
  // A literal may have more digits than the engines' decimals hold.
  if (expr.kind === 'literal' && expr.type === 'numeric' && expr.value !== null && isFloat(type))
    return literalOf(expr.value, type)
  const arg = given ?? expr
  const read = readParameter(arg, type)
  if (read !== undefined) return size === undefined ? read : { kind: 'cast', type, arg: read, size, length }
  if (!casts(arg.type, type))
    throw new SqlError('42846', `cannot cast type ${spokenType(arg.type)} to ${spokenType(type)}`)
  return { kind: 'cast', type, arg, size, length }
}

/** An array with elements of another type. Literals stay literals, which some functions need. */
export function arrayAs(expr: Expr, type: ArrayType): Expr {
  if (expr.kind !== 'array') return castTo(expr, type)
  return { ...expr, type, elements: expr.elements.map((each) => castTo(each, elementOf(type))) }
}

/**
 * A text parameter that is cast to an interval, of which engines read few forms, or to a numeric, whose digits its text
 * tells; undefined for any other cast, and for a numeric without a value.
 */
function readParameter(arg: Expr, type: SqlType): Expr | undefined {
  if (arg.kind !== 'parameter' || !isString(arg.type)) return undefined
  if (type !== 'interval' && !(type === 'numeric' && arg.value !== undefined)) return undefined
  if (arg.value === null) return nullOf(type)
  if (arg.value !== undefined) return literalOf(arg.value, type)
  arg.needsValue = true
  return undefined
}

/** Gives an untyped literal or parameter a type; undefined for any other expression. */
function giveType(expr: Expr, type: SqlType): Expr | undefined {
  if (expr.type !== 'unknown') return undefined
  if (expr.kind === 'literal') return expr.value === null ? nullOf(type) : literalOf(expr.value, type)
  if (expr.kind === 'parameter') {
    expr.type = type
    return expr
  }
  return undefined
}

function convert(expr: Expr, type: SqlType): Expr {
  // A number literal keeps its digits, so that decimals stay narrow.
  if (expr.kind === 'literal' && expr.value !== null && isNumber(expr.type) && isNumber(type))
    return literalOf(expr.value, type)
  return { kind: 'cast', type, arg: expr }
}

/**
 * An expression in a place where engines need a literal. A parameter there becomes its value, where that is known.
 * Else it stays, and the statement cannot be emitted before it is compiled with the value.
 *
 * @param expr already of the type that the place has
 * @returns undefined for an expression that is neither a literal nor a parameter
 * @throws SqlError 22P02 and similar for a value that is not of the type
 */
export function literalIn(expr: Expr): LiteralExpr | ParameterExpr | undefined {
  if (expr.kind === 'literal') return expr
  if (expr.kind === 'array' && expr.elements.every((each) => each.kind === 'literal'))
    return {
      kind: 'literal',
      type: expr.type,
      value: JSON.stringify(expr.elements.map(({ value }) => value)),
    }
  const parameter = castParameter(expr)
  if (parameter === undefined) return undefined
  if (parameter.value === undefined) {
    parameter.needsValue = true
    return parameter
  }
  const { value } = parameter
  if (value === null) return { kind: 'literal', type: expr.type, value }
  // The value must be of the parameter's own type, whatever that is cast to.
  literalOf(value, parameter.type)
  return literalOf(value, expr.type)
}

/**
 * A text that literals and parameters are joined to, in a place where engines need a literal.
 *
 * @returns undefined for any other expression
 */
export function joinedLiteral(expr: Expr): LiteralExpr | ParameterExpr | undefined {
  if (!isJoined(expr)) return undefined
  const parts = expr.args.map((part) => joinedLiteral(part) ?? literalIn(part))
  const open = parts.find((part) => part?.kind === 'parameter')
  if (open !== undefined) return open
  const values = parts.map((part) => (part?.kind === 'literal' ? part.value : null))
  return values.includes(null) ? nullOf('text') : literalOf(values.join(''), 'text')
}

function isJoined(expr: Expr): expr is CallExpr {
  if (expr.kind !== 'call' || expr.def.name !== '||' || expr.type !== 'text') return false
  return expr.args.every((part) => isJoined(part) || part.kind === 'literal' || castParameter(part))
}

/** The parameter of `$1`, or of casts of it that change nothing of its text. */
function castParameter(expr: Expr): ParameterExpr | undefined {
  if (expr.kind === 'parameter') return expr
  if (expr.kind !== 'cast' || expr.size !== undefined || expr.length !== undefined) return undefined
  const isSameText =
    (isArray(expr.type) && isString(expr.arg.type)) ||
    (isString(expr.type) === isString(expr.arg.type) && isNumber(expr.type) === isNumber(expr.arg.type))
  return isSameText ? castParameter(expr.arg) : undefined
}

/** The expression with a type: an untyped one becomes text, as in a result. */
export function typed(expr: Expr): Expr {
  return expr.type === 'unknown' ? coerce(expr, 'text') : expr
}

/**
 * All expressions as their common type.
 *
 * @param what for the message: CASE, UNION, …
 * @param isCompared whether they are compared with one another, and not a result
 * @throws SqlError 42804 where there is none
 */
export function unify(
  exprs: readonly Expr[],
  what: string,
  isCompared = false,
): { readonly exprs: readonly Expr[]; readonly type: SqlType } {
  const type = commonType(exprs.map((expr) => expr.type))
  if (type === undefined) {
    const [first, second] = [...new Set(exprs.map((expr) => spokenType(expr.type)))]
    throw new SqlError('42804', `${what} types ${first} and ${second} cannot be matched`)
  }
  const coerced = exprs.map((expr) => coerce(expr, type))
  if (type !== 'numeric') return { exprs: coerced, type }
  return { exprs: (isCompared && inOneForm(coerced)) || atOneScale(coerced), type }
}

/** A boolean condition. @param what names the clause in the message */
export function condition(expr: Expr, what: string): Expr {
  if (expr.type !== 'bool' && expr.type !== 'unknown')
    throw new SqlError('42804', `argument of ${what} must be type boolean, not type ${spokenType(expr.type)}`)
  return coerce(expr, 'bool')
}

/** The elements of an array literal; undefined for NULL. */
export function literalElements({ type, value }: LiteralExpr): readonly LiteralExpr[] | undefined {
  if (value === null || !isArray(type)) return undefined
  const element = elementOf(type)
  return (JSON.parse(value) as (string | null)[]).map((each) => {
    const size = element === 'numeric' && each !== null ? literalSize(each) : undefined
    return { kind: 'literal', type: element, value: each, ...(size && { size }) }
  })
}

/** The elements of an array literal or constructor; undefined for any other array, and for NULL. */
export function elementsOf(array: Expr): readonly Expr[] | undefined {
  if (array.kind === 'array') return array.elements
  return array.kind === 'literal' ? literalElements(array) : undefined
}
