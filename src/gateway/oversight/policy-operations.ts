/** Declares the operations on policies of commits: list, show, put, check, history, unbind, delete. */

import { tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { Fault } from '../../base/fault.ts'
import { policyKinds, policyModes } from '../../core/policy.ts'
import { actorMembers } from '../../http/actor-view.ts'
import { pageRequest, pageView } from '../../http/page-view.ts'
import {
  described,
  filteredTable,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  pageInput,
  pageOf,
  tableFilter,
  text,
  time,
  wholeNumber,
} from '../../http/schemas.ts'
import { findPolicy } from '../../store/policy/find-policy.ts'
import { deletePolicy, listPolicies, loadWriteGovernance } from '../../store/policy/policies.ts'
import { listPolicyChanges } from '../../store/policy/policy-history.ts'
import { checkScope } from '../../store/policy/policy-scope.ts'
import { unbindPolicy } from '../../store/policy/unbind-policy.ts'
import type { Store } from '../../store/store.ts'
import { checkPolicyText, pinningMembers, problemKinds } from './check-policy-text.ts'
import { askedScope, boundPolicyView, policyChangeView, scopeMembers } from './policy-views.ts'
import { savePolicy } from './put-policy.ts'
import { policySchema, policyView } from './views.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()
const tag = 'policies'
const reading = { scope: 'read', roles: ['steward', 'administrator', 'owner'] } as const
const auditing = { scope: 'read', roles: [...reading.roles, 'auditor'] } as const
const writing = { scope: 'admin', roles: ['administrator', 'owner'] } as const
const unknown = { not_found: 'The tenant has no such policy.' }

const scopeSchema = object(scopeMembers)
const listedPolicy = object({
  ...policySchema.properties,
  scope: maybe(described(scopeSchema, 'the namespace or tag through which it governs the table')),
})

export const policyOperations = [
  pair({
    name: 'list_policies',
    tag,
    summary: 'Lists the policies of commits, or those that govern one table, however they are bound',
    description: 'The list of one table is whole, on one page, in the order in which they are evaluated.',
    method: 'GET',
    path: '/policies',
    access: reading,
    gives: { overseen: ['existence', 'columns'] },
    input: { ...tableFilter, ...pageInput },
    output: pageOf(listedPolicy),
    run: async ({ parts, tenant }, { namespace, table: name, ...page }) => {
      const table = filteredTable({ namespace, table: name })
      if (table === undefined)
        return pageView(await listPolicies(parts.store, tenant, pageRequest(page)), policyView)
      const { policies } = await loadWriteGovernance(parts.store, tenant, table)
      return { items: policies.map(policyView) }
    },
  }),
  pair({
    name: 'get_policy',
    tag,
    summary: 'A policy of commits with what it is bound to',
    method: 'GET',
    path: '/policies/{id}',
    access: reading,
    gives: { overseen: ['existence', 'columns'] },
    input: { id: text },
    output: object({
      ...policySchema.properties,
      scopes: described(list(scopeSchema), 'oldest first, at most 1000'),
      more_scopes: maybe(described(flag, 'true where it is bound to more')),
    }),
    faults: unknown,
    run: async ({ parts, tenant }, { id }) => {
      const found = await findPolicy(parts.store, tenant, id)
      if (found === undefined) throw new Fault('not_found', unknown.not_found)
      return boundPolicyView(found)
    },
  }),
  pair({
    name: 'put_policy',
    tag,
    summary:
      'Binds a policy of commits to a table, a namespace or a tag, or replaces it, with effect on the next commit',
    description:
      'A policy may be bound to several: each request adds its `table`, `namespace` or `tag` to them. Name exactly one.',
    method: 'PUT',
    path: '/policies/{id}',
    access: writing,
    gives: { nothing: 'own input' },
    input: {
      id: text,
      ...scopeMembers,
      kind: oneOf(policyKinds),
      mode: maybe(oneOf(policyModes, { default: 'enforce' })),
      name: maybe(described(nonEmpty, 'shown to a writer who is denied; default: the id')),
      message: maybe(described(text, 'what the writer should do about a denial')),
      definition_cel: described(nonEmpty, 'a CEL expression that gives a bool'),
    },
    output: object({ ...policySchema.properties, ...pinningMembers }),
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
      {
        input: {
          id: 'writers-only',
          namespace: ['sales'],
          kind: 'write_acl',
          definition_cel: 'principal.role(principal, "sales-writer")',
        },
      },
    ],
    run: async (
      { parts, tenant, actor },
      {
        id,
        table,
        namespace,
        tag: bound,
        kind,
        mode = 'enforce',
        name = id,
        message = '',
        definition_cel: definitionCel,
      },
    ) => {
      const scope = askedScope({ table, namespace, tag: bound })
      const policy = { id, kind, mode, name, message, definitionCel }
      return await savePolicy(parts.store, tenant, scope, policy, await actor())
    },
  }),
  pair({
    name: 'check_policy',
    tag,
    summary: 'Checks the text of a policy as a put does, and saves nothing',
    method: 'POST',
    path: '/policies/check',
    access: reading,
    gives: { nothing: 'own input' },
    input: { definition_cel: described(nonEmpty, 'a CEL expression that gives a bool') },
    output: object({
      saveable: described(flag, 'whether a put would take the text: it has no problem'),
      problems: list(
        object({
          kind: described(
            oneOf(problemKinds),
            '`error`: it does not compile. `hint`: it compiles, and would not do what it says',
          ),
          message: text,
          offset: described(wholeNumber, 'in UTF-16 code units, from 0'),
          line: described(wholeNumber, 'from 1'),
          column: described(wholeNumber, 'in UTF-16 code units, from 1'),
        }),
      ),
      ...pinningMembers,
    }),
    examples: [{ input: { definition_cel: 'manifest.has_column(commit.result, "id")' } }],
    run: async (_, { definition_cel: definitionCel }) => await checkPolicyText(definitionCel),
  }),
  pair({
    name: 'list_policy_history',
    tag,
    summary: 'The changes of a policy, newest first: who, when, what it said before and after',
    description: 'A removed policy keeps its history.',
    method: 'GET',
    path: '/policies/{id}/history',
    access: auditing,
    gives: { overseen: ['existence', 'columns'] },
    input: { id: text, ...pageInput },
    output: pageOf(
      object({
        at: time,
        action: oneOf(['put', 'unbind', 'delete']),
        actor: maybe(described(object(actorMembers), 'absent in changes of older versions')),
        request_id: maybe(text),
        scope: maybe(described(scopeSchema, 'what it was bound to, or is no longer bound to')),
        before: maybe(policySchema),
        after: maybe(policySchema),
      }),
    ),
    run: async ({ parts, tenant }, { id, ...page }) =>
      pageView(await listPolicyChanges(parts.store, tenant, id, pageRequest(page)), policyChangeView),
  }),
  pair({
    name: 'unbind_policy',
    tag,
    summary:
      'Ends what binds a policy of commits to one table, namespace or tag; it governs the rest as before',
    description:
      'Name exactly one of `table`, `namespace` and `tag`. It must be bound to something else too: else delete it.',
    method: 'POST',
    path: '/policies/{id}/unbind',
    access: writing,
    gives: { nothing: 'own input' },
    input: { id: text, ...scopeMembers },
    faults: {
      not_found: 'The tenant has no such policy, or it is not bound to this.',
      conflict: 'The policy is bound to nothing else, or follows from a contract.',
    },
    examples: [{ input: { id: 'writers-only', namespace: ['sales'] } }],
    run: async ({ parts, tenant, actor }, { id, ...named }) => {
      const scope = askedScope(named)
      checkScope(scope)
      await unbindPolicy(parts.store, tenant, id, scope, await actor())
    },
  }),
  pair({
    name: 'delete_policy',
    tag,
    summary: 'Removes a policy of commits from everything that it governs',
    method: 'DELETE',
    path: '/policies/{id}',
    access: writing,
    gives: { nothing: 'own input' },
    input: { id: text },
    faults: unknown,
    run: async ({ parts, tenant, actor }, { id }) => {
      if (!(await deletePolicy(parts.store, tenant, id, await actor())))
        throw new Fault('not_found', unknown.not_found)
    },
  }),
].flat()
