/** Writes results with rows for people: a table as a person sees it, and rows of a query. */

import { cellText, fieldsText, listText, tableText } from '../text-table.ts'

interface Rows {
  readonly columns: readonly (string | { readonly name: string })[]
  readonly rows?: readonly (readonly unknown[])[]
  readonly values?: readonly (readonly unknown[])[]
}

/** Rows under the names of their columns, and what else the result says. */
export function rowsText(result: unknown): string {
  const { columns, rows, values = rows ?? [], ...more } = result as Rows
  const heads = columns.map((column) => (typeof column === 'string' ? column : column.name))
  const rest = fieldsText(more)
  return `${tableText(heads, values)}${rest === '' ? '' : `\n\n${rest}`}`
}

/** A table as a principal sees it. */
export function seenText(result: unknown): string {
  const { contract, row_filters, columns, rows, rows_withheld } = result as {
    readonly contract?: { readonly id: string; readonly version: number }
    readonly row_filters: readonly object[]
    readonly columns: readonly object[]
    readonly rows?: Rows
    readonly rows_withheld?: string
  }
  return [
    contract === undefined
      ? 'No contract.'
      : `Contract ${cellText(contract.id)}, version ${contract.version}.`,
    row_filters.length === 0
      ? 'All rows.'
      : `Only the rows that pass:\n${listText(row_filters, ['id', 'expression'])}`,
    listText(columns, ['column=name', 'type', 'mask=mask.action', 'by=mask.id', 'problem']),
    ...(rows === undefined ? [] : [rowsText(rows)]),
    ...(rows_withheld === undefined ? [] : [`Rows are not shown: ${cellText(rows_withheld)}`]),
  ].join('\n\n')
}
