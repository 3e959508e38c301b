/**
 * GROUP BY of a subquery: DuckDB does not find such a key again in what is selected, so it is computed in a subquery
 * of its own, and grouped by there as a column. Other selects are written as they are.
 */

import { childrenOf, type Expr, exprKey, type FromItem, type Select } from '../ir.ts'
import { groupExprs } from '../resolve/grouping.ts'
import { type Emitter, emitExpression } from './expression.ts'

export interface GroupedBelow {
  /** Writes what stands above: keys and columns are those of the subquery. */
  readonly emitter: Emitter
  /** Its FROM, once all that stands above is written: that decides which columns it must have. */
  readonly from: (below: string) => string
}

/**
 * @param queryOf writes a subquery of the statement with an emitter
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

/** The aliases by which a select's own columns are named. */
function relationsOf(item: FromItem): readonly string[] {
  return item.kind === 'join' ? [...relationsOf(item.left), ...relationsOf(item.right)] : [item.id]
}
