/**
 * Tells how many digits after the point PostgreSQL shows of a numeric that engines compute as a double: a quotient or an
 * average, also where it comes out of a group, a subquery or a CTE, and `round` or `trunc` of one. It leaves other
 * arithmetic on quotients alone, and columns that hold quotients beside other numerics.
 */

import type { TextScale } from '../../../core/quotient-scale.ts'
import type { Expr, Query } from '../base/ir.ts'
import { shapeOf } from './decimal.ts'

/** @returns undefined where the engine's type tells it, or nothing does */
export function textScaleOf(expr: Expr): TextScale | undefined {
  if (expr.type !== 'numeric' || expr.size !== undefined) return undefined
  switch (expr.kind) {
    case 'column':
      return expr.textScale
    case 'cast':
      return textScaleOf(expr.arg)
    case 'call':
    case 'aggregate':
      return ofCall(expr.def.name, expr.args)
    case 'window':
      return textScaleOf(expr.call)
    case 'case': {
      const results = expr.whens.map(({ result }) => result)
      return together(expr.otherwise ? [...results, expr.otherwise] : results)
    }
    case 'subquery':
      return expr.form === 'scalar' ? expr.query.columns[0]?.textScale : undefined
    default:
      return undefined
  }
}

/** The scale of one column of the results of queries, where it is the same in each branch and row. */
export function columnTextScale(queries: readonly Query[], index: number): TextScale | undefined {
  return together(queries.flatMap((query) => columnExprs(query, index)))
}

/** The values of one column of a query's result, in each branch and row. */
export function columnExprs({ body, columns }: Query, index: number): readonly Expr[] {
  const column = columns[index]
  // The sides of a set operation of quotients are cast to one scale already.
  if (body.kind === 'set' && column !== undefined && isQuotientLike(column.textScale)) {
    const { type, size, shape, textScale } = column
    return [{ kind: 'column', relation: '', index, levelsUp: 0, type, size, shape, textScale }]
  }
  if (body.kind === 'set') return [...columnExprs(body.left, index), ...columnExprs(body.right, index)]
  const values = body.kind === 'values' ? body.rows.map((row) => row[index]) : [body.targets[index]]
  return values.flatMap((expr) => expr ?? [])
}

/** What all of them have that are not NULL; undefined where they differ. */
function together(exprs: readonly Expr[]): TextScale | undefined {
  const scales = exprs.filter((expr) => expr.kind !== 'literal' || expr.value !== null).map(textScaleOf)
  return scales.reduce((all, each) => {
    if (typeof all === 'object' && typeof each === 'object')
      return { operands: Math.max(all.operands, each.operands) }
    if (all === each) return all
    return isQuotientLike(all) || isQuotientLike(each) ? 'needed' : undefined
  }, scales[0])
}

/** Whether the engine's own scale says nothing of a value's. */
function isQuotientLike(scale: TextScale | undefined): boolean {
  return typeof scale === 'object' || scale === 'needed'
}

/** Arithmetic of quotients: the digits that a value needs. */
function ofOperands(args: readonly Expr[]): TextScale | undefined {
  return args.some((arg) => isQuotientLike(textScaleOf(arg))) ? 'needed' : undefined
}

function ofCall(name: string, args: readonly Expr[]): TextScale | undefined {
  const [first, second] = args
  if (first === undefined) return undefined
  switch (name) {
    case '/':
    case 'avg':
      return { operands: Math.max(...args.map(ownScale)) }
    case 'round':
    case 'trunc': {
      if (shapeOf(first) !== 'double' && !isQuotientLike(textScaleOf(first))) return undefined
      if (second === undefined) return 0
      const digits = second.kind === 'literal' ? Number(second.value ?? Number.NaN) : Number.NaN
      return Number.isInteger(digits) && digits <= 1_000 ? Math.max(0, digits) : undefined
    }
    case 'coalesce':
    case 'greatest':
    case 'least':
      return together(args)
    case '+':
    case '-':
    case 'abs':
    case 'min':
    case 'max':
    case 'any_value':
    case 'lag':
    case 'lead':
    case 'first_value':
    case 'last_value':
      return args.length === 1 ? textScaleOf(first) : ofOperands(args)
    case 'nullif':
    case 'nth_value':
      return textScaleOf(first)
    default:
      return ofOperands(args)
  }
}

/** The digits after the point that an operand has in each row, as far as its type or text tells. */
function ownScale(expr: Expr): number {
  if (expr.size !== undefined) return expr.size[1]
  if (expr.kind === 'literal') return /\.(\d+)$/.exec(expr.value ?? '')?.[1]?.length ?? 0
  const shape = expr.kind === 'cast' || expr.kind === 'parameter' ? undefined : shapeOf(expr)
  return typeof shape === 'object' ? shape[1] : 0
}
