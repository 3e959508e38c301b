/** Declares the operations on what governs commits: policies, decisions, and the count of open intents. */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { decisions } from '../../core/decision.ts'
import { policyKinds, policyModes } from '../../core/policy.ts'
import { operationsOf } from '../../http/declare.ts'
import { pageRequest, pageView, tablePageRequest } from '../../http/page-view.ts'
import {
  described,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  tableIdentifier,
  text,
  wholeNumber,
} from '../../http/schemas.ts'
import { findAudit, listAudit } from '../../store/commit/audit.ts'
import { countIntents } from '../../store/commit/commit-intents.ts'
import { deletePolicy, listPolicies } from '../../store/policy/policies.ts'
import type { Store } from '../../store/store.ts'
import { intentOperations } from './intent-operations.ts'
import { savePolicy } from './put-policy.ts'
import {
  decisionRecordSchema,
  decisionRecordView,
  decisionSchema,
  decisionView,
  policySchema,
  policyView,
} from './views.ts'

interface Parts {
  readonly store: Store
}

const pair = tenantOperationsOf<Parts>()
const tag = 'policies'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const
const writing = { scope: 'admin', roles: ['administrator', 'owner'] } as const

const policies = [
  pair({
    name: 'list_policies',
    tag,
    summary: 'Lists the policies of commits',
    method: 'GET',
    path: '/policies',
    access: reading,
    input: pageInput,
    output: pageOf(policySchema),
    run: async ({ parts, tenant }, page) =>
      pageView(await listPolicies(parts.store, tenant, pageRequest(page)), policyView),
  }),
  pair({
    name: 'put_policy',
    tag,
    summary: 'Attaches a policy of commits to a table, or replaces it, with effect on the next commit',
    description: 'A policy may govern several tables: each request adds its table to them.',
    method: 'PUT',
    path: '/policies/{id}',
    access: writing,
    input: {
      id: text,
      table: tableIdentifier,
      kind: oneOf(policyKinds),
      mode: maybe(oneOf(policyModes, { default: 'enforce' })),
      name: maybe(described(nonEmpty, 'shown to a writer who is denied; default: the id')),
      message: maybe(described(text, 'what the writer should do about a denial')),
      definition_cel: described(nonEmpty, 'a CEL expression that gives a bool'),
    },
    output: policySchema,
    faults: { conflict: 'A policy of another kind already has this id.' },
    examples: [
      {
        input: {
          id: 'keep-id',
          table: { namespace: ['sales'], name: 'orders' },
          kind: 'schema',
          definition_cel: 'manifest.has_column(commit.result, "id")',
        },
      },
    ],
    run: async (
      { parts, tenant, actor },
      { id, table, kind, mode = 'enforce', name = id, message = '', definition_cel: definitionCel },
    ) => {
      const policy = { id, kind, mode, name, message, definitionCel }
      return await savePolicy(parts.store, tenant, table, policy, await actor())
    },
  }),
  pair({
    name: 'delete_policy',
    tag,
    summary: 'Removes a policy of commits from every table that it governs',
    method: 'DELETE',
    path: '/policies/{id}',
    access: writing,
    input: { id: text },
    faults: { not_found: 'The tenant has no such policy.' },
    run: async ({ parts, tenant, actor }, { id }) => {
      if (!(await deletePolicy(parts.store, tenant, id, await actor())))
        throw new Fault('not_found', 'The tenant has no such policy.')
    },
  }),
]

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

export const writeOversightOperations = [...[...policies, ...audit].flat(), ...intentOperations, countOpen]
