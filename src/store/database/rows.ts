/** Reads rows of records that are declared (core/record.ts): the select list, and the members of a row. */

import { type Field, type Fields, type Static, snakeOf } from '../../core/record.ts'

export interface Rows<F extends Fields> {
  /** What a statement selects; each column has the name of its member in snake_case. */
  readonly columns: string
  /** The record of a row that was selected by `columns`. */
  read(row: object): Static<F>
}

/** The select list and the decoder of a record. */
export function rowsOf<F extends Fields>(fields: F): Rows<F> {
  const members = Object.entries(fields).map(([name, field]) => ({ name, column: snakeOf(name), field }))
  const columns = members.map(({ column, field }) => selected(field, column)).join(', ')
  return {
    columns,
    read(row) {
      const values = row as Readonly<Record<string, unknown>>
      const read = members.map(({ name, column, field }) => [name, memberOf(field, values[column])])
      return Object.fromEntries(read) as Static<F>
    },
  }
}

/** A bigint is selected as text, so that it stays exact inside JSON as well. */
function selected({ sql, kind }: Field<unknown>, column: string): string {
  const value = sql ?? column
  return kind === 'int64'
    ? `(${value})::text as ${column}`
    : value === column
      ? column
      : `${value} as ${column}`
}

function memberOf(field: Field<unknown>, value: unknown): unknown {
  if (value === null && field.isOptional) return undefined
  if (field.kind === 'int64') return BigInt(value as string)
  // Inside JSON an instant is text.
  if (field.kind === 'time' && typeof value === 'string') return new Date(value)
  return value
}
