/** Lists what detection found, newest first, in tables that the principal may see. */

import { readsAllRecords } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import type { TenantId } from '../core/tenant.ts'
import { type FindingFilter, listFindings } from '../store/detection/findings.ts'
import type { Store } from '../store/store.ts'
import { seenFindings } from './finding-view.ts'

/** Reads one page of findings. Throws `bad_request` for a bad page token. */
export async function listDetectionFindings(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  filter: Omit<FindingFilter, 'readableOnly'>,
) {
  const page = await listFindings(store, tenant, { ...filter, readableOnly: !readsAllRecords(principal) })
  return { items: await seenFindings(store, tenant, principal, page.items), next_page_token: page.next }
}
