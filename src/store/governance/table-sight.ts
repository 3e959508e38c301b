/**
 * Decides what a principal may see of the numbers about a table: those of checks and of detection, which read every row
 * and value, so that a number could tell what a filter or mask hides. A steward sees everything. Others see a number
 * only where no filter and no mask on its columns concerns them.
 */

import type { Governance } from '../../core/governance.ts'
import { readsAllRecords } from '../../core/oversight.ts'
import { type Principal, readsRecordsOnly } from '../../core/principal.ts'
import { everySchema, isReadable, isWhole, seenTable, showsValues } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'
import { loadGovernances } from './governance.ts'

/** What a principal may see of the numbers about a table. */
export interface Sight {
  /** Whether nothing of the table is hidden from the principal. */
  readonly isWhole: boolean
  /** Whether numbers of these columns may be seen. */
  readonly showsNumbers: (fieldIds: readonly number[]) => boolean
}

const whole: Sight = { isWhole: true, showsNumbers: () => true }
const closed: Sight = { isWhole: false, showsNumbers: () => false }

/**
 * The sights of a principal, by tableKey. A table that may not be read is left out, so nothing of it is shown; who reads
 * all records sees that something ran over it, and no number.
 * @throws Fault where the governance cannot be loaded; nothing is shown then
 */
export async function sightsOf(
  store: Store,
  tenant: TenantId,
  principal: Principal,
  tables: readonly TableRef[],
): Promise<ReadonlyMap<string, Sight>> {
  const keys = [...new Map(tables.map((table) => [tableKey(table), table])).values()]
  if (principal.roles.includes('steward')) return new Map(keys.map((table) => [tableKey(table), whole]))
  if (readsRecordsOnly(principal)) return new Map(keys.map((table) => [tableKey(table), closed]))
  const governances = keys.length === 0 ? new Map() : await loadGovernances(store, tenant, keys)
  return new Map(
    keys.flatMap((table): readonly [string, Sight][] => {
      const governance: Governance | undefined = governances.get(tableKey(table))
      if (governance === undefined || isReadable(governance))
        return [[tableKey(table), sightOf(governance, principal)]]
      return readsAllRecords(principal) ? [[tableKey(table), closed]] : []
    }),
  )
}

/** The sight of a principal that is no steward. @param governance undefined: the table is not known, so all is hidden */
export function sightOf(governance: Governance | undefined, principal: Principal): Sight {
  if (governance === undefined) return closed
  const seen = seenTable(governance, everySchema(governance), principal)
  return { isWhole: isWhole(seen), showsNumbers: (fieldIds) => showsValues(seen, fieldIds) }
}
