/** Totals of usage records by key, as the API shows them. */

import type { TenantId } from '../../core/tenant.ts'
import type { PageRequest } from '../../store/page.ts'
import type { Store } from '../../store/store.ts'
import { totalUsage, type UsageFilter, type UsageGroup } from '../../store/usage.ts'

/** One page of totals. @throws Fault `bad_request` for a bad page token */
export async function totalUsageBy(
  store: Store,
  tenant: TenantId,
  filter: UsageFilter,
  by: UsageGroup,
  page: PageRequest,
) {
  const { items, next } = await totalUsage(store, tenant, filter, by, page)
  return {
    items: items.map(({ key, queries, rowsOut, bytesOut, bytesScanned, runMs }) => ({
      key,
      queries,
      rows_out: rowsOut,
      bytes_out: bytesOut,
      bytes_scanned: bytesScanned,
      run_ms: runMs,
    })),
    next,
  }
}
