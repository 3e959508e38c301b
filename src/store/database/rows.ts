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
  const columns = members
    .map(({ column, field: { sql } }) =>
      sql === undefined || sql === column ? column : `${sql} as ${column}`,
    )
    .join(', ')
  return {
    columns,
    read(row) {
      const values = row as Readonly<Record<string, unknown>>
      const read = members.map(({ name, column, field }) => [name, memberOf(field, values[column])])
      return Object.fromEntries(read) as Static<F>
    },
  }
}

function memberOf(field: Field<unknown>, value: unknown): unknown {
  if (value === null && field.isOptional) return undefined
  // Both engines give a bigint as text.
  return field.kind === 'int64' ? BigInt(value as string) : value
}
