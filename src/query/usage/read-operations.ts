/** Declares GET /api/v1/usage/readers: who read a table or a column in a time, over all surfaces. */

import { Fault } from '../../base/fault.ts'
import { rawReadKinds } from '../../core/raw-read.ts'
import { sawOfTable } from '../../core/table-reads.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { listTableReads, type TableReads } from '../../store/query/table-reads.ts'
import type { Store } from '../../store/store.ts'

const operation = operationsOf<{ readonly store: Store }>()
const { namespace, name } = tableIdentifier.properties

/** The longest time that one request asks about. */
const spanDaysMax = 366
const dayMs = 24 * 3_600_000

const input = object({
  namespace: described(namespace, 'its levels joined by %1F'),
  table: name,
  column: maybe(described(nonEmpty, 'a column at the top level; absent: any')),
  saw: maybe(described(oneOf(sawOfTable), '`whole`: the reads that no filter and no mask applied to')),
  from: described(time, 'Read at this time or later'),
  to: described(time, `Read before this time, at most ${spanDaysMax} days later`),
  ...pageInput,
})

const readsOf = object({
  principal: text,
  surface: text,
  session: maybe(
    described(
      object({ id: uuid, name: maybe(text), roles: list(text) }),
      'on the surface `iceberg`; the roles are those of the session, without those of a person’s token',
    ),
  ),
  given: maybe(described(oneOf(rawReadKinds), 'on the surface `iceberg`')),
  saw: oneOf(sawOfTable),
  reads: wholeNumber,
  first_at: time,
  last_at: time,
})

export const readOperations = [
  operation({
    name: 'who_read',
    tag: 'usage',
    summary: 'Who read a table or a column between two times, over all surfaces',
    description:
      'One item for each principal, surface, session, kind of raw read and what was seen. Refused queries have read nothing. Raw reads of the surface `iceberg` are of all columns; those of the last minute are not recorded yet.',
    method: 'GET',
    path: '/api/v1/usage/readers',
    access: { scope: 'read', roles: ['steward', 'administrator', 'auditor'] },
    gives: { overseen: ['existence', 'columns', 'counts'] },
    input,
    output: pageOf(readsOf),
    faults: {},
    run: async ({ parts, caller }, { namespace: levels, table, limit, page_token, ...asked }) => {
      const { from, to } = asked
      if (to.getTime() <= from.getTime() || to.getTime() - from.getTime() > spanDaysMax * dayMs)
        throw new Fault('bad_request', `\`to\` must be after \`from\`, by at most ${spanDaysMax} days.`)
      const filter = { ...asked, table: { namespace: levels, name: table } }
      const page = pageRequest({ limit, page_token })
      return pageView(await listTableReads(parts.store, caller.tenant, filter, page), readsView)
    },
  }),
]

function readsView({ session, firstAt, lastAt, ...reads }: TableReads) {
  const shown = session && { ...session, name: session.name ?? undefined }
  return { ...reads, session: shown, first_at: firstAt, last_at: lastAt }
}
