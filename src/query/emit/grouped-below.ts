/**
 * Writes GROUP BY keys that contain a subquery. DuckDB cannot match such a key with the select list, so a subquery
 * below computes it and the select groups by that column. Other selects are left unchanged.
 */

import { childrenOf, type Expr, exprKey, type FromItem, type Select } from '../ir.ts'
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
 * @returns undefined where no key holds a subquery
 */
export function groupedBelow(
  base: Emitter,
  select: Select,
  queryOf: (emitter: Emitter) => Emitter['query'],
): GroupedBelow | undefined {
  const keys = select.groupBy.flatMap(groupExprs).filter(({ kind }) => kind !== 'column')
  const own = select.from.flatMap(relationsOf)
  const [first] = own
  if (first === undefined || !keys.some(holdsSubquery)) return undefined
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

/** The aliases of a select's own relations. */
function relationsOf(item: FromItem): readonly string[] {
  return item.kind === 'join' ? [...relationsOf(item.left), ...relationsOf(item.right)] : [item.id]
}
