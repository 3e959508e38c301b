/** Declares GET /api/v1/usage and /api/v1/usage/totals: usage records in pages, and their totals. */

import { rawReadKinds, rawReadProtections } from '../../core/raw-read.ts'
import { protectionKinds, usageOutcomes } from '../../core/usage.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest } from '../../http/page-view.ts'
import {
  described,
  flag,
  list,
  maybe,
  number,
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
import { usageGroups } from '../../store/query/usage.ts'
import type { Store } from '../../store/store.ts'
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
  ...pageInput,
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
    input: object(filters),
    output: pageOf(record),
    faults,
    run: ({ parts, caller }, { limit, page_token, ...filter }) =>
      listUsageRecords(
        parts.store,
        caller.tenant,
        caller.principal,
        filter,
        pageRequest({ limit, page_token }),
      ),
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
    input: object({ by: oneOf(usageGroups), ...filters }),
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
