/**
 * Decides who reads what writers wrote into their changes: values that a policy failed on, bodies, paths of files. A
 * writer may put any value of a table there. So those read them who may read every value of the table, and stewards, who
 * decide what is hidden of it. The operator, who owns no tenant's data, does not.
 */

import type { GivesOfTables } from '../../core/gives.ts'
import type { Principal } from '../../core/principal.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Store } from '../store.ts'
import { sightsOf } from './table-sight.ts'

/** Who reads such values, in descriptions of answers (docs/reference/visibility.md 1.7). */
export const forWhom = 'for stewards and for who may read all values of the table'

/** What a record gives that holds such values (docs/reference/visibility.md 1.7). */
export const givesWritten = {
  visible: ['existence', 'columns', 'values', 'counts'],
  overseen: ['existence', 'columns', 'values', 'counts'],
  overseers: ['steward'],
} as const satisfies GivesOfTables

export type ValuesReader = Principal | 'operator'

/**
 * Tells of each of these tables whether such values are shown.
 * @throws Fault where the governance cannot be loaded; nothing is shown then
 */
export async function showsWritten(
  store: Store,
  tenant: TenantId,
  reader: ValuesReader,
  tables: readonly TableRef[],
): Promise<(table: TableRef) => boolean> {
  if (reader === 'operator') return () => false
  const sights = await sightsOf(store, tenant, reader, tables)
  return (table) => sights.get(tableKey(table))?.isWhole === true
}
