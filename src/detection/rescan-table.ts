/** Has the newest known snapshot of a table scanned once more. */

import { Fault } from '../base/fault.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { requestRescan } from '../store/detection/run-list.ts'
import type { Store } from '../store/store.ts'
import { runView } from './run-view.ts'

/**
 * @param requestedBy whom the attempt names
 * @throws Fault `not_found` where no snapshot is known, `conflict` where a scan of it waits or runs
 */
export async function rescanTable(store: Store, tenant: TenantId, table: TableRef, requestedBy: string) {
  const run = await requestRescan(store, tenant, table, requestedBy)
  if (run === undefined) throw new Fault('not_found', 'No snapshot of this table is known to detection.')
  return runView(run)
}
