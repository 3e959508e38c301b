/** Lists usage records, newest first, as the API shows them. */

import { Fault } from '../../base/fault.ts'
import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import type { PageRequest } from '../../store/database/page.ts'
import { type ListedUsage, type ListFilter, listUsage, type UsageFilter } from '../../store/query/usage.ts'
import type { Store } from '../../store/store.ts'

/** Whether a principal sees the records of others. */
export function seesAllUsage({ roles }: Principal): boolean {
  return seesBytesScanned({ roles }) || roles.includes('auditor')
}

/** Whether a principal, as steward or administrator, sees the bytes scanned below filters. */
export function seesBytesScanned({ roles }: Pick<Principal, 'roles'>): boolean {
  return roles.includes('steward') || roles.includes('administrator')
}

/**
 * Limits a filter to the principal's own records, except for a steward or administrator.
 * @throws Fault `forbidden` for a filter on another principal
 */
export function visibleUsage<F extends UsageFilter>(filter: F, principal: Principal): F {
  const { sub } = principal
  if (seesAllUsage(principal)) return filter
  if ((filter.principal ?? sub) !== sub)
    throw new Fault(
      'forbidden',
      'Records of other principals require the role `steward`, `administrator` or `auditor`.',
    )
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
  filter: ListFilter,
  page: PageRequest,
) {
  const all = seesBytesScanned(principal)
  const records = await listUsage(store, tenant, visibleUsage(filter, principal), page)
  return pageView(records, (usage) => usageView(usage, all))
}

/**
 * A record as the API shows it. `bytes_scanned` depends on hidden rows and on files that were skipped by their bounds.
 * @param all whether the caller may see `bytes_scanned` below a filter or mask
 */
export function usageView(usage: ListedUsage, all: boolean) {
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
    tool: usage.tool,
    client: usage.client,
    purpose: usage.statedPurpose,
    ...(usage.raw && {
      raw_read: {
        session_id: usage.raw.sessionId,
        given: usage.raw.given,
        times: usage.raw.times,
        last_at: new Date(usage.raw.lastAtMs),
        protection: usage.raw.protection,
      },
    }),
  }
}
