/**
 * Declares request_access and list_my_access: an agent asks in the name of its principal for access to what is hidden, and
 * lists what the principal has. It never decides, and asks for nobody else.
 */

import { Type } from '@sinclair/typebox'
import { requestAccess } from '../../../contract/access/request-access.ts'
import { tableName } from '../../../core/table-ref.ts'
import { list, maybe, nonEmpty, object, text } from '../../../http/schemas.ts'
import { listGrants } from '../../../store/contract/access-grants.ts'
import { listAccessRequests } from '../../../store/contract/access-requests.ts'
import { cursorInput, cursorsOf } from '../cursor.ts'
import { fitting, listBytes } from '../fitting.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark } from '../untrusted.ts'
import { tableInput, tableRefOf } from './tables.ts'

const grantsDefault = 20
/** Requests that wait are few: see the bound of a subject. */
const waitingMax = 50

const names = maybe(list(nonEmpty, { minItems: 1, maxItems: 100 }))

export const requestAccessTool = tool({
  name: 'request_access',
  description:
    'Ask for access for a time to masked columns or filtered rows of a table; without both, to all that is hidden. Only where your user wants it. A steward decides, never a tool.',
  scope: 'mcp:propose',
  hints: {
    unprocessable: 'See what is hidden from you with explain_contract.',
    conflict: 'Wait for decisions: list_my_access shows what waits.',
  },
  gives: { nothing: 'own input' },
  writes: true,
  input: object({
    table: tableInput,
    columns: names,
    filters: names,
    purpose: Type.String({ minLength: 1, maxLength: 500 }),
    seconds: Type.Integer({ minimum: 60, maximum: 2_592_000 }),
    ticket: maybe(Type.String({ minLength: 1, maxLength: 500 })),
  }),
  output: object({ request: text, state: text, next: text }),
  async run({ parts, caller }, { table, ...wanted }) {
    const { store, clock } = parts
    const on = { store, clock, tenant: caller.tenant, actor: await caller.actor(), isAgent: true }
    const { request } = await requestAccess(on, { ...wanted, table: tableRefOf(table) })
    const { id, state } = request
    const next = 'A person decides, outside of MCP. list_my_access shows what came of it.'
    return { request: id, state, next }
  },
})

export const listMyAccess = tool({
  name: 'list_my_access',
  description: 'List your access for a time: to what, why, until when; and your requests that wait.',
  scope: 'mcp:read',
  gives: { own: ['existence', 'columns'] },
  input: object({
    limit: maybe(Type.Integer({ minimum: 1, maximum: 50, default: grantsDefault })),
    cursor: cursorInput,
  }),
  output: object({
    grants: list(
      object({ ...untrustedMark, grant: text, table: text, purpose: text, from: text, until: text }),
    ),
    waiting: list(
      object({ ...untrustedMark, request: text, table: text, columns: maybe(list(text)), purpose: text }),
    ),
    next_cursor: maybe(text),
  }),
  async run(context, { limit, cursor }) {
    const { parts, caller } = context
    const { tenant, principal } = caller
    const { sub, roles } = principal
    const cursors = await cursorsOf(context, 'list_my_access', {})
    const after = cursors.open(cursor)
    const now = new Date(parts.clock.now())
    const page = { limit: limit ?? grantsDefault, ...(after !== undefined && { after }) }
    const found = await listGrants(parts.store, tenant, { sub, roles }, now, page)
    // The first page alone shows what waits.
    const asked =
      after === undefined
        ? await listAccessRequests(parts.store, tenant, { sub, state: 'waiting' }, { limit: waitingMax })
        : { items: [] }
    const bytes = listBytes(limit) / 2
    const shown = fitting(found.items, bytes)
    return {
      grants: shown.map(({ id, table, purpose, from, until }) => ({
        ...{ ...untrusted, grant: id, table: cleanName(tableName(table)), purpose: cleanName(purpose) },
        ...{ from: from.toISOString(), until: until.toISOString() },
      })),
      waiting: fitting(asked.items, bytes).map(({ id, table, wanted, purpose }) => ({
        ...{ ...untrusted, request: id, table: cleanName(tableName(table)), purpose: cleanName(purpose) },
        ...(wanted.columns && { columns: wanted.columns.map(cleanName) }),
      })),
      next_cursor: cursors.seal(shown.length < found.items.length ? shown.at(-1)?.position : found.next),
    }
  },
})
