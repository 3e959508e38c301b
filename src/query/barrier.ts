/**
 * Where a statement needs a barrier between hidden values and what can fail, and in which form. Which columns those
 * are is exposure.ts's affair, and that hidden rows are dropped the row filter's own.
 *
 * DuckDB: a column that something fallible reads is written as `flat(CASE WHEN filter THEN value END)`. Nothing
 * above it can see a hidden row's value, in whatever position of the statement. Conditions that cannot fail read
 * the column beside it, so that row groups are left unread as without a barrier.
 *
 * Trino keeps an error of a dictionary's entry to itself and computes results of the rows that are left: there
 * `CASE WHEN filter THEN value END` stands, around every column, where a condition of the statement can fail.
 */

import type { DialectName } from '../core/sql-type.ts'
import { type ColumnPlaces, exposureOf } from './exposure.ts'
import { canFail } from './fallible.ts'
import type { Query, TableItem } from './ir.ts'
import type { Protection } from './protect.ts'

export interface Barrier {
  /** Whether a column of a table's appearance stands behind the barrier. */
  readonly hides: (item: Pick<TableItem, 'id'>, index: number) => boolean
  /** Whether it is read without the barrier, too, by conditions that cannot fail. */
  readonly isReadBare: (item: Pick<TableItem, 'id'>, index: number) => boolean
  /** Whether a table's filter and masks read its raw columns behind a barrier where they can fail. */
  readonly aroundPolicies: boolean
  /**
   * Whether what can fail must be written so that the engine knows it. DuckDB takes a condition that it holds for
   * harmless before the filters below it, and computes it over whole dictionaries.
   */
  readonly marksFallible: boolean
}

/**
 * The barrier of a statement on an engine.
 *
 * @param protections by the id of a table's appearance
 * @param hasDeletes whether rows of an appearance's table are deleted without being gone from its files
 */
export function barrierOf(
  dialect: DialectName,
  query: Query,
  protections: ReadonlyMap<string, Protection>,
  hasDeletes: (id: string) => boolean,
): Barrier {
  const ids = [...protections.keys()]
  const isFiltered = (id: string) => (protections.get(id)?.filters.length ?? 0) > 0
  if (dialect === 'trino') {
    const needed = ids.some(isFiltered) && canFail(query)
    return {
      hides: ({ id }) => needed && isFiltered(id),
      isReadBare: () => false,
      aroundPolicies: false,
      marksFallible: false,
    }
  }
  const hidesRows = (id: string) => isFiltered(id) || hasDeletes(id)
  const isMasked = (id: string, index: number) =>
    protections.get(id)?.columns.some((column) => column.index === index && column.mask !== undefined) ===
    true
  // Most statements read nothing that is hidden from anybody.
  if (!ids.some((id) => hidesRows(id) || protections.get(id)?.columns.some(({ mask }) => mask))) return open
  const { exposed, bare } = exposureOf(query)
  const holds = (places: ColumnPlaces, id: string, index: number) => places.get(id)?.has(index) === true
  return {
    hides: ({ id }, index) => holds(exposed, id, index) && (hidesRows(id) || isMasked(id, index)),
    isReadBare: ({ id }, index) => holds(bare, id, index),
    aroundPolicies: true,
    marksFallible: true,
  }
}

const open: Barrier = {
  hides: () => false,
  isReadBare: () => false,
  aroundPolicies: false,
  marksFallible: false,
}
