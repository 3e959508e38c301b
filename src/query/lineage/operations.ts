/** Declares GET /api/v1/lineage/reads: lineage by reading, in pages. */

import { Fault } from '../../base/fault.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  pageInput,
  pageOf,
  tableFilter,
  text,
  time,
  wholeNumber,
} from '../../http/schemas.ts'
import { type ListedReadLineage, listReadLineage } from '../../store/query/read-lineage.ts'
import type { Store } from '../../store/store.ts'

const operation = operationsOf<{ readonly store: Store }>()
const places = list(wholeNumber)

function readLineageView({ lineage, ...read }: ListedReadLineage) {
  return {
    principal: read.principal,
    fingerprint: read.fingerprint,
    columns: lineage.columns,
    outputs: lineage.outputs,
    conditions: lineage.conditions,
    truncated: lineage.truncated,
    reads: read.reads,
    first_read_at: read.firstReadAt,
    last_read_at: read.lastReadAt,
  }
}

export const readLineageOperations = [
  operation({
    name: 'list_read_lineage',
    tag: 'lineage',
    summary: 'Which columns were read together into which result, by whom and how often',
    description:
      'It is found from statements that completed, and kept apart from declared lineage. Statements are named by their fingerprint only. What was first read last comes first.',
    method: 'GET',
    path: '/api/v1/lineage/reads',
    access: { scope: 'read', roles: ['steward', 'administrator', 'owner', 'auditor'] },
    gives: { overseen: ['existence', 'columns'] },
    input: object({
      ...tableFilter,
      column: maybe(described(nonEmpty, 'of the table')),
      principal: maybe(described(nonEmpty, 'subject of who read')),
      ...pageInput,
    }),
    output: pageOf(
      object({
        principal: text,
        fingerprint: described(text, 'of the statement without its literals, as in usage records'),
        columns: list(object({ namespace: list(text), name: text, column: text })),
        outputs: described(
          list(places),
          'for each column of the result, the `columns` that flow into it, by place',
        ),
        conditions: described(
          places,
          'the `columns` that decide which rows there are, or how they are grouped',
        ),
        truncated: described(flag, 'whether it reads more than is kept'),
        reads: described(wholeNumber, 'statements that completed'),
        first_read_at: time,
        last_read_at: time,
      }),
    ),
    run: async ({ parts, caller }, { column, principal, ...page }) => {
      const asked = tablePageRequest(page)
      if (column !== undefined && asked.table === undefined)
        throw new Fault('bad_request', '`column` goes with `namespace` and `table`.')
      return pageView(
        await listReadLineage(parts.store, caller.tenant, { ...asked, column, principal }),
        readLineageView,
      )
    },
  }),
]
