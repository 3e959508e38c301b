/** A table's pins and unpins, newest first, as the API shows them. */

import { Fault } from '../base/fault.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import { listPins, type PinEvent } from '../store/contract/pins.ts'
import type { PageRequest } from '../store/database/page.ts'
import { loadGovernance } from '../store/governance/governance.ts'
import type { Store } from '../store/store.ts'

/** One page of events. @throws Fault `not_found` for an unknown table, `bad_request` for a bad page token */
export async function listTablePins(store: Store, tenant: TenantId, table: TableRef, page: PageRequest) {
  if ((await loadGovernance(store, tenant, table)) === undefined)
    throw new Fault('not_found', 'There is no such table.')
  return pageView(await listPins(store, tenant, table, page), pinView)
}

/** One pin event, as the API shows it. */
export function pinView({ sequence, kind, snapshotId, catalog, by, at }: PinEvent) {
  return { sequence, kind, snapshot_id: snapshotId, catalog, by, at }
}
