/** How tools name tables and columns: `namespace.table`, as in SQL. */

import { Type } from '@sinclair/typebox'
import { cleanText } from '../../../base/clean-text.ts'
import { Fault } from '../../../base/fault.ts'
import { type DescribedColumn, type DescribedTable, describeTable } from '../../../contract/describe-table.ts'
import { isPathIdentifier, type TableRef } from '../../../core/table-ref.ts'
import { flag, list, maybe, nameOf, object, text, wholeNumber } from '../../../http/schemas.ts'
import type { ToolContext } from '../tool.ts'
import { charsMax, cleanName, untrusted, untrustedMark } from '../untrusted.ts'

/** Input: a table. */
export const tableInput = nameOf(Type.String({ maxLength: 1_000, description: 'namespace.table' }))

/** Output: a column. */
const columnSchema = object({
  name: text,
  type: text,
  required: flag,
  tags: maybe(list(text)),
  mask: maybe(text),
  term: maybe(text),
  description: maybe(text),
})

/** Output: a list of columns; names and descriptions are by strangers. */
export const columnsSchema = object({ ...untrustedMark, items: list(columnSchema), total: wholeNumber })

/** @throws Fault `bad_request` */
export function tableRefOf(name: string): TableRef {
  const parts = name.split('.')
  const table = parts.pop() ?? ''
  if (parts.length === 0 || ![...parts, table].every(isPathIdentifier))
    throw new Fault('bad_request', '`table` must be namespace.table.')
  return { namespace: parts, name: table }
}

/** The table, as the caller may see it. @throws Fault `bad_request`; `not_found` also for one that may not be read */
export async function visibleTable({ parts, caller }: ToolContext, name: string): Promise<DescribedTable> {
  const found = await describeTable(parts.store, caller.tenant, tableRefOf(name), caller.principal)
  if (found === undefined) throw new Fault('not_found', 'There is no such table, or it may not be read.')
  return found
}

/**
 * A list of columns as a tool shows it.
 * @param total of which these are some
 * @param terms of the glossary, by field id
 */
export function columnsView(
  columns: readonly DescribedColumn[],
  total: number,
  terms: ReadonlyMap<number, string> = new Map(),
) {
  return {
    ...untrusted,
    items: columns.map(({ fieldId, name, type, required, tags, mask, description }) => ({
      ...{ name: cleanName(name), type, required },
      ...(tags.length > 0 && { tags: tags.map(cleanName) }),
      ...(mask !== undefined && { mask }),
      ...(terms.has(fieldId) && { term: terms.get(fieldId) }),
      ...(description !== undefined && { description: cleanText(description, charsMax.description) }),
    })),
    total,
  }
}
