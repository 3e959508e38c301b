/** Lists detection runs, newest first. */

import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { listRuns, type RunFilter } from '../store/detection/run-list.ts'
import type { Store } from '../store/store.ts'
import { runView } from './run-view.ts'

/** Reads one page of runs. Throws `bad_request` for a bad page token. */
export async function listDetectionRuns(store: Store, tenant: TenantId, filter: RunFilter) {
  return pageView(await listRuns(store, tenant, filter), runView)
}
