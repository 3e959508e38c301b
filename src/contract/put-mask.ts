/** Saves a column mask. */

import { Fault } from '../base/fault.ts'
import { isMaskAction } from '../core/mask.ts'
import { saveMask } from '../store/contract/rows.ts'
import type { MaskTarget } from '../store/contract/targets.ts'
import { type ChangeContext, changeContracts, checkFilterOrMask, checkName, warningsOf } from './change.ts'
import { refuseLoosening } from './refuse-loosening.ts'

interface NewMask {
  readonly id: string
  readonly action: string
  readonly expression?: string | undefined
  readonly exemptRoles: readonly string[]
}

/**
 * Saves a mask of a column or tag, replacing the one with the same id there.
 * @returns warnings for its author
 * @throws Fault `bad_request` when it is malformed, `not_found` for an unknown column, `unprocessable` when it cannot
 * be applied to a column that it would mask, `conflict` for a looser one where a contract with a life cycle governs
 */
export async function putMask(
  on: ChangeContext,
  target: MaskTarget,
  mask: NewMask,
): Promise<readonly string[]> {
  checkFilterOrMask(mask)
  if (!isMaskAction(mask.action)) throw new Fault('bad_request', 'The mask action is not supported.')
  if ((mask.action === 'apply-expression') !== (mask.expression !== undefined))
    throw new Fault(
      'bad_request',
      '`expression` is required for the action apply-expression and allowed for no other.',
    )
  if ('tag' in target) checkName(target.tag)
  const { id, action, expression, exemptRoles: exempt_roles } = mask
  const value = { action, expression, exempt_roles }
  const made = { action: 'put-mask', subject: { ...target, id }, value } as const
  let warnings: readonly string[] = []
  await changeContracts(on, made, async (tx) => {
    await refuseLoosening(tx, on.tenant, target, 'mask', id, mask)
    const tables = await saveMask(tx, on.tenant, target, { id, ...value })
    if (expression !== undefined) warnings = await warningsOf(tx, on, { use: 'mask', id, expression }, tables)
    return tables
  })
  return warnings
}
