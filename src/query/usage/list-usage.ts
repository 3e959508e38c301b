/** Lists usage records, newest first, as the API shows them. */

import { Fault } from '../../base/fault.ts'
import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import type { PageRequest } from '../../store/page.ts'
import type { Store } from '../../store/store.ts'
import { type ListedUsage, listUsage, type UsageFilter } from '../../store/usage.ts'

/** Records of the principal who asks; a steward or administrator may see everyone's. @throws Fault `forbidden` */
export function visibleUsage(filter: UsageFilter, { sub, roles }: Principal): UsageFilter {
  const all = roles.includes('steward') || roles.includes('administrator')
  if (!all && (filter.principal ?? sub) !== sub)
    throw new Fault('forbidden', 'Records of others take the role `steward` or `administrator`.')
  return all ? filter : { ...filter, principal: sub }
}

/** One page of records. @throws Fault `bad_request` for a bad page token */
export async function listUsageRecords(
  store: Store,
  tenant: TenantId,
  filter: UsageFilter,
  page: PageRequest,
) {
  return pageView(await listUsage(store, tenant, filter, page), usageView)
}

function usageView(usage: ListedUsage) {
  return {
    query_id: usage.queryId,
    started_at: usage.startedAt,
    principal: usage.principal,
    principal_source: usage.principalSource,
    surface: usage.surface,
    catalog: usage.catalog,
    engine: usage.engine,
    contracts: usage.contracts,
    reads: usage.reads.map(({ namespace, name, columns, snapshot_id, pinned }) => ({
      table: { namespace, name },
      columns,
      snapshot_id,
      pinned,
    })),
    policies: usage.policies,
    rows_out: usage.rowsOut,
    bytes_out: usage.bytesOut,
    bytes_scanned: usage.bytesScanned,
    queue_ms: usage.queueMs,
    plan_ms: usage.planMs,
    run_ms: usage.runMs,
    outcome: usage.outcome,
    sqlstate: usage.sqlState,
    fingerprint: usage.fingerprint,
  }
}
