/** Ends a table's pin. */

import type { Clock } from '../base/clock.ts'
import type { TableRef } from '../core/table-ref.ts'
import { unpinTable } from '../store/contract/pins.ts'
import type { ChangeContext } from './change.ts'
import { pinView } from './list-pins.ts'

/** Ends a pin. Throws `conflict` when the table is not pinned. */
export async function unpinSnapshot(clock: Clock, on: ChangeContext, table: TableRef) {
  return pinView(await unpinTable(on.store, on.tenant, { table, actor: on.actor, atMs: clock.now() }))
}
