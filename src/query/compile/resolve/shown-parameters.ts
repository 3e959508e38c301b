/**
 * Asks for the values of numeric parameters that a select list computes with. A numeric has as many digits behind the
 * point as its text, so that `amount + $1` shows other digits for 2 and for 2.50; a type alone says nothing of them.
 */

import {
  childrenOf,
  type Expr,
  type FromItem,
  type ParameterExpr,
  type Query,
  relationsOf,
} from '../base/ir.ts'
import { isString } from '../base/types.ts'
import { literalOf, nullOf } from './coerce.ts'

/** Marks the parameters. Conditions are left out: they are the same for each number of digits. */
export function demandShownNumerics(query: Query): void {
  for (const { query: inner } of query.ctes) demandShownNumerics(inner)
  const { body } = query
  if (body.kind === 'set') {
    demandShownNumerics(body.left)
    demandShownNumerics(body.right)
  } else if (body.kind === 'values') for (const row of body.rows) row.forEach(demand)
  else {
    body.targets.forEach(demand)
    body.from.forEach(demandInFrom)
  }
}

function demandInFrom(item: FromItem): void {
  for (const relation of relationsOf(item))
    if (relation.kind === 'subquery') demandShownNumerics(relation.query)
}

function demand(expr: Expr): void {
  if (expr.type === 'bool') return
  if (expr.kind === 'parameter' && expr.type === 'numeric') expr.needsValue = true
  if (expr.kind === 'cast' && expr.type === 'numeric' && expr.size === undefined) {
    const { arg } = expr
    if (arg.kind === 'parameter' && isString(arg.type)) arg.needsValue = true
  }
  if (expr.kind === 'subquery') demandShownNumerics(expr.query)
  for (const each of childrenOf(expr)) demand(each)
}

/** The parameter, or a numeric literal where its value is known. @throws SqlError 22P02 */
export function shownParameter(parameter: ParameterExpr): Expr {
  if (parameter.type !== 'numeric' || parameter.value === undefined) return parameter
  return parameter.value === null ? nullOf('numeric') : literalOf(parameter.value, 'numeric')
}
