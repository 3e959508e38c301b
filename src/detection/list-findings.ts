/** Lists what detection found, newest first. */

import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { type FindingFilter, listFindings } from '../store/detection/findings.ts'
import type { Store } from '../store/store.ts'
import { findingView } from './finding-view.ts'

/** Reads one page of findings. Throws `bad_request` for a bad page token. */
export async function listDetectionFindings(store: Store, tenant: TenantId, filter: FindingFilter) {
  return pageView(await listFindings(store, tenant, filter), findingView)
}
