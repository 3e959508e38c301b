/** Declares describe_columns: the columns of a table, in pages. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../../base/fault.ts'
import { tableName } from '../../../core/table-ref.ts'
import { maybe, object, text } from '../../../http/schemas.ts'
import { cursorsOf } from '../cursor.ts'
import { tool } from '../tool.ts'
import { cleanName } from '../untrusted.ts'
import { columnsSchema, columnsView, tableInput, visibleTable } from './tables.ts'

const limitDefault = 50

export const describeColumns = tool({
  name: 'describe_columns',
  description: 'List the columns of a table: type, tags, mask and description. Pages through wide tables.',
  scope: 'mcp:read',
  input: object({
    table: tableInput,
    match: maybe(Type.String({ maxLength: 255, description: 'part of a name, a tag or a description' })),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 100, default: limitDefault })),
    cursor: maybe(Type.String({ maxLength: 4_096, description: '`next_cursor` of the previous answer' })),
  }),
  output: object({ table: text, columns: columnsSchema, next_cursor: maybe(text) }),
  async run(context, { table: name, match = '', limit = limitDefault, cursor }) {
    const table = await visibleTable(context, name)
    const cursors = await cursorsOf(context, 'describe_columns', { name, match })
    const from = Number(cursors.open(cursor) ?? 0)
    if (!Number.isSafeInteger(from)) throw new Fault('internal', 'Internal error.')
    const wanted = match.toLowerCase()
    const found = table.columns.filter(({ name: column, tags, description = '' }) =>
      [column, description, ...tags].some((one) => one.toLowerCase().includes(wanted)),
    )
    const end = from + limit
    return {
      table: cleanName(tableName(table.ref)),
      columns: columnsView(found.slice(from, end), found.length),
      next_cursor: cursors.seal(end < found.length ? String(end) : undefined),
    }
  },
})
