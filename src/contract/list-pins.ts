/** Lists a table's pins and unpins, newest first, in the form of the API. */

import type { Principal } from '../core/principal.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { deciderView } from '../http/actor-view.ts'
import { pageView } from '../http/page-view.ts'
import { listPins, type PinEvent } from '../store/contract/pins.ts'
import type { PageRequest } from '../store/database/page.ts'
import { loadGovernance } from '../store/governance/governance.ts'
import type { Store } from '../store/store.ts'
import { requireSeenTable, unknownTable } from './require-seen-table.ts'

/** Reads one page of events. Throws `not_found` for a table that is not seen and `bad_request` for a bad page token. */
export async function listTablePins(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
  page: PageRequest,
) {
  await requireSeenTable(store, tenant, table, principal)
  if ((await loadGovernance(store, tenant, table)) === undefined) throw unknownTable()
  return pageView(await listPins(store, tenant, table, page), pinView)
}

/** Shows one pin event in the form of the API. */
export function pinView({ sequence, kind, snapshotId, catalog, by, session, at }: PinEvent) {
  return { sequence, kind, snapshot_id: snapshotId, catalog, by, ...deciderView(session), at }
}
