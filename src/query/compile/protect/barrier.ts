/**
 * Decides where a statement needs a barrier between hidden values and expressions that can fail, and in which form.
 * exposure.ts finds the exposed columns. Dropping hidden rows is the task of the row filter, not of the barrier.
 *
 * DuckDB: a column that something fallible reads is written as `flat(CASE WHEN filter THEN value END)`. No expression
 * above it, wherever in the statement, can see a hidden row's value. Conditions that cannot fail read a second,
 * bare column, so that DuckDB still skips row groups by them.
 *
 * Trino drops the error of a dictionary entry and computes results for the remaining rows only. There every column is
 * written as `CASE WHEN filter THEN value END`, where a condition of the statement can fail.
 */

import type { DialectName } from '../../../core/sql-type.ts'
import type { Query, TableItem } from '../base/ir.ts'
import { type ColumnPlaces, exposureOf } from './exposure.ts'
import { canFail } from './fallible.ts'
import { isMasked, type Protection } from './protect.ts'

export interface Barrier {
  /** Whether a column of a table's appearance stands behind the barrier. */
  readonly hides: (item: Pick<TableItem, 'id'>, index: number) => boolean
  /** Whether conditions that cannot fail read the column without the barrier as well. */
  readonly isReadBare: (item: Pick<TableItem, 'id'>, index: number) => boolean
  /** Whether a table's filter and masks read its raw columns behind a barrier where they can fail. */
  readonly aroundPolicies: boolean
  /**
   * Whether expressions that can fail must be marked for the engine. DuckDB computes a condition that it believes
   * harmless before the filters below it, and over whole dictionaries.
   */
  readonly marksFallible: boolean
}

/**
 * The barrier of a statement on an engine.
 *
 * @param protections by the id of a table's appearance
 * @param hasDeletes whether the files of an appearance's table still hold deleted rows
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
  const isMaskedAt = (id: string, index: number) =>
    protections.get(id)?.columns.some((column) => column.index === index && isMasked(column)) === true
  // Most statements read tables without hidden values.
  if (!ids.some((id) => hidesRows(id) || protections.get(id)?.columns.some(isMasked))) return open
  const { exposed, bare } = exposureOf(query)
  const holds = (places: ColumnPlaces, id: string, index: number) => places.get(id)?.has(index) === true
  return {
    hides: ({ id }, index) => holds(exposed, id, index) && (hidesRows(id) || isMaskedAt(id, index)),
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
