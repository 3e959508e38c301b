/** Declares the operations on decisions: lists by filters, single ones, and their export. */

import { readerOf, tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { existingTenant } from '../../auth/administration/tenants.ts'
import { Fault } from '../../base/fault.ts'
import { decisions } from '../../core/decision.ts'
import type { RawContext, SessionAccess } from '../../core/operation.ts'
import type { TenantId } from '../../core/tenant.ts'
import { operationsOf } from '../../http/declare.ts'
import { type ExportFormat, exportFormats } from '../../http/export-formats.ts'
import { ownNames } from '../../http/own-names.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import { readInput } from '../../http/read-input.ts'
import {
  described,
  filteredTable,
  flag,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  text,
  time,
  uuid,
} from '../../http/schemas.ts'
import { foldsAllNames } from '../../store/catalog-credential/name-case.ts'
import { findAudit } from '../../store/commit/audit.ts'
import { type DecisionFilter, listDecisions } from '../../store/commit/decision-list.ts'
import { givesWritten, showsWritten, type ValuesReader } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'
import { exportDecisions, tablesOf } from './export-decisions.ts'
import {
  decisionRecordSchema,
  decisionRecordView,
  explainedDecisionView,
  listedDecisionSchema,
} from './views.ts'

interface Parts {
  readonly store: Store
}

const pair = tenantOperationsOf<Parts>()
const operation = operationsOf<Parts>()
const tag = 'policies'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner', 'auditor'] } as const

const filters = {
  ...tableFilter,
  decision: maybe(oneOf(decisions)),
  principal: maybe(described(nonEmpty, 'subject of who made the change')),
  policy: maybe(described(nonEmpty, 'id of a policy that was in force or evaluated')),
  request_id: maybe(described(nonEmpty, '`X-Request-Id` of the response')),
  session: maybe(described(uuid, 'id of the session through which the change came')),
  client: maybe(described(nonEmpty, '`User-Agent` of the client, whole')),
  application_id: maybe(described(nonEmpty, 'that the summary of the snapshot names')),
  branch: maybe(described(nonEmpty, 'that the commit moved')),
  from: maybe(described(time, 'made at this time or later')),
  to: maybe(described(time, 'made before this time')),
}
const format = maybe(oneOf(exportFormats, { default: 'jsonl' }))

interface FilterInput extends Omit<DecisionFilter, 'table' | 'requestId' | 'applicationId'> {
  readonly namespace?: readonly string[] | undefined
  readonly table?: string | undefined
  readonly request_id?: string | undefined
  readonly application_id?: string | undefined
}

function filterOf({
  namespace,
  table,
  request_id: requestId,
  application_id: applicationId,
  ...rest
}: FilterInput): DecisionFilter {
  return { ...rest, requestId, applicationId, table: filteredTable({ namespace, table }) }
}

const exported = {
  tag,
  summary: 'Streams decisions with their explanations as CSV or JSON Lines, newest first',
  description:
    'It holds the decisions on record when it begins. A transfer that breaks off is not whole. In CSV an apostrophe stands before a cell that a spreadsheet would read as a formula.',
  method: 'GET',
  media: { response: ['application/x-ndjson', 'text/csv'] },
  status: 200,
} as const

interface ExportInput extends FilterInput {
  readonly format?: ExportFormat
  readonly tenant?: string
}

/** @param tenantOf the tenant that the request concerns @param reader whose export it is */
async function respond(
  declaration: Parameters<typeof readInput>[0],
  {
    parts,
    request,
    signal,
    again,
  }: Pick<RawContext<Parts, SessionAccess>, 'parts' | 'request' | 'signal' | 'again'>,
  tenantOf: (input: ExportInput) => Promise<TenantId>,
  reader: ValuesReader,
): Promise<Response> {
  const sent = (await readInput(declaration, request, again)) as ExportInput
  const tenant = await tenantOf(sent)
  const input = await ownNames(declaration.input, sent, () => foldsAllNames(parts.store, tenant))
  const { format: wanted = 'jsonl', tenant: _, ...filter } = input
  return await exportDecisions({
    store: parts.store,
    tenant,
    reader,
    filter: filterOf(filter),
    format: wanted,
    signal,
    again,
  })
}

const ownExport = {
  ...exported,
  name: 'export_decisions',
  path: '/api/v1/decisions/export',
  access: reading,
  gives: givesWritten,
  input: object({ ...filters, format }),
} as const
const adminExport = {
  ...exported,
  name: 'export_tenant_decisions',
  path: '/admin/tenants/{tenant}/decisions/export',
  access: { organization: 'internal admin' },
  gives: givesWritten,
  input: object({ ...filters, format, tenant: text }),
  faults: { not_found: 'There is no such tenant.' },
} as const

export const decisionOperations = [
  ...pair({
    name: 'list_decisions',
    tag,
    summary: 'Decisions on commits and other changes, newest first',
    method: 'GET',
    path: '/decisions',
    access: reading,
    gives: givesWritten,
    input: {
      ...filters,
      explain: maybe(described(flag, 'whether each has its principal, policies and outcomes')),
      ...pageInput,
    },
    output: pageOf(listedDecisionSchema),
    run: async (context, { limit, page_token, explain = false, ...filter }) => {
      const { store } = context.parts
      const page = { ...filterOf(filter), ...pageRequest({ limit, page_token }) }
      const found = await listDecisions(store, context.tenant, page, { isExplained: explain })
      const reader = await readerOf(context)
      const shown = await showsWritten(store, context.tenant, reader, explain ? tablesOf(found.items) : [])
      return pageView(found, (one) => explainedDecisionView(one, shown(one.table)))
    },
  }),
  ...pair({
    name: 'get_decision',
    tag,
    summary: 'A decision with its policies at that time, their inputs and outcomes',
    method: 'GET',
    path: '/decisions/{id}',
    access: reading,
    gives: givesWritten,
    input: { id: described(text, '`X-Svc-Decision-Id` of the response') },
    output: decisionRecordSchema,
    faults: { not_found: 'The tenant has no such decision.' },
    run: async (context, { id }) => {
      const { store } = context.parts
      const record = await findAudit(store, context.tenant, id)
      if (record === undefined) throw new Fault('not_found', 'The tenant has no such decision.')
      const { table } = record
      const shown = await showsWritten(store, context.tenant, await readerOf(context), [table])
      return decisionRecordView(record, shown(table))
    },
  }),
  operation({
    ...ownExport,
    respond: (context) =>
      respond(ownExport, context, async () => context.caller.tenant, context.caller.principal),
  }),
  operation({
    ...adminExport,
    respond: (context) =>
      respond(
        adminExport,
        context,
        ({ tenant = '' }) => existingTenant(context.parts.store, tenant),
        'operator',
      ),
  }),
]
