/** Refuses a request about a table that its caller may not see, in the words for one that there is not. */

import { Fault } from '../base/fault.ts'
import { overseesTables } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { findReadableTable } from '../store/governance/readable-tables.ts'
import type { Store } from '../store/store.ts'

/** @throws Fault `not_found` where the table may not be read, but for those who look after all tables */
export async function requireSeenTable(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  principal: Pick<Principal, 'roles'>,
): Promise<void> {
  if (overseesTables(principal)) return
  if ((await findReadableTable(store, tenant, principal, table)) === undefined) throw unknownTable()
}

/** What is said of a table that there is not, or that may not be seen. */
export function unknownTable(): Fault {
  return new Fault('not_found', 'There is no such table.')
}
