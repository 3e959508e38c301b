/**
 * LIMIT, OFFSET and FETCH: a parameter of any number type, a literal, or arithmetic over literals, also as a scalar
 * subquery of no table. Engines take digits there and nothing else, so what depends on rows is refused.
 */

import type { Node, SelectStmt } from 'libpg-query'
import type { CallExpr, Expr, LiteralExpr, ParameterExpr } from '../base/ir.ts'
import { integerRange } from '../base/literal.ts'
import { notNegative, roundedCount } from '../base/row-count.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { isInteger, isNumber, spokenType } from '../base/types.ts'
import { coerce, literalIn, literalOf } from './coerce.ts'
import { type Env, newScope, type Resolver, type Scope } from './context.ts'

type Clause = 'LIMIT' | 'OFFSET'
interface Limits {
  readonly limit?: Expr
  readonly offset?: Expr
}

/** The counts of a statement. @throws SqlError 2201W, 2201X, 42804, 0A000, and those of arithmetic */
export function resolveLimits(resolver: Resolver, node: SelectStmt, scope: Scope): Limits {
  const env: Env = {
    scope: { ...newScope(undefined), ctes: scope.ctes },
    noAggregates: 'LIMIT',
    noWindows: 'LIMIT',
  }
  const read = (each: Node | undefined, clause: Clause): Expr | undefined =>
    each === undefined ? undefined : countOf(resolver.expr(each, env), clause)
  const limit = read(node.limitCount, 'LIMIT')
  const offset = read(node.limitOffset, 'OFFSET')
  return { ...(limit && { limit }), ...(offset && { offset }) }
}

function countOf(expr: Expr, clause: Clause): Expr | undefined {
  const counted = expr.type === 'unknown' ? coerce(expr, 'int8') : expr
  if (!isNumber(counted.type))
    throw new SqlError(
      '42804',
      `argument of ${clause} must be type bigint, not type ${spokenType(counted.type)}`,
    )
  const parameter = widened(counted)
  if (parameter !== undefined) return parameter
  // A cast that could fail needs the parameter's value.
  const known = counted.kind === 'cast' ? literalIn(counted) : undefined
  if (known?.kind === 'parameter') return known
  const value = constantOf(known ?? counted)
  if (value === undefined) throw notSupported(`${clause} of an expression over rows or parameters`)
  // NULL limits nothing.
  if (value.value === null) return undefined
  return literalOf(notNegative(roundedCount(value.value, value.type), clause), 'int8')
}

const widths = ['int2', 'int4', 'int8']

/** A parameter, also one that is cast to a wider integer, as SQLAlchemy does of what psycopg declares by its value. */
function widened(expr: Expr): ParameterExpr | undefined {
  if (expr.kind === 'parameter') return expr
  if (expr.kind !== 'cast' || !isInteger(expr.type) || !isInteger(expr.arg.type)) return undefined
  return widths.indexOf(expr.arg.type) <= widths.indexOf(expr.type) ? widened(expr.arg) : undefined
}

/** The literal that an expression without rows comes to; undefined where it is another. */
function constantOf(expr: Expr): LiteralExpr | undefined {
  if (expr.kind === 'literal') return expr
  if (expr.kind === 'cast') {
    const arg = constantOf(expr.arg)
    if (arg === undefined || arg.value === null) return arg
    return isNumber(arg.type) && isInteger(expr.type)
      ? inRange(BigInt(roundedCount(arg.value, arg.type)), expr.type)
      : undefined
  }
  if (expr.kind === 'call') return calculated(expr)
  if (expr.kind !== 'subquery' || expr.form !== 'scalar') return undefined
  const { body, ctes, limit, offset } = expr.query
  if (body.kind !== 'select' || body.from.length > 0 || ctes.length > 0) return undefined
  if (limit ?? offset ?? body.where ?? body.having) return undefined
  return body.groupBy.length === 0 && body.targets[0] !== undefined ? constantOf(body.targets[0]) : undefined
}

const operators: Readonly<Record<string, (left: bigint, right: bigint) => bigint>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / nonZero(right),
  '%': (left, right) => left % nonZero(right),
}

function calculated({ def, args, type }: CallExpr): LiteralExpr | undefined {
  const operator = operators[def.name]
  const values = args.map(constantOf)
  if (operator === undefined || !isInteger(type)) return undefined
  const numbers = values.map((one) =>
    one !== undefined && one.value !== null && isInteger(one.type) ? BigInt(one.value) : undefined,
  )
  const [left, right] = numbers.length === 1 ? [0n, numbers[0]] : numbers
  return left === undefined || right === undefined ? undefined : inRange(operator(left, right), type)
}

function nonZero(value: bigint): bigint {
  if (value === 0n) throw new SqlError('22012', 'division by zero')
  return value
}

function inRange(value: bigint, type: keyof typeof integerRange): LiteralExpr {
  const [least, greatest] = integerRange[type]
  if (value < least || value > greatest) throw new SqlError('22003', `${spokenType(type)} out of range`)
  return literalOf(String(value), type)
}
