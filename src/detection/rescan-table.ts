/** Queues another scan of the newest known snapshot of a table. */

import { Fault } from '../base/fault.ts'
import type { Actor } from '../core/administration.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { requestRescan } from '../store/detection/run-list.ts'
import type { Store } from '../store/store.ts'
import { runView } from './run-view.ts'

/**
 * @param actor the verified principal, whom the attempt names, with its session
 * @throws Fault `not_found` when no snapshot is known, `conflict` when a scan of it waits or runs
 */
export async function rescanTable(store: Store, tenant: TenantId, table: TableRef, actor: Actor) {
  const run = await requestRescan(store, tenant, table, actor)
  if (run === undefined) throw new Fault('not_found', 'No snapshot of this table is known to detection.')
  return runView(run)
}
