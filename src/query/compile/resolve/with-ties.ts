/** Writes FETCH … WITH TIES: the rows whose rank in the statement's order is within the count. */

import type { Expr, Query, WindowExpr } from '../base/ir.ts'
import { notSupported, SqlError } from '../base/sql-error.ts'
import { windowFunctions } from '../functions/aggregates.ts'
import { applyOperator } from './apply-operator.ts'
import { literalOf } from './coerce.ts'
import { newId, type Resolver } from './context.ts'
import { isVolatile } from './volatile.ts'

/**
 * @param query a SELECT without its LIMIT and OFFSET
 * @param limits its count, and how many rows it skips
 * @throws SqlError 42601 without ORDER BY; 0A000 with DISTINCT, volatile keys, and functions that return rows
 */
export function withTies(
  resolver: Resolver,
  query: Query,
  limits: { readonly limit?: Expr; readonly offset?: Expr },
): Query {
  const { body, orderBy, columns, ctes } = query
  if (limits.limit === undefined) return { ...query, ...limits }
  if (orderBy.length === 0)
    throw new SqlError('42601', 'WITH TIES cannot be specified without ORDER BY clause')
  const [def] = windowFunctions.get('rank') ?? []
  if (def === undefined || body.kind !== 'select' || body.distinct || body.distinctOn !== undefined)
    throw notSupported('WITH TIES of DISTINCT')
  // The rank computes the keys once more.
  if (orderBy.some(({ expr }) => isVolatile(expr))) throw notSupported('WITH TIES by a random order')
  const rank: WindowExpr = {
    kind: 'window',
    type: 'int8',
    call: { kind: 'call', def, args: [], type: 'int8' },
    partitionBy: [],
    orderBy: orderBy.map(({ ordinal: _, ...key }) => key),
  }
  const id = newId(resolver, 't')
  const column = (index: number, given: Omit<Query['columns'][number], 'name'>): Expr => {
    const { type, size, shape, textScale } = given
    return { kind: 'column', relation: id, index, levelsUp: 0, type, size, shape, textScale }
  }
  const place = column(columns.length, { type: 'int8' })
  const last = applyOperator('+', [limits.limit, limits.offset ?? literalOf('0', 'int8')])
  return {
    ctes,
    columns,
    body: {
      kind: 'select',
      distinct: false,
      targets: columns.map((each, index) => column(index, each)),
      from: [
        {
          kind: 'subquery',
          id,
          lateral: false,
          query: {
            ctes: [],
            columns: [...columns, { name: 'rank', type: 'int8' }],
            body: { ...body, targets: [...body.targets, rank] },
            orderBy: [],
          },
        },
      ],
      where: applyOperator('<=', [place, last]),
      groupBy: [],
      groupDistinct: false,
    },
    orderBy: [{ expr: place, descending: false, nullsFirst: false }],
    ...(limits.offset && { offset: limits.offset }),
  }
}
