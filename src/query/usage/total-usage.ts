/** Lists totals of usage records by key, as the API shows them. */

import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import type { PageRequest } from '../../store/database/page.ts'
import { totalUsage, type UsageFilter, type UsageGroup, type UsageTotal } from '../../store/query/usage.ts'
import type { Store } from '../../store/store.ts'
import { seesBytesScanned, visibleUsage } from './list-usage.ts'

/**
 * One page of totals over the records that a principal may see.
 *
 * @throws Fault `bad_request` for a bad page token, `forbidden` for records of another principal
 */
export async function totalUsageBy(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  filter: UsageFilter,
  by: UsageGroup,
  page: PageRequest,
) {
  const all = seesBytesScanned(principal)
  const totals = await totalUsage(store, tenant, visibleUsage(filter, principal), by, page)
  return pageView(totals, (total) => totalView(total, all))
}

/** @param all whether the caller may see the bytes scanned below filters and masks */
function totalView({ key, queries, rowsOut, bytesOut, bytesScanned, runMs }: UsageTotal, all: boolean) {
  return {
    key,
    queries,
    rows_out: rowsOut,
    bytes_out: bytesOut,
    ...(all && { bytes_scanned: bytesScanned }),
    run_ms: runMs,
  }
}
