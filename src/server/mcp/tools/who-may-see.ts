/** Declares who_may_see: who may read a table or a column of it, told to those who may know. */

import { Type } from '@sinclair/typebox'
import { requireRole } from '../../../auth/verified-principal.ts'
import { list, maybe, object, oneOf, text } from '../../../http/schemas.ts'
import { columnSights } from '../../../query/readers/sight-reasons.ts'
import { whoCanRead } from '../../../query/readers/who-can-read.ts'
import { cursorInput, cursorsOf } from '../cursor.ts'
import { fitting, listBytes } from '../fitting.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark } from '../untrusted.ts'
import { tableInput, tableRefOf } from './tables.ts'

const sessionsDefault = 20
const names = list(text)
const exempting = { id: text, exempt_roles: names }

export const whoMaySee = tool({
  name: 'who_may_see',
  description:
    'Tell who may read a table or a column: masks and row filters with the roles that they exempt, and what each service session sees. For stewards, administrators and auditors.',
  scope: 'mcp:read',
  hints: { forbidden: 'Only a steward, an administrator or an auditor may know: ask one of them.' },
  gives: { overseen: ['existence', 'columns'], overseers: ['steward', 'administrator', 'auditor'] },
  input: object({
    table: tableInput,
    column: maybe(Type.String({ maxLength: 255, description: 'absent: all columns' })),
    limit: maybe(Type.Integer({ minimum: 1, maximum: 50, default: sessionsDefault })),
    cursor: cursorInput,
  }),
  output: object({
    row_filters: list(object({ ...untrustedMark, ...exempting })),
    columns: list(
      object({
        ...{ ...untrustedMark, name: text, anyone: oneOf(columnSights) },
        masks: list(object({ ...exempting, action: text })),
      }),
    ),
    sessions: list(
      object({
        ...{ ...untrustedMark, name: text, sub: text, roles: names, rows: text },
        ...{ clear: names, masked: names, hidden: names },
      }),
    ),
    next_cursor: maybe(text),
  }),
  async run(context, { table, column, limit = sessionsDefault, cursor }) {
    const { parts, caller } = context
    requireRole(caller.principal, 'steward', 'administrator', 'auditor')
    const cursors = await cursorsOf(context, 'who_may_see', { table, column })
    const after = cursors.open(cursor)
    const asked = {
      table: tableRefOf(table),
      column,
      limit,
      ...(after !== undefined && { page_token: after }),
    }
    const found = await whoCanRead(parts, caller.tenant, asked)
    const exemption = (one: { readonly id: string; readonly exempt_roles: readonly string[] }) => ({
      ...{ id: cleanName(one.id), exempt_roles: one.exempt_roles.map(cleanName) },
    })
    const columns = found.columns.map((one) => ({
      ...{ ...untrusted, name: cleanName(one.name), anyone: one.anyone },
      masks: one.masks.map((mask) => ({ ...exemption(mask), action: mask.action })),
    }))
    const sessions = found.sessions.map(({ name, principal, rows, clear, masked, hidden }) => ({
      ...{ ...untrusted, name: cleanName(name), sub: cleanName(principal.sub) },
      ...{ roles: principal.roles.map(cleanName), rows },
      ...{ clear: clear.map(cleanName), masked: masked.map(cleanName), hidden: hidden.map(cleanName) },
    }))
    const bytes = listBytes(undefined) / 2
    const shown = fitting(sessions, bytes)
    const last = found.sessions[shown.length - 1]?.session_id
    const end = shown.length < sessions.length ? last : found.next_page_token
    return {
      row_filters: found.row_filters.map((one) => ({ ...untrusted, ...exemption(one) })),
      columns: [...fitting(columns, bytes)],
      sessions: [...shown],
      next_cursor: cursors.seal(end),
    }
  },
})
