/**
 * Finds the scale of numerics that share one column, as in CASE or UNION. Engines convert them to one decimal type.
 * If the digits do not fit, DuckDB silently rounds off digits after the point, so such numerics are cast here.
 */

import { isArray, type NumericSize } from '../../../core/sql-type.ts'
import { childrenOf, type DecimalShape, type Expr, type LiteralExpr, type Query } from '../base/ir.ts'
import { isFloat, isInteger } from '../base/types.ts'
import { isWholeInIntegers } from '../functions/decimal-arithmetic.ts'
import { averageSize, quotientSize } from '../functions/quotient.ts'

/** Digits of the engines' widest decimal. */
export const digitsMax = 38

/** Of calls, because each call asks for those below it. Its operands have their types before there is a call. */
const shapes = new WeakMap<Expr, { readonly shape: DecimalShape | undefined }>()

/** How engines store an expression of type numeric; undefined where only the engine knows. */
export function shapeOf(expr: Expr): DecimalShape | undefined {
  if (expr.size !== undefined) return expr.size
  if (expr.kind !== 'call') return shapeByKind(expr)
  const found = shapes.get(expr) ?? { shape: shapeByKind(expr) }
  shapes.set(expr, found)
  return found.shape
}

function shapeByKind(expr: Expr): DecimalShape | undefined {
  switch (expr.kind) {
    case 'column':
      return expr.shape
    case 'literal':
      return expr.value === null ? undefined : [1, 0]
    case 'parameter':
      return [digitsMax, 10]
    case 'cast':
      return castShape(expr.arg)
    case 'case':
      return together([
        ...expr.whens.map(({ result }) => result),
        ...(expr.otherwise ? [expr.otherwise] : []),
      ])
    case 'aggregate':
      return callShape(expr.def.name, expr.args)
    case 'call':
      return callShape(expr.def.name, expr.args)
    case 'window':
      return callShape(expr.call.def.name, expr.call.args)
    case 'subquery':
      return shapeTogether(columnShapes(expr.query, 0))
    default:
      return undefined
  }
}

/** How engines store one column of a query's result, in each branch and row. */
export function columnShapes({ body }: Query, index: number): readonly (DecimalShape | undefined)[] {
  if (body.kind === 'set') return [...columnShapes(body.left, index), ...columnShapes(body.right, index)]
  const values = body.kind === 'values' ? body.rows.map((row) => row[index]) : [body.targets[index]]
  return values.flatMap((expr) => (expr === undefined || isNull(expr) ? [] : [shapeOf(expr)]))
}

/**
 * The size to which numerics of one column are cast, so that a too large one fails and none is rounded.
 *
 * @returns undefined where they fit one decimal anyway, are doubles, or only the engine knows
 */
export function sharedSize(shapes: readonly (DecimalShape | undefined)[]): NumericSize | undefined {
  const [whole, scale] = reach(shapes) ?? [0, 0]
  return whole + scale > digitsMax ? [digitsMax, scale] : undefined
}

/** Numerics as one decimal that keeps all their digits after the point. */
export function atOneScale(exprs: readonly Expr[]): readonly Expr[] {
  const values = exprs.filter((expr) => !isNull(expr))
  const size = sharedSize(values.map(shapeOf))
  if (size === undefined) return exprs
  return exprs.map((expr) =>
    isNull(expr) ? { ...expr, size } : { kind: 'cast', type: 'numeric', size, arg: expr },
  )
}

function isNull(expr: Expr): expr is LiteralExpr {
  return expr.kind === 'literal' && expr.value === null
}

/** Most digits before and after the point. */
function reach(shapes: readonly (DecimalShape | undefined)[]): readonly [number, number] | undefined {
  let [whole, scale] = [0, 0]
  for (const shape of shapes) {
    if (shape === undefined || shape === 'double') return undefined
    whole = Math.max(whole, shape[0] - shape[1])
    scale = Math.max(scale, shape[1])
  }
  return [whole, scale]
}

/** How engines store values that share one column. */
export function shapeTogether(shapes: readonly (DecimalShape | undefined)[]): DecimalShape | undefined {
  if (shapes.some((shape) => shape === undefined)) return undefined
  const [whole, scale] = reach(shapes) ?? []
  if (whole === undefined || scale === undefined) return 'double'
  return [Math.min(digitsMax, whole + scale), scale]
}

function together(exprs: readonly Expr[]): DecimalShape | undefined {
  return shapeTogether(exprs.filter((expr) => !isNull(expr)).map(shapeOf))
}

function castShape(arg: Expr): DecimalShape | undefined {
  if (arg.type === 'numeric') return shapeOf(arg)
  if (isFloat(arg.type)) return 'double'
  if (isInteger(arg.type)) return arg.type === 'int8' ? [19, 0] : [10, 0]
  return isArray(arg.type) ? undefined : [digitsMax, 10]
}

/** How engines store an operand of arithmetic, integers included. */
export function operandShape(expr: Expr): DecimalShape | undefined {
  return expr.type === 'numeric' ? shapeOf(expr) : castShape(expr)
}

function sumShape(args: readonly Expr[]): DecimalShape | undefined {
  const shape = together(args)
  return typeof shape === 'object' ? [Math.min(digitsMax, shape[0] + 1), shape[1]] : shape
}

function quotientShape([a, b]: readonly (DecimalShape | undefined)[]): DecimalShape {
  return (typeof a === 'object' && typeof b === 'object' && quotientSize(a, b)) || 'double'
}

/** An average that has more digits before the point than its decimal is a double. */
function averageShape(shape: DecimalShape | undefined): DecimalShape {
  if (shape === 'double') return 'double'
  const isTooWide = shape !== undefined && shape[0] - shape[1] > averageSize[0] - averageSize[1]
  return isTooWide ? 'double' : averageSize
}

/** The result of a call by DuckDB's rules. Trino's differ in the whole part only. */
function callShape(name: string, args: readonly Expr[]): DecimalShape | undefined {
  const [first, second] = args
  // Found where it is needed, because it finds those of all below.
  const own = () => first && operandShape(first)
  switch (name) {
    case 'sum': {
      const shape = own()
      return typeof shape === 'object' ? [digitsMax, shape[1]] : shape
    }
    case '+':
    case '-':
      return args.length === 1 ? own() : sumShape(args)
    case '%':
    case 'mod':
      return together(args)
    case '*':
      return productShape(args)
    case 'ceil':
    case 'ceiling':
    case 'floor': {
      const shape = own()
      return shape === undefined || shape === 'double' ? shape : [shape[0], 0]
    }
    case 'round':
    case 'trunc': {
      const shape = own()
      if (shape === undefined || shape === 'double') return shape
      const digits = second === undefined ? 0 : second.kind === 'literal' ? Number(second.value) : shape[1]
      return [shape[0], Math.min(shape[1], Math.max(0, digits))]
    }
    case 'coalesce':
    case 'greatest':
    case 'least':
      return together(args)
    case 'abs':
    case 'nullif':
    case 'min':
    case 'max':
    case 'lag':
    case 'lead':
    case 'first_value':
    case 'last_value':
    case 'nth_value':
      return args.length > 1 && (name === 'lag' || name === 'lead') ? undefined : own()
    case 'extract':
      return [25, 6]
    case 'factorial':
      return [digitsMax, 0]
    case 'sign':
      return [1, 0]
    case '/':
      return quotientShape(args.map(operandShape))
    case 'avg':
      return averageShape(own())
    case 'div':
      return isWholeInIntegers(args.map(operandShape)) || quotientShape(args.map(operandShape)) !== 'double'
        ? [digitsMax, 0]
        : 'double'
    case 'double of numeric':
    case '^':
    case 'power':
    case 'pow':
    case 'sqrt':
    case 'exp':
    case 'ln':
    case 'log':
    case 'log10':
      return 'double'
    default:
      return undefined
  }
}

const quotientsHeld = new WeakMap<Expr, boolean>()

/** Whether a numeric is computed from a quotient, so that its scale as a decimal is not its own. */
export function holdsQuotient(expr: Expr): boolean {
  if (expr.type !== 'numeric' || expr.size !== undefined) return false
  const found = quotientsHeld.get(expr) ?? findQuotient(expr)
  if (expr.kind === 'call') quotientsHeld.set(expr, found)
  return found
}

function findQuotient(expr: Expr): boolean {
  if (expr.kind === 'column') return typeof expr.textScale === 'object' || expr.textScale === 'needed'
  if (expr.kind === 'subquery') {
    const scale = expr.form === 'scalar' ? expr.query.columns[0]?.textScale : undefined
    return typeof scale === 'object' || scale === 'needed'
  }
  const name = expr.kind === 'call' || expr.kind === 'aggregate' ? expr.def.name : undefined
  return name === '/' || name === 'avg' || childrenOf(expr).some(holdsQuotient)
}

/** A product of quotients may have more digits than a decimal; it is then a double. */
function productShape(args: readonly Expr[]): DecimalShape | undefined {
  const [a, b] = args.map(operandShape)
  if (a === undefined || b === undefined) return undefined
  if (a === 'double' || b === 'double') return 'double'
  if (a[0] + b[0] > digitsMax && args.some(holdsQuotient)) return 'double'
  return [Math.min(digitsMax, a[0] + b[0]), a[1] + b[1]]
}
