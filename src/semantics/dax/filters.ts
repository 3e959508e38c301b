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

/** Takes a value as a parameter, or a list of them as one of an array. */
export type PlaceValue = (value: string | readonly string[]) => string

/** Writes a condition. */
export type WriteCondition = (place: PlaceValue) => string

/** Values of one statement. */
export const filterValuesMax = 20_000
/** Values beyond which a list is one parameter: each of its own is a node that every step of the compiler goes through. */
const listedMax = 100

/** The parameters of a statement, and how many values they hold. */
export interface FilterValues {
  readonly parameters: string[]
  count: number
}

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
export function filterSql(filter: Filter, values: FilterValues): string {
  const place: PlaceValue = (value) => {
    values.count += typeof value === 'string' ? 1 : value.length
    if (values.count > filterValuesMax) exceeds(`a query filters by at most ${filterValuesMax} values`)
    return `$${values.parameters.push(typeof value === 'string' ? value : arrayText(value))}`
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
    return columns.map((column, index) => listSql(column.sql, [...(sets[index] ?? [])], place)).join(' AND ')
  const each = keys.map((row) => {
    const parts = columns.map((column, index) => inSql(column.sql, [row[index] ?? null], place))
    return `(${parts.join(' AND ')})`
  })
  return `(${each.join(' OR ')})`
}

/** The condition that a column holds one of some keys; null is that of NULL. */
export function listSql(sql: string, keys: readonly (string | null)[], place: PlaceValue): string {
  if (keys.length <= listedMax) return inSql(sql, keys, place)
  const given = keys.filter((key) => key !== null)
  const listed = `${sql} = ANY(${place(given)})`
  return given.length < keys.length ? `(${listed} OR ${sql} IS NULL)` : listed
}

/** An array of texts in PostgreSQL's form. */
const arrayText = (values: readonly string[]): string =>
  `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

const identities = new WeakMap<Filter, string>()

/** What tells filters apart: their SQL and its values. */
export function identityOfFilter(filter: Filter): string {
  const found = identities.get(filter)
  if (found !== undefined) return found
  const values: FilterValues = { parameters: [], count: 0 }
  const identity = JSON.stringify([filterSql(filter, values), values.parameters])
  identities.set(filter, identity)
  return identity
}
