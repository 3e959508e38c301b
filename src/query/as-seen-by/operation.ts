/** Declares the operation that shows a table as another principal reads it. */

import { Type } from '@sinclair/typebox'
import { operationsOf } from '../../http/declare.ts'
import {
  anyObject,
  described,
  list,
  maybe,
  nonEmpty,
  nullable,
  object,
  ordinal,
  tableIdentifier,
  text,
  uuid,
} from '../../http/schemas.ts'
import { type AsSeenParts, asSeenBy } from './as-seen-by.ts'

const operation = operationsOf<AsSeenParts>()
const origin = described(anyObject, 'where it is attached: `kind` table, column or tag, and the `tag`')

export const asSeenByOperations = [
  operation({
    name: 'show_as_seen_by',
    tag: 'query',
    summary:
      'Shows a table as a principal or a set of roles reads it: filters, the mask of each column, and rows',
    description:
      'Rows are shown only where the caller could read them too: nothing of the table is hidden from the caller, or the same from both. Each call is recorded in the administration log.',
    method: 'POST',
    path: '/api/v1/query/as-seen-by',
    access: { scope: 'read', roles: ['steward', 'administrator'] },
    gives: { visible: ['existence', 'columns', 'values'] },
    status: 200,
    input: object({
      catalog: described(nonEmpty, 'nickname of the catalog credential'),
      table: tableIdentifier,
      principal: object({
        sub: maybe(described(nonEmpty, 'default: `anyone`, for the roles alone')),
        email: maybe(text),
        roles: maybe(list(text)),
      }),
      rows: maybe(
        described(Type.Integer({ minimum: 0, maximum: 20, default: 0 }), 'of the table to show; 0: none'),
      ),
    }),
    output: object({
      contract: maybe(object({ id: text, version: ordinal })),
      row_filters: described(
        list(object({ id: text, origin, expression: text })),
        'a row must pass all of them',
      ),
      columns: described(
        list(
          object({
            name: text,
            type: described(text, 'of Iceberg'),
            mask: maybe(
              described(
                object({ id: text, action: text, origin, expression: maybe(text) }),
                'the strictest that applies; absent: the value itself is read',
              ),
            ),
            weaker_masks: maybe(described(list(text), 'ids of others that apply as well')),
            masks_inside: maybe(
              described(
                list(object({ field_id: ordinal, id: text, action: text, origin, expression: maybe(text) })),
                'of fields inside it, all that apply',
              ),
            ),
            problem: maybe(described(text, 'why the column cannot be read at all')),
          }),
        ),
        'a column with a masked key of a map is left out, because it cannot be read',
      ),
      rows: maybe(
        object({
          query_id: described(uuid, 'of the usage record, which names the caller'),
          columns: list(text),
          values: described(list(list(nullable(text))), 'in PostgreSQL’s text form, shortened'),
        }),
      ),
      rows_withheld: maybe(described(text, 'why no rows are shown')),
    }),
    faults: {
      not_found: 'There is no such catalog, or it has no such table that can be read.',
      conflict: 'What governs the table changed meanwhile, a pinned snapshot is gone, or one is quarantined.',
      upstream_failed: 'The upstream catalog did not reply.',
    },
    examples: [
      {
        input: {
          catalog: 'lake',
          table: { namespace: ['sales'], name: 'orders' },
          principal: { roles: ['analyst'] },
          rows: 5,
        },
      },
    ],
    run: async ({ parts, caller, signal }, { catalog, table, principal, rows = 0 }) => {
      const { sub = 'anyone', email, roles = [] } = principal
      const by = { sub, roles, ...(email !== undefined && { email }) }
      return await asSeenBy(parts, caller, { catalog, table, principal: by, rows }, signal)
    },
  }),
]
