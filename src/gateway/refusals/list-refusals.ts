/** Refused changes, newest first, as the API shows them to stewards. */

import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import { listRefusals, type Refusal, type RefusalFilter } from '../../store/commit/refusals.ts'
import type { Store } from '../../store/store.ts'

/** One page of refusals. @throws Fault `bad_request` for a bad page token */
export async function listRefusedChanges(store: Store, tenant: TenantId, filter: RefusalFilter) {
  return pageView(await listRefusals(store, tenant, filter), refusalView)
}

function refusalView(refusal: Refusal) {
  return {
    commit_id: refusal.commitId,
    request_id: refusal.requestId,
    created_at: refusal.createdAt,
    outcome: refusal.outcome,
    action: refusal.action,
    table: refusal.table,
    principal: refusal.principal,
    principal_source: refusal.principalSource,
    policy: refusal.policy,
    reason: refusal.reason,
    explanation: refusal.explanation,
  }
}
