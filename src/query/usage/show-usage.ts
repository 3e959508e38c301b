/** Shows one usage record to the principal whose query it was, and to a steward or administrator. */

import type { Principal } from '../../core/principal.ts'
import type { TenantId } from '../../core/tenant.ts'
import { findUsage, type ListedUsage } from '../../store/query/usage.ts'
import type { Store } from '../../store/store.ts'
import { seesAllUsage } from './list-usage.ts'

/** @returns undefined for an unknown record, and for that of another principal */
export async function showUsage(
  store: Store,
  tenant: TenantId,
  queryId: string,
  principal: Principal,
): Promise<ListedUsage | undefined> {
  const found = await findUsage(store, tenant, queryId)
  return found !== undefined && (seesAllUsage(principal) || found.principal === principal.sub)
    ? found
    : undefined
}
