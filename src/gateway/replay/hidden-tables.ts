/**
 * Decides of which tables somebody may be told what a policy says of their stored commits. A policy is a question about
 * metadata, which leads to files and may hold values, so its answer tells them. One rule for replays, for what they have
 * found, and for policies that are tried on one commit.
 */

import { Fault } from '../../base/fault.ts'
import type { Principal } from '../../core/principal.ts'
import { everySchema, isWhole, seenTable } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'

/**
 * Those of these tables of which a row filter or column mask applies to a principal.
 * @param principal verified
 * @throws Fault `unavailable` where that cannot be looked up
 */
export async function hiddenTables(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  principal: Pick<Principal, 'sub' | 'roles'>,
): Promise<readonly TableRef[]> {
  const named = [...new Map(tables.map((table) => [tableKey(table), table])).values()]
  if (named.length === 0) return []
  const governances = await orUnavailable(loadGovernances(store, tenant, named))
  return named.filter((table) => {
    const governance = governances.get(tableKey(table))
    return governance !== undefined && !isWhole(seenTable(governance, everySchema(governance), principal))
  })
}

/** Turns a failed look-up into a Fault `unavailable`, because it does not mean that nothing applies. */
async function orUnavailable<T>(look: Promise<T>): Promise<T> {
  try {
    return await look
  } catch (cause) {
    throw new Fault('unavailable', 'The filters and masks of the tables could not be loaded. Retry.', {
      cause,
    })
  }
}
