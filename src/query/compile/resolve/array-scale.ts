/**
 * Finds the scale of numerics that meet a numeric[]. Engines convert an array and a value to one decimal type; if the digits
 * do not fit, DuckDB silently rounds the elements, so the value is cast here.
 */

import { isArray } from '../../../core/sql-type.ts'
import type { DecimalShape, Expr } from '../base/ir.ts'
import { notSupported } from '../base/sql-error.ts'
import { digitsMax, operandShape, shapeTogether } from './decimal.ts'

/** How engines store the elements of an array; undefined where only the engine knows. */
function elementShape(expr: Expr): DecimalShape | undefined {
  if (expr.size !== undefined) return expr.size
  if (expr.kind === 'column') return expr.shape
  if (expr.kind === 'array') return shapeTogether(expr.elements.map(operandShape))
  // Of an array of integers the engines have this.
  if (expr.kind === 'cast') return isNumeric(expr.arg) ? elementShape(expr.arg) : [digitsMax, 10]
  if (expr.kind === 'call') return shapeTogether(expr.args.filter(isNumeric).map(numericShape))
  return undefined
}

/**
 * The arguments of a function of arrays, of which no element is rounded.
 * @throws SqlError 0A000 where an array itself has no room for the digits
 */
export function arraysAtOneScale(args: readonly Expr[]): readonly Expr[] {
  if (!args.some(({ type }) => type === 'numeric[]')) return args
  const sized = args.filter((arg) => isNumeric(arg) && !isNull(arg))
  const shapes = sized.map((arg) => ({ arg, shape: numericShape(arg) }))
  const known = shapes.flatMap(({ arg, shape }) => (typeof shape === 'object' ? [{ arg, shape }] : []))
  if (known.length < shapes.length) return args
  const scale = Math.max(...known.map(({ shape }) => shape[1]))
  const wholeOf = (list: typeof known) => Math.max(0, ...list.map(({ shape }) => shape[0] - shape[1]))
  if (wholeOf(known) + scale <= digitsMax) return args
  if (wholeOf(known.filter(({ arg }) => isArray(arg.type))) + scale > digitsMax)
    throw notSupported('A numeric[] beside numerics with more than 38 digits together')
  return args.map((arg) =>
    arg.type === 'numeric' ? { kind: 'cast', type: 'numeric', size: [digitsMax, scale], arg } : arg,
  )
}

const isNumeric = ({ type }: Expr): boolean => type.startsWith('numeric')
const numericShape = (expr: Expr) => (isArray(expr.type) ? elementShape(expr) : operandShape(expr))
const isNull = (expr: Expr): boolean => expr.kind === 'literal' && expr.value === null
