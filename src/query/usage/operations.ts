/** Declares GET /api/v1/usage, its export and totals: usage records in pages and as a stream, and their totals. */

import { Fault } from '../../base/fault.ts'
import { rawReadKinds, rawReadProtections } from '../../core/raw-read.ts'
import { protectionKinds, usageOutcomes } from '../../core/usage.ts'
import { operationsOf } from '../../http/declare.ts'
import { type ExportFormat, exportFormats } from '../../http/export-formats.ts'
import { ownNames } from '../../http/own-names.ts'
import { pageRequest } from '../../http/page-view.ts'
import { readInput } from '../../http/read-input.ts'
import {
  described,
  filteredTable,
  flag,
  list,
  maybe,
  nonEmpty,
  number,
  object,
  oneOf,
  pageInput,
  pageOf,
  type TableFilterInput,
  tableFilter,
  tableIdentifier,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { foldsAllNames } from '../../store/catalog-credential/name-case.ts'
import { type ListFilter, type UsageFilter, usageGroups } from '../../store/query/usage.ts'
import type { Store } from '../../store/store.ts'
import { exportUsage } from './export-usage.ts'
import { listUsageRecords } from './list-usage.ts'
import { totalUsageBy } from './total-usage.ts'

const operation = operationsOf<{ readonly store: Store }>()
const access = { scope: 'read' } as const
const faults = { forbidden: 'The session lacks the scope `read`, or the records are of another principal.' }

const filters = {
  principal: maybe(
    described(
      text,
      'Subject. Without the role `steward`, `administrator` or `auditor` only the caller’s own',
    ),
  ),
  outcome: maybe(oneOf(usageOutcomes)),
  from: maybe(described(time, 'Started at this time or later')),
  to: maybe(described(time, 'Started before this time')),
}
const listed = {
  ...filters,
  ...tableFilter,
  column: maybe(described(nonEmpty, 'At the top level of `table`; raw reads are of all columns')),
}

interface ListInput extends UsageFilter, TableFilterInput {
  readonly column?: string | undefined
}

/** @throws Fault `bad_request` for half a table, or a column without one */
function listFilter({ namespace, table, column, ...filter }: ListInput): ListFilter {
  if (column !== undefined && table === undefined)
    throw new Fault('bad_request', '`column` goes with `namespace` and `table`.')
  return { ...filter, column, table: filteredTable({ namespace, table }) }
}
const read = object({
  table: tableIdentifier,
  columns: list(text),
  snapshot_id: maybe(described(text, 'decimal')),
  pinned: maybe(flag),
})
const record = object({
  query_id: uuid,
  started_at: time,
  principal: text,
  principal_source: text,
  surface: text,
  catalog: maybe(text),
  engine: maybe(text),
  contracts: list(object({ id: text, version: wholeNumber })),
  reads: list(read),
  policies: list(
    object({
      id: text,
      kind: oneOf(protectionKinds),
      table: tableIdentifier,
      column: maybe(text),
      action: maybe(text),
      purpose: maybe(described(text, 'of a grant of access that the query used')),
    }),
  ),
  rows_out: wholeNumber,
  bytes_out: wholeNumber,
  bytes_scanned: maybe(wholeNumber),
  queue_ms: number,
  plan_ms: number,
  run_ms: number,
  outcome: oneOf(usageOutcomes),
  sqlstate: maybe(text),
  fingerprint: maybe(text),
  tool: maybe(described(text, 'of the Model Context Protocol')),
  client: maybe(described(text, 'what the client of `tool` calls itself')),
  purpose: maybe(described(text, 'that the session named when it read')),
  raw_read: maybe(
    described(
      object({
        session_id: maybe(uuid),
        given: oneOf(rawReadKinds),
        times: wholeNumber,
        last_at: time,
        protection: described(
          oneOf(rawReadProtections),
          '`exempt`: filters or masks of the table were passed over; `told`: an engine was told to apply them',
        ),
      }),
      'on the surface `iceberg`: what was given of a table, so that its files can be read',
    ),
  ),
})
const total = object({
  key: text,
  queries: wholeNumber,
  rows_out: wholeNumber,
  bytes_out: wholeNumber,
  bytes_scanned: maybe(described(wholeNumber, 'with the role `steward` or `administrator`')),
  run_ms: number,
})

const exported = {
  name: 'export_usage',
  tag: 'usage',
  summary: 'Streams usage records as CSV or JSON Lines, newest first',
  description:
    'It holds the records that are there when it begins. A transfer that breaks off is not whole. In CSV an apostrophe stands before a cell that a spreadsheet would read as a formula.',
  method: 'GET',
  path: '/api/v1/usage/export',
  access,
  gives: {
    own: ['existence', 'columns', 'counts'],
    overseen: ['existence', 'columns', 'counts'],
    overseers: ['steward', 'administrator', 'auditor'],
  },
  input: object({ ...listed, format: maybe(oneOf(exportFormats, { default: 'jsonl' })) }),
  media: { response: ['application/x-ndjson', 'text/csv'] },
  status: 200,
  faults,
} as const

interface ExportInput extends ListInput {
  readonly format?: ExportFormat
}

export const usageOperations = [
  operation({
    name: 'list_usage',
    tag: 'usage',
    summary: 'Usage records of queries, newest first',
    method: 'GET',
    path: '/api/v1/usage',
    access,
    gives: {
      own: ['existence', 'columns', 'counts'],
      overseen: ['existence', 'columns', 'counts'],
      overseers: ['steward', 'administrator', 'auditor'],
    },
    input: object({ ...listed, ...pageInput }),
    output: pageOf(record),
    faults,
    run: async ({ parts, caller }, { limit, page_token, ...filter }) =>
      await listUsageRecords(
        parts.store,
        caller.tenant,
        caller.principal,
        listFilter(filter),
        pageRequest({ limit, page_token }),
      ),
  }),
  operation({
    ...exported,
    respond: async ({ parts, caller, request, signal, again }) => {
      const sent = (await readInput(exported, request, again)) as ExportInput
      const own = await ownNames(exported.input, sent, () => foldsAllNames(parts.store, caller.tenant))
      const { format: wanted = 'jsonl', ...filter } = own
      return await exportUsage({
        ...{ store: parts.store, tenant: caller.tenant, principal: caller.principal },
        ...{ filter: listFilter(filter), format: wanted, signal, again },
      })
    },
  }),
  operation({
    name: 'total_usage',
    tag: 'usage',
    summary: 'Totals of usage records, by key',
    description: 'A query of several tables or contracts is counted for each.',
    method: 'GET',
    path: '/api/v1/usage/totals',
    access,
    gives: {
      own: ['existence', 'counts'],
      overseen: ['existence', 'counts'],
      overseers: ['steward', 'administrator', 'auditor'],
    },
    input: object({ by: oneOf(usageGroups), ...filters, ...pageInput }),
    output: pageOf(total),
    faults,
    run: ({ parts, caller }, { by, limit, page_token, ...filter }) =>
      totalUsageBy(
        parts.store,
        caller.tenant,
        caller.principal,
        filter,
        by,
        pageRequest({ limit, page_token }),
      ),
  }),
]
