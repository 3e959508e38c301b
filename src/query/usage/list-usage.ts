/** Lists usage records, newest first, as the API shows them. */

import { Fault } from '../../base/fault.ts'
import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import type { PageRequest } from '../../store/database/page.ts'
import { type ListedUsage, listUsage, type UsageFilter } from '../../store/query/usage.ts'
import type { Store } from '../../store/store.ts'

/** Whether a principal sees everyone's records, and what was read below a policy: a steward or administrator. */
export function seesAllUsage({ roles }: Principal): boolean {
  return roles.includes('steward') || roles.includes('administrator')
}

/** Records of the principal who asks; a steward or administrator may see everyone's. @throws Fault `forbidden` */
export function visibleUsage(filter: UsageFilter, principal: Principal): UsageFilter {
  const { sub } = principal
  if (seesAllUsage(principal)) return filter
  if ((filter.principal ?? sub) !== sub)
    throw new Fault('forbidden', 'Records of others take the role `steward` or `administrator`.')
  return { ...filter, principal: sub }
}

/**
 * One page of the records that a principal may see.
 *
 * @throws Fault `bad_request` for a bad page token, `forbidden` for records of another principal
 */
export async function listUsageRecords(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  filter: UsageFilter,
  page: PageRequest,
) {
  const all = seesAllUsage(principal)
  const records = await listUsage(store, tenant, visibleUsage(filter, principal), page)
  return pageView(records, (usage) => usageView(usage, all))
}

/**
 * What the engine read of files counts rows that a filter hides, and files that it skipped for their bounds.
 * @param all whether the caller may see that
 */
function usageView(usage: ListedUsage, all: boolean) {
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
    ...((all || usage.policies.length === 0) && { bytes_scanned: usage.bytesScanned }),
    queue_ms: usage.queueMs,
    plan_ms: usage.planMs,
    run_ms: usage.runMs,
    outcome: usage.outcome,
    sqlstate: usage.sqlState,
    fingerprint: usage.fingerprint,
  }
}
