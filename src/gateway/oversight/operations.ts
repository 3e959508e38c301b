/** Declares the operations on what governs commits: policies, decisions, and the count of open intents. */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { decisions } from '../../core/decision.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  maybe,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  text,
  wholeNumber,
} from '../../http/schemas.ts'
import { findAudit, listAudit } from '../../store/commit/audit.ts'
import { countIntents } from '../../store/commit/commit-intents.ts'
import type { Store } from '../../store/store.ts'
import { intentOperations } from './intent-operations.ts'
import { policyOperations } from './policy-operations.ts'
import { decisionRecordSchema, decisionRecordView, decisionSchema, decisionView } from './views.ts'

interface Parts {
  readonly store: Store
}

const pair = tenantOperationsOf<Parts>()
const tag = 'policies'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const

const audit = [
  pair({
    name: 'list_decisions',
    tag,
    summary: 'Decisions on commits and other changes, newest first',
    method: 'GET',
    path: '/decisions',
    access: reading,
    input: { ...tableFilter, decision: maybe(oneOf(decisions)), ...pageInput },
    output: pageOf(decisionSchema),
    run: async ({ parts, tenant }, { decision, ...asked }) => {
      const { table, ...page } = tablePageRequest(asked)
      const filter = { ...page, ...(table && { table }), ...(decision && { decision }) }
      return pageView(await listAudit(parts.store, tenant, filter), decisionView)
    },
  }),
  pair({
    name: 'get_decision',
    tag,
    summary: 'A decision with its policies at that time, their inputs and outcomes',
    method: 'GET',
    path: '/decisions/{id}',
    access: reading,
    input: { id: described(text, '`X-Svc-Decision-Id` of the response') },
    output: decisionRecordSchema,
    faults: { not_found: 'The tenant has no such decision.' },
    run: async ({ parts, tenant }, { id }) => {
      const record = await findAudit(parts.store, tenant, id)
      if (record === undefined) throw new Fault('not_found', 'The tenant has no such decision.')
      return decisionRecordView(record)
    },
  }),
]

const countOpen = operationsOf<Parts>()({
  name: 'count_intents',
  tag,
  summary: 'Counts the intents of all tenants: open ones, and stale ones, which await recovery',
  method: 'GET',
  path: '/admin/intents',
  access: { organization: 'internal admin' },
  output: object({ open: wholeNumber, stale: wholeNumber }),
  run: async ({ parts }) => await countIntents(parts.store),
})

export const writeOversightOperations = [...policyOperations, ...audit.flat(), ...intentOperations, countOpen]
