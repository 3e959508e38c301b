/**
 * Decides of which tables somebody may be told what a policy says of their stored commits. A policy is a question about
 * metadata, which leads to files and may hold values, so its answer tells them. One rule for replays, for what they have
 * found, and for policies that are tried on one commit: who reads what writers wrote, and is restricted by no row filter
 * or column mask, stewards included.
 */

import { Fault } from '../../base/fault.ts'
import { everySchema, isWhole, seenTable } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { loadGovernances } from '../../store/governance/governance.ts'
import { showsWritten, type ValuesReader } from '../../store/governance/written-values.ts'
import type { Store } from '../../store/store.ts'

/**
 * Those of these tables of which a reader is not told that.
 * @param reader verified
 * @throws Fault `unavailable` where that cannot be looked up
 */
export async function hiddenTables(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  reader: ValuesReader,
): Promise<readonly TableRef[]> {
  const named = [...new Map(tables.map((table) => [tableKey(table), table])).values()]
  if (named.length === 0) return []
  // Of others than stewards, what is written is shown only where nothing restricts them.
  if (reader === 'operator' || !reader.roles.includes('steward')) {
    const isShown = await orUnavailable(showsWritten(store, tenant, reader, named))
    return named.filter((table) => !isShown(table))
  }
  const governances = await orUnavailable(loadGovernances(store, tenant, named))
  return named.filter((table) => {
    const governance = governances.get(tableKey(table))
    return governance !== undefined && !isWhole(seenTable(governance, everySchema(governance), reader))
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
