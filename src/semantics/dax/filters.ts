/**
 * Filters of a filter context: rows of values of which a row must have one, or a condition on a column. Both become SQL in
 * which values are parameters.
 */

import { inSql } from '../in-sql.ts'
import { exceeds } from './bounds.ts'
import type { TabularColumn } from './tabular.ts'
import { type DaxValue, identityOfRow, keyOfValue } from './values.ts'

export type Filter =
  | {
      readonly kind: 'rows'
      readonly columns: readonly TabularColumn[]
      readonly rows: readonly (readonly DaxValue[])[]
    }
  | { readonly kind: 'condition'; readonly columns: readonly TabularColumn[]; readonly write: WriteCondition }

/** Writes a condition; `place` takes a value as a parameter. */
export type WriteCondition = (place: (value: string) => string) => string

/** Values of one statement, because each is a parameter. */
export const filterValuesMax = 20_000

/** The filter that a row fulfils with one of these values. Columns without a place in the model do not filter. */
export function rowsFilter(
  columns: readonly (TabularColumn | undefined)[],
  rows: readonly (readonly DaxValue[])[],
): Filter {
  const places = columns.flatMap((column, place) => (column === undefined ? [] : [place]))
  const picked = rows.map((row) => places.map((place) => row[place]))
  return {
    kind: 'rows',
    columns: columns.flatMap((column) => column ?? []),
    rows: [...new Map(picked.map((row) => [identityOfRow(row), row])).values()],
  }
}

/** What remains of a filter when some columns are no longer filtered; undefined for nothing. */
export function withoutColumns(filter: Filter, removed: readonly TabularColumn[]): Filter | undefined {
  const left = filter.columns.map((column) => (removed.includes(column) ? undefined : column))
  if (left.every((column) => column !== undefined)) return filter
  if (filter.kind === 'condition' || left.every((column) => column === undefined)) return undefined
  return rowsFilter(left, filter.rows)
}

/** @throws Fault `unprocessable` for too many values */
export function filterSql(filter: Filter, parameters: string[]): string {
  const place = (value: string) => {
    if (parameters.length === filterValuesMax) exceeds(`a query filters by at most ${filterValuesMax} values`)
    return `$${parameters.push(value)}`
  }
  if (filter.kind === 'condition') return filter.write(place)
  const { columns } = filter
  const keys = filter.rows.flatMap((row) => {
    const found = columns.map(({ key }, index) => keyOfValue(row[index], key.type))
    // A value that a column cannot have is that of no row.
    return found.every((each) => each !== undefined) ? [found as readonly (string | null)[]] : []
  })
  if (keys.length === 0) return '1 = 0'
  if (columns.length === 0) return '1 = 1'
  const sets = columns.map((_, index) => new Set(keys.map((row) => row[index] ?? null)))
  const isProduct = sets.reduce((product, set) => product * set.size, 1) === keys.length
  if (isProduct)
    return columns.map((column, index) => inSql(column.sql, sets[index] ?? [], place)).join(' AND ')
  const each = keys.map((row) => {
    const parts = columns.map((column, index) => inSql(column.sql, [row[index] ?? null], place))
    return `(${parts.join(' AND ')})`
  })
  return `(${each.join(' OR ')})`
}
