/** Lists detection runs over tables that the principal may see, newest first. */

import { readsAllRecords } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { listRuns, type RunFilter } from '../store/detection/run-list.ts'
import type { Store } from '../store/store.ts'
import { runView, sightsOfRuns } from './run-view.ts'

/** Reads one page of runs. Throws `bad_request` for a bad page token. */
export async function listDetectionRuns(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  filter: Omit<RunFilter, 'readableOnly'>,
) {
  const page = await listRuns(store, tenant, { ...filter, readableOnly: !readsAllRecords(principal) })
  const sightOf = await sightsOfRuns(store, tenant, principal, page.items)
  return pageView(page, (run) => runView(run, sightOf(run)))
}
