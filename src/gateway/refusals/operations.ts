/** Declares the lists of refused changes: those that a policy denied, and those that got no verdict. */

import { readerOf, tenantOperationsOf } from '../../auth/administration/tenant-operations.ts'
import { tablePageRequest } from '../../http/page-view.ts'
import {
  described,
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
  uuid,
} from '../../http/schemas.ts'
import { refusalOutcomes } from '../../store/commit/refusals.ts'
import { forWhom, givesWritten } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'
import { listRefusedChanges } from './list-refusals.ts'

const pair = tenantOperationsOf<{ readonly store: Store }>()

const refusal = object({
  commit_id: described(uuid, '`X-Svc-Decision-Id` of the response'),
  request_id: maybe(described(text, '`X-Request-Id` of the response')),
  created_at: time,
  outcome: oneOf(refusalOutcomes),
  action: text,
  table: described(
    object({ namespace: list(text), name: text }),
    '`name` is empty for a change of a namespace',
  ),
  principal: described(text, 'subject'),
  principal_source: text,
  policy: maybe(described(object({ id: text, name: text }), 'absent where no single policy decided')),
  reason: described(text, 'what the writer read, or the error code of a missing verdict'),
  explanation: maybe(
    described(text, `the failing part of the policy with its values, or what could not be done, ${forWhom}`),
  ),
})

export const refusalOperations = pair({
  name: 'list_refusals',
  tag: 'policies',
  summary: 'Commits and other changes that were refused, newest first',
  description:
    'Denials (403) come from the audit log. Changes without a verdict (503) leave no audit row; the newest 10,000 are kept.',
  method: 'GET',
  path: '/refusals',
  access: { scope: 'read', roles: ['steward', 'administrator', 'auditor'] },
  gives: givesWritten,
  input: {
    request_id: maybe(described(nonEmpty, '`X-Request-Id` of the response')),
    ...tableFilter,
    ...pageInput,
  },
  output: pageOf(refusal),
  run: async (context, { request_id: requestId, ...page }) =>
    await listRefusedChanges(context.parts.store, context.tenant, await readerOf(context), {
      ...tablePageRequest(page),
      requestId,
    }),
})
