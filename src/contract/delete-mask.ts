/** Removes a column mask. */

import { removeMask } from '../store/contract/rows.ts'
import type { MaskTarget } from '../store/contract/targets.ts'
import { type ChangeContext, checkName, removeContracts } from './change.ts'
import { refuseLoosening } from './refuse-loosening.ts'

/**
 * Removes a mask of a column (also of a dropped one) or of a tag.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed id, `conflict` where a contract with a life cycle governs the table
 */
export async function deleteMask(on: ChangeContext, target: MaskTarget, id: string): Promise<boolean> {
  checkName(id)
  const made = { action: 'delete-mask', subject: { ...target, id } } as const
  return await removeContracts(on, made, async (tx) => {
    await refuseLoosening(tx, on.tenant, target, 'mask', id)
    return await removeMask(tx, target, id)
  })
}
