/** Tells which expressions may give another value each time that they are computed, so that they are written once. */

import { childrenOf, type Expr, type Query } from '../base/ir.ts'

/** Functions whose result differs from call to call. */
export const volatileNames: ReadonlySet<string> = new Set(['random', 'gen_random_uuid', 'uuidv4', 'uuidv7'])

/** Whether it calls a volatile function, in the results of subqueries too. */
export function isVolatile(expr: Expr): boolean {
  if (expr.kind === 'call' && volatileNames.has(expr.def.name)) return true
  return childrenOf(expr).some(isVolatile) || (expr.kind === 'subquery' && givesVolatile(expr.query))
}

function givesVolatile({ body, ctes }: Query): boolean {
  if (ctes.some(({ query }) => givesVolatile(query))) return true
  if (body.kind === 'set') return givesVolatile(body.left) || givesVolatile(body.right)
  if (body.kind === 'values') return body.rows.some((row) => row.some(isVolatile))
  return (
    body.targets.some(isVolatile) ||
    body.from.some((item) => item.kind === 'subquery' && givesVolatile(item.query))
  )
}
