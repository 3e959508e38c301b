/**
 * Brings numerics that are compared to one form where one of them holds a quotient. The scale of a quotient depends on
 * the sizes of its operands, so that equal quotients may end in different digits. What is not a quotient stays exact.
 */

import type { NumericSize } from '../../../core/sql-type.ts'
import { childrenOf, type Expr, type Query } from '../base/ir.ts'
import { doubleOfNumeric } from '../functions/decimal-arithmetic.ts'
import { digitsMax, holdsQuotient, shapeOf } from './decimal.ts'

/** The size of a decimal, or a double where no decimal has the digits. */
type Form = NumericSize | 'double'

const isNull = (expr: Expr) => expr.kind === 'literal' && expr.value === null

/** The fewest digits after the point of the quotients that a numeric is computed from. */
function leastScale(expr: Expr): number {
  const isQuotient = expr.kind === 'column' || (expr.kind === 'call' && expr.def.name === '/')
  const below = isQuotient ? [] : childrenOf(expr).filter(holdsQuotient)
  const shape = shapeOf(expr)
  if (below.length === 0) return typeof shape === 'object' ? shape[1] : 0
  return Math.min(...below.map(leastScale))
}

/** The form of numerics that are compared; undefined where none of them holds a quotient. */
export function alikeForm(exprs: readonly Expr[], keepsDigits = false): Form | undefined {
  const values = exprs.filter((expr) => !isNull(expr))
  const quotients = values.filter(holdsQuotient)
  if (quotients.length === 0 || values.some(({ type }) => type !== 'numeric')) return undefined
  const scale = Math.min(...quotients.map(leastScale))
  for (const value of values) {
    const shape = value.size ?? shapeOf(value)
    if (typeof shape !== 'object' || shape[0] - shape[1] + scale > digitsMax) return 'double'
    if (keepsDigits && !holdsQuotient(value) && shape[1] > scale) return 'double'
  }
  return [digitsMax, scale]
}

/** A numeric in a form. A quotient is divided as a double, so that it is the nearest one. */
export function inForm(expr: Expr, form: Form | undefined): Expr {
  if (form === undefined) return expr
  if (form !== 'double') return { kind: 'cast', type: 'numeric', size: form, arg: expr }
  if (isNull(expr) || expr.type !== 'numeric') return expr
  if (expr.size === undefined && shapeOf(expr) === 'double') return expr
  if (expr.kind === 'call' && expr.def.name === '/')
    return { ...expr, args: expr.args.map((arg) => inForm(arg, form)) }
  return { kind: 'call', type: 'numeric', def: doubleOfNumeric, args: [expr] }
}

/** Numerics that are compared with one another; undefined where none holds a quotient. */
export function inOneForm(exprs: readonly Expr[]): readonly Expr[] | undefined {
  const form = alikeForm(exprs)
  return form && exprs.map((expr) => inForm(expr, form))
}

/** The query with its numeric columns in the given forms. */
export function resize(query: Query, forms: readonly (Form | undefined)[]): Query {
  if (forms.every((form) => form === undefined)) return query
  const to = (arg: Expr, index: number): Expr => inForm(arg, forms[index])
  const { body } = query
  if (body.kind === 'select') return { ...query, body: { ...body, targets: body.targets.map(to) } }
  if (body.kind === 'values')
    return { ...query, body: { ...body, rows: body.rows.map((row) => row.map(to)) } }
  return { ...query, body: { ...body, left: resize(body.left, forms), right: resize(body.right, forms) } }
}
