/** Removes a column mask. */

import { removeMask } from '../store/contract/rows.ts'
import type { MaskTarget } from '../store/contract/targets.ts'
import { type ChangeContext, checkName, removeContracts } from './change.ts'

/**
 * Removes a mask of a column (also of a dropped one) or of a tag.
 * @returns whether there was one
 * @throws Fault `bad_request` for a malformed id
 */
export async function deleteMask(on: ChangeContext, target: MaskTarget, id: string): Promise<boolean> {
  checkName(id)
  const made = { action: 'delete-mask', subject: { ...target, id } } as const
  return await removeContracts(on, made, (tx) => removeMask(tx, target, id))
}
