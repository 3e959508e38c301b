/** Declares the operations that tell who may read a table: by its protections, and as a list with reasons. */

import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  tableIdentifier,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { listReaders, type ReaderLine, readerKinds, seenDays } from './list-readers.ts'
import { columnSights, rowSights } from './sight-reasons.ts'
import { type ReadersParts, whoCanRead } from './who-can-read.ts'

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
        rows: oneOf(rowSights),
        ...{ clear: list(text), masked: list(text), hidden: list(text) },
      }),
    ),
    'live service sessions with the scope `read`',
  ),
  next_page_token: maybe(described(text, 'of the sessions; absent on the last page')),
}

const names = list(text)

const readerLine = object({
  kind: oneOf(readerKinds),
  name: described(text, 'role, session, subject, metric, or contract and number of its version'),
  sub: maybe(described(text, 'of a session or person')),
  session_id: maybe(uuid),
  roles: maybe(described(names, 'of a session; of a person those that were recorded last')),
  rows: maybe(described(oneOf(rowSights), 'absent where the line is no reader, but lets readers see more')),
  ...{ clear: maybe(names), masked: maybe(names), hidden: maybe(names) },
  reasons: described(names, 'in words'),
  last_seen_at: maybe(time),
  surface: maybe(described(text, 'on which a person was seen last; `commit` for a change of a table')),
  by: maybe(described(text, 'who attested, or broke the glass')),
  since: maybe(time),
  until: maybe(time),
})

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
  operation({
    name: 'list_readers',
    tag: 'query',
    summary: 'Lists who can read a table or a column, each with the reasons in words',
    description: `Anyone, roles that exempt or reveal, versions approved by break-glass, grants of access that hold now, attestations that lift masks, live service sessions with the scope \`read\`, and people who were seen in the last ${seenDays} days. What a person sees is judged by the roles that were recorded last; a person who was not seen has what the roles have. A page may hold fewer lines than its limit.`,
    method: 'GET',
    path: '/api/v1/query/readers/list',
    access: { scope: 'read', roles: ['steward', 'administrator', 'auditor'] },
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: readersInput,
    output: pageOf(readerLine),
    faults: { not_found: 'There is no such table or column that can be read.' },
    run: async ({ parts, caller }, { namespace: levels, table, column, ...page }) => {
      const asked = { table: { namespace: levels, name: table }, column, ...pageRequest(page) }
      return pageView(await listReaders(parts, caller.tenant, asked), lineView)
    },
  }),
]

function lineView({ place: _, sessionId: session_id, lastSeenAt: last_seen_at, ...line }: ReaderLine) {
  return { ...line, session_id, last_seen_at }
}
