/**
 * Resolves numerics of more than 38 digits, `DECIMAL(65,0)`. They may be added, subtracted and summed, and must end in a
 * cast to another type; engines have nothing else for them.
 */

import type { NumericSize, SqlType } from '../../../core/sql-type.ts'
import type { AggregateDef, FunctionDef } from '../base/function-definition.ts'
import type { CallExpr, Expr, Query } from '../base/ir.ts'
import { SqlError } from '../base/sql-error.ts'
import { isFloat, isInteger, isString } from '../base/types.ts'
import { integerOfBits, wideArithmetic, wideSum } from '../functions/wide.ts'
import { castTo, coerce } from './coerce.ts'

/** Digits of the engines' widest decimal. */
const digitsMax = 38

/** Whether a numeric may have more digits than engines' decimals. */
export function isWide({ size }: { readonly size?: NumericSize | undefined }): boolean {
  return size !== undefined && size[0] > digitsMax
}

/** The size of every such number. */
export const wideSize: NumericSize = [1_000, 0]

function refused(position?: number): SqlError {
  return new SqlError(
    '0A000',
    'A numeric of more than 38 digits can be added, subtracted and summed, and cast to double precision.',
    position,
  )
}

/**
 * An arithmetic operator with such an operand.
 * @returns undefined where no operand is one
 * @throws SqlError 0A000 for what engines cannot compute
 */
export function wideOperator(sign: string, args: readonly Expr[], position?: number): Expr | undefined {
  const [left, right] = args
  if (left === undefined || right === undefined || !args.some(isWide)) return undefined
  if (sign === '+' || sign === '-')
    return wideCall(wideArithmetic[sign], [widened(left, position), widened(right, position)])
  if (sign === '*') {
    const [factor, literal] = isLiteral(right) ? [left, right] : [right, left]
    if (factor.kind !== 'cast' || !isInteger(factor.arg.type) || !isLiteral(literal)) throw refused(position)
    return wideCall(wideArithmetic['*'], [coerce(factor.arg, 'int8'), literal])
  }
  throw refused(position)
}

/** Whether an expression is an integer between -2^64 and 2^64. */
function isLiteral(expr: Expr): boolean {
  if (expr.kind !== 'literal' || expr.value === null || !/^-?\d{1,20}$/.test(expr.value)) return false
  const value = BigInt(expr.value)
  return value <= 2n ** 64n && value >= -(2n ** 64n)
}

function wideCall(def: FunctionDef, args: readonly Expr[]): CallExpr {
  return { kind: 'call', type: 'numeric', size: wideSize, def, args }
}

function widened(expr: Expr, position: number | undefined): Expr {
  if (isWide(expr)) return expr
  const isWhole = isInteger(expr.type) || (expr.type === 'numeric' && expr.size?.[1] === 0)
  if (!isWhole) throw refused(position)
  return castTo(expr.type === 'int2' ? coerce(expr, 'int4') : expr, 'numeric', wideSize)
}

/**
 * Such a number as another type.
 * @throws SqlError 0A000 for `numeric` without precision, and for types that no number converts to
 */
export function castOfWide(
  arg: Expr,
  to: {
    readonly type: SqlType
    readonly size?: NumericSize | undefined
    readonly length?: number | undefined
  },
  position?: number,
): Expr {
  if (to.type === 'numeric' && isWide(to)) return arg
  const isServed =
    isFloat(to.type) || isString(to.type) || to.type === 'int8' || (to.type === 'numeric' && to.size)
  if (!isServed) throw refused(position)
  return castTo(arg, to.type, to.size, to.length)
}

/** The sum of such numbers; undefined for another aggregate. */
export function wideAggregate(
  name: string,
  args: readonly Expr[],
): { readonly def: AggregateDef; readonly size: NumericSize } | undefined {
  const [only] = args
  return name === 'sum' && args.length === 1 && only !== undefined && isWide(only)
    ? { def: wideSum, size: wideSize }
    : undefined
}

/** The integer of `text::bit(n)`, cast to the integer type of as many bits. */
export function integerOf(text: Expr, length: number, type: string, position?: number): Expr {
  const wanted = type === 'int8' ? 64 : type === 'int4' ? 32 : 0
  if (
    (type !== 'int8' && type !== 'int4') ||
    length !== wanted ||
    !(isString(text.type) || text.type === 'unknown')
  )
    throw new SqlError('0A000', 'A bit string is not supported.', position, {
      hint: 'Served are text::bit(64)::bigint and text::bit(32)::int.',
    })
  return { kind: 'call', type, def: integerOfBits[type], args: [coerce(text, 'text')] }
}

const ownDefs: ReadonlySet<FunctionDef> = new Set([...Object.values(wideArithmetic), wideSum])

/**
 * Checks that no such number is used in another way.
 * @throws SqlError 0A000 where one is
 */
export function assertWideEnds(query: Query): void {
  visit(query)
}

/** Walks whatever a query holds, so that a place that is added later is checked too. */
function visit(node: object): void {
  const expr = 'kind' in node && 'type' in node ? (node as Expr) : undefined
  const isEnd =
    expr?.kind === 'cast' || ((expr?.kind === 'call' || expr?.kind === 'aggregate') && ownDefs.has(expr.def))
  const part = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!isEnd && isExpr(value) && isWide(value)) throw refused()
    visit(value)
  }
  for (const [key, value] of Object.entries(node)) {
    if (typeof value !== 'object' || key === 'table' || key === 'def' || key === 'size' || key === 'columns')
      continue
    if (Array.isArray(value)) value.forEach(part)
    else part(value)
  }
}

function isExpr(node: object): node is Expr {
  return 'kind' in node && 'type' in node
}
