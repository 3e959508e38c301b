/**
 * Writes GROUP BY keys that an engine cannot group by: in DuckDB those that contain a subquery, which it cannot match with
 * the select list, and in Trino expressions in grouping sets. A subquery below computes them, and the select groups by its
 * columns. Other selects are left unchanged.
 */

import { childrenOf, type Expr, exprKey, relationsOf, type Select } from '../base/ir.ts'
import { groupExprs } from '../resolve/grouping.ts'
import { type Emitter, emitExpression } from './expression.ts'

export interface GroupedBelow {
  /** Writes the select above the subquery: keys and columns are the subquery's. */
  readonly emitter: Emitter
  /** The FROM of the select. Call it last, because the written select decides which columns the subquery has. */
  readonly from: (below: string) => string
}

/**
 * @param queryOf makes the function by which an emitter writes subqueries
 * @returns undefined where every key can stay
 */
export function groupedBelow(
  base: Emitter,
  select: Select,
  queryOf: (emitter: Emitter) => Emitter['query'],
): GroupedBelow | undefined {
  const keys = select.groupBy.flatMap(groupExprs).filter(({ kind }) => kind !== 'column')
  const own = select.from.flatMap(relationsOf).map(({ id }) => id)
  const [first] = own
  const inSets = !base.dialect.groupsExpressions && select.groupBy.some(({ kind }) => kind !== 'expr')
  if (first === undefined || !(keys.some(holdsSubquery) || (inSets && keys.length > 0))) return undefined
  const alias = `g_${first}`
  const places = new Map(keys.map((key) => [exprKey(key), key]))
  const names = new Map([...places.keys()].map((key, index) => [key, `k${index + 1}`]))
  const columns = new Map<string, string>()
  const emitter: Emitter = {
    ...base,
    query: (query) => queryOf(emitter)(query),
    column: (relation, index) => {
      const written = base.column(relation, index)
      if (!own.includes(relation)) return written
      const name = `${relation}_c${index + 1}`
      columns.set(name, written)
      return `${alias}.${name}`
    },
    grouped: (expr) => {
      const name = names.get(exprKey(expr))
      return name === undefined ? base.grouped?.(expr) : `${alias}.${name}`
    },
  }
  const from = (below: string) => {
    const shown = [
      ...[...places].map(([key, expr]) => `${emitExpression(base, expr)} AS ${names.get(key)}`),
      ...[...columns].map(([name, written]) => `${written} AS ${name}`),
    ]
    return ` FROM (SELECT ${shown.join(', ')}${below}) AS ${alias}`
  }
  return { emitter, from }
}

function holdsSubquery(expr: Expr): boolean {
  return expr.kind === 'subquery' || childrenOf(expr).some(holdsSubquery)
}
