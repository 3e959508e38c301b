/** Declares describe_columns: the columns of a table, in pages. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../../base/fault.ts'
import { tableName } from '../../../core/table-ref.ts'
import { maybe, object, text } from '../../../http/schemas.ts'
import { columnTerms } from '../../../semantics/column-terms.ts'
import { cursorInput, cursorsOf } from '../cursor.ts'
import { fitting, listBytes } from '../fitting.ts'
import { type ToolContext, tool } from '../tool.ts'
import { cleanName } from '../untrusted.ts'
import { columnsSchema, columnsView, tableInput, visibleTable } from './tables.ts'

const limitDefault = 50

export const describeColumns = tool({
  name: 'describe_columns',
  description:
    'List the columns of a table: type, tags, mask, glossary term and description. Pages through wide tables.',
  scope: 'mcp:read',
  gives: { visible: ['existence', 'description', 'columns'] },
  input: object({
    table: tableInput,
    match: maybe(
      Type.String({ maxLength: 255, description: 'part of a name, a tag, a term or a description' }),
    ),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 100, default: limitDefault })),
    cursor: cursorInput,
  }),
  output: object({ table: text, columns: columnsSchema, next_cursor: maybe(text) }),
  async run(context, { table: name, match = '', limit, cursor }) {
    const table = await visibleTable(context, name)
    const cursors = await cursorsOf(context, 'describe_columns', { name, match })
    const from = Number(cursors.open(cursor) ?? 0)
    if (!Number.isSafeInteger(from)) throw new Fault('internal', 'Internal error.')
    const { parts, caller } = context
    const asking = { store: parts.store, clock: parts.clock, tenant: caller.tenant }
    const terms = hasGlossary(parts) ? await columnTerms(asking, table.ref) : new Map()
    const wanted = match.toLowerCase()
    const found = table.columns.filter(({ fieldId, name: column, tags, description = '' }) =>
      [column, description, terms.get(fieldId) ?? '', ...tags].some((one) =>
        one.toLowerCase().includes(wanted),
      ),
    )
    const page = columnsView(found.slice(from, from + (limit ?? limitDefault)), found.length, terms)
    const items = [...fitting(page.items, listBytes(limit))]
    const end = from + items.length
    return {
      table: cleanName(tableName(table.ref)),
      columns: { ...page, items },
      next_cursor: cursors.seal(end < found.length ? String(end) : undefined),
    }
  },
})

/** Without a license for it there are no terms, and the columns are described as they are. */
function hasGlossary({ licensed }: ToolContext['parts']): boolean {
  try {
    licensed.require('semantic-layer')
    return true
  } catch {
    return false
  }
}
