/** Who changed what governs reading, newest first, as the API shows it. */

import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { listContractChanges, type RecordedChange } from '../store/contract/changes.ts'
import type { PageRequest } from '../store/database/page.ts'
import type { Store } from '../store/store.ts'

/** One page of changes. @throws Fault `bad_request` for a bad page token */
export async function listChanges(store: Store, tenant: TenantId, page: PageRequest) {
  return pageView(await listContractChanges(store, tenant, page), changeView)
}

function changeView({ at, actor, action, subject, value }: RecordedChange) {
  return { at, actor, action, subject, value: value as Readonly<Record<string, unknown>> | undefined }
}
