/**
 * Finds which column of which table each column of a result is, unchanged by any expression, as PostgreSQL names it in a
 * RowDescription. Filters and masks stand in between; a masked column is still that column.
 */

import type { GovernedColumn, GovernedTable } from '../../../core/governed-table.ts'
import { columnAt, type Expr, type FromItem, type Query, type Relation } from '../base/ir.ts'
import { attributeOf } from './shown-columns.ts'

export interface OutputOrigin {
  readonly table: GovernedTable
  readonly column: GovernedColumn
  /** Whether an outer join may make it NULL. */
  readonly nulled: boolean
}

/** A table's column by its place in PostgreSQL's catalog. */
export interface ShownOrigin {
  readonly schemaName: string
  readonly tableName: string
  /** pg_attribute.attnum. */
  readonly attribute: number
}

interface Walk {
  /** By alias, with whether an outer join may fill its columns with NULL. */
  readonly relations: Map<string, { readonly item: Relation; readonly nulled: boolean }>
  readonly ctes: Map<string, Query>
  readonly done: Map<Query, readonly (OutputOrigin | undefined)[]>
}

/** The origin of each column of a result; undefined for one that an expression, a set operation or a function makes. */
export function originsOf(query: Query): readonly (OutputOrigin | undefined)[] {
  return origins({ relations: new Map(), ctes: new Map(), done: new Map() }, query)
}

/** The origins as PostgreSQL's catalog shows them; undefined for a column that it does not show. */
export function shownOrigins(
  found: readonly (OutputOrigin | undefined)[],
): readonly (ShownOrigin | undefined)[] {
  return found.map((origin) => {
    const attribute = origin && attributeOf(origin.table, origin.column)
    if (origin === undefined || attribute === undefined) return undefined
    return { schemaName: origin.table.schemaName, tableName: origin.table.tableName, attribute }
  })
}

function origins(walk: Walk, query: Query): readonly (OutputOrigin | undefined)[] {
  const known = walk.done.get(query)
  if (known !== undefined) return known
  for (const { id, query: cte } of query.ctes) walk.ctes.set(id, cte)
  const { body } = query
  if (body.kind !== 'select') return []
  for (const item of body.from) place(walk, item, false)
  const found = body.targets.map((target) => originOf(walk, target))
  walk.done.set(query, found)
  return found
}

function place(walk: Walk, item: FromItem, nulled: boolean): void {
  if (item.kind !== 'join') {
    walk.relations.set(item.id, { item, nulled })
    return
  }
  place(walk, item.left, nulled || item.type === 'RIGHT' || item.type === 'FULL')
  place(walk, item.right, nulled || item.type === 'LEFT' || item.type === 'FULL')
}

function originOf(walk: Walk, expr: Expr): OutputOrigin | undefined {
  const placed = expr.kind === 'column' ? walk.relations.get(expr.relation) : undefined
  if (expr.kind !== 'column' || placed === undefined) return undefined
  const { item, nulled } = placed
  if (item.kind === 'table') {
    const column = columnAt(item.table, expr.index)
    return column && { table: item.table, column, nulled }
  }
  const query = item.kind === 'subquery' ? item.query : item.kind === 'cte' && walk.ctes.get(item.cte)
  const inner = query ? origins(walk, query)[expr.index] : undefined
  return inner && { ...inner, nulled: inner.nulled || nulled }
}
