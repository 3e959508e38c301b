/** Refused changes, newest first, as the API shows them. */

import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import { listRefusals, type Refusal, type RefusalFilter } from '../../store/commit/refusals.ts'
import { showsWritten, type ValuesReader } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'

/** One page of refusals. @throws Fault `bad_request` for a bad page token */
export async function listRefusedChanges(
  store: Store,
  tenant: TenantId,
  reader: ValuesReader,
  filter: RefusalFilter,
) {
  const found = await listRefusals(store, tenant, filter)
  const shown = await showsWritten(
    store,
    tenant,
    reader,
    found.items.map(({ table }) => table),
  )
  return pageView(found, (one) => refusalView(one, shown(one.table)))
}

function refusalView(refusal: Refusal, isShown: boolean) {
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
    explanation: isShown ? refusal.explanation : undefined,
  }
}
