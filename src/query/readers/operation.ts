/** Declares the operation that tells who may read a table. */

import { operationsOf } from '../../http/declare.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  tableIdentifier,
  text,
  uuid,
} from '../../http/schemas.ts'
import { columnSights, type ReadersParts, whoCanRead } from './who-can-read.ts'

const operation = operationsOf<ReadersParts>()
const { namespace, name } = tableIdentifier.properties
const exempting = { id: text, exempt_roles: described(list(text), 'to which it does not apply') }

const readersInput = object({
  namespace: described(namespace, 'its levels joined by %1F'),
  table: name,
  column: maybe(described(nonEmpty, 'a column at the top level; absent: all')),
  ...pageInput,
})

const readersOutput = {
  contract: maybe(object({ id: text, version: ordinal })),
  row_filters: list(object(exempting)),
  columns: list(
    object({
      name: text,
      anyone: described(oneOf(columnSights), 'what a reader without any role sees'),
      masks: list(
        object({ ...exempting, action: text, field: maybe(described(text, 'a field inside the column')) }),
      ),
    }),
  ),
  sessions: described(
    list(
      object({
        ...{ session_id: uuid, name: text },
        principal: object({ sub: text, email: maybe(text), roles: list(text) }),
        rows: oneOf(['all', 'filtered']),
        ...{ clear: list(text), masked: list(text), hidden: list(text) },
      }),
    ),
    'live service sessions with the scope `read`',
  ),
  next_page_token: maybe(described(text, 'of the sessions; absent on the last page')),
}

export const readersOperations = [
  operation({
    name: 'show_readers',
    tag: 'query',
    summary: 'Tells who may read a table or a column: what protects it, whom roles exempt, what sessions see',
    description:
      'People of the identity provider have the roles that it names; a role that exempts shows what it exempts from to each of them.',
    method: 'GET',
    path: '/api/v1/query/readers',
    access: { scope: 'read', roles: ['steward', 'administrator', 'auditor'] },
    gives: { overseen: ['existence', 'columns'] },
    input: readersInput,
    output: object(readersOutput),
    faults: { not_found: 'There is no such table or column that can be read.' },
    run: async ({ parts, caller }, { namespace: levels, table, ...asked }) =>
      await whoCanRead(parts, caller.tenant, { table: { namespace: levels, name: table }, ...asked }),
  }),
]
