/** Saves a column mask. */

import { Fault } from '../base/fault.ts'
import { isMaskAction } from '../core/mask.ts'
import { saveMask } from '../store/contract/rows.ts'
import type { MaskTarget } from '../store/contract/targets.ts'
import { type ChangeContext, changeContracts, checkName, checkPolicy } from './change.ts'

export interface NewMask {
  readonly id: string
  readonly action: string
  readonly expression?: string | undefined
  readonly exemptRoles: readonly string[]
}

/**
 * Saves a mask of a column or tag, in place of the one of this id there.
 * @throws Fault `bad_request` where it is malformed, `not_found` for an unknown column, `unprocessable` where
 *   it cannot be applied to a column that it then masks
 */
export async function putMask(on: ChangeContext, target: MaskTarget, mask: NewMask): Promise<void> {
  checkPolicy(mask)
  if (!isMaskAction(mask.action)) throw new Fault('bad_request', 'The mask action is not known.')
  if ((mask.action === 'apply-expression') !== (mask.expression !== undefined))
    throw new Fault('bad_request', 'apply-expression, and no other action, needs an expression.')
  if ('tag' in target) checkName(target.tag)
  const { id, action, expression, exemptRoles: exempt_roles } = mask
  const value = { action, expression, exempt_roles }
  const made = { action: 'put-mask', subject: { ...target, id }, value } as const
  await changeContracts(on, made, (tx) => saveMask(tx, on.tenant, target, { id, ...value }))
}
