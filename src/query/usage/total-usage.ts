/** Totals of usage records by key, as the API shows them. */

import type { TenantId } from '../../core/tenant.ts'
import { pageView } from '../../http/page-view.ts'
import type { PageRequest } from '../../store/page.ts'
import type { Store } from '../../store/store.ts'
import { totalUsage, type UsageFilter, type UsageGroup, type UsageTotal } from '../../store/usage.ts'

/** One page of totals. @throws Fault `bad_request` for a bad page token */
export async function totalUsageBy(
  store: Store,
  tenant: TenantId,
  filter: UsageFilter,
  by: UsageGroup,
  page: PageRequest,
) {
  return pageView(await totalUsage(store, tenant, filter, by, page), totalView)
}

function totalView({ key, queries, rowsOut, bytesOut, bytesScanned, runMs }: UsageTotal) {
  return {
    key,
    queries,
    rows_out: rowsOut,
    bytes_out: bytesOut,
    bytes_scanned: bytesScanned,
    run_ms: runMs,
  }
}
