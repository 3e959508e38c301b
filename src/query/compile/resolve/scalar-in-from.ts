/** Resolves a function in FROM that returns one value: a row of one column, as of a lateral subquery. */

import type { Node } from 'libpg-query'
import type { Expr, Query } from '../base/ir.ts'
import { typed } from './coerce.ts'
import { newScope, type Resolver, type Scope } from './context.ts'
import { shapeOf } from './decimal.ts'
import { textScaleOf } from './text-scale.ts'

/**
 * The query of a function's one row, and of its number where the rows are to be numbered.
 * @param lateral what the function's arguments may name
 */
export function scalarQuery(
  resolver: Resolver,
  call: Node,
  name: string,
  ordinality: boolean,
  lateral: Scope,
): Query {
  const scope = newScope(lateral)
  const value = typed(
    resolver.expr(call, { scope, noAggregates: 'functions in FROM', noWindows: 'functions in FROM' }),
  )
  const number: Expr = { kind: 'literal', type: 'int8', value: '1' }
  const numeric = value.type === 'numeric' && { shape: shapeOf(value), textScale: textScaleOf(value) }
  return {
    ctes: [],
    body: {
      kind: 'select',
      distinct: false,
      targets: ordinality ? [value, number] : [value],
      from: [],
      groupBy: [],
      groupDistinct: false,
    },
    columns: [
      { name, type: value.type, size: value.size, ...numeric },
      ...(ordinality ? [{ name: 'ordinality', type: 'int8' } as const] : []),
    ],
    orderBy: [],
  }
}
