/** Lists who changed contracts, filters, masks, tags and settings, newest first, in the form of the API. */

import type { TenantId } from '../core/tenant.ts'
import { deciderView } from '../http/actor-view.ts'
import { pageView } from '../http/page-view.ts'
import { listContractChanges, type RecordedChange } from '../store/contract/changes.ts'
import type { PageRequest } from '../store/database/page.ts'
import type { Store } from '../store/store.ts'

/** Reads one page of changes. Throws `bad_request` for a bad page token. */
export async function listChanges(store: Store, tenant: TenantId, page: PageRequest) {
  return pageView(await listContractChanges(store, tenant, page), changeView)
}

function changeView({ number, at, by, actor, action, subject, value }: RecordedChange) {
  return {
    number: String(number),
    at,
    actor: by,
    ...deciderView(actor?.session),
    action,
    subject,
    value: value as Readonly<Record<string, unknown>> | undefined,
  }
}
