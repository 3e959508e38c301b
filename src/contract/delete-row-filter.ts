/** Removes a row filter. */

import { removeRowFilter } from '../store/contract/rows.ts'
import type { FilterTarget } from '../store/contract/targets.ts'
import { type ChangeContext, checkName, removeContracts } from './change.ts'
import { refuseLoosening } from './refuse-loosening.ts'

/**
 * Removes a row filter of a table, of a column (also a dropped one), or of a tag.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed id, `conflict` where a contract with a life cycle governs the table
 */
export async function deleteRowFilter(on: ChangeContext, target: FilterTarget, id: string): Promise<boolean> {
  checkName(id)
  const made = { action: 'delete-row-filter', subject: { ...target, id } } as const
  return await removeContracts(on, made, async (tx) => {
    await refuseLoosening(tx, on.tenant, target, 'row filter', id)
    return await removeRowFilter(tx, target, id)
  })
}
