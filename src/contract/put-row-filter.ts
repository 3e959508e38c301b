/** Saves a row filter. */

import { saveRowFilter } from '../store/contract/rows.ts'
import type { FilterTarget } from '../store/contract/targets.ts'
import { type ChangeContext, changeContracts, checkFilterOrMask, checkName, warningsOf } from './change.ts'
import { refuseLoosening } from './refuse-loosening.ts'

interface NewRowFilter {
  readonly id: string
  readonly expression: string
  readonly exemptRoles: readonly string[]
}

/**
 * Saves a row filter of a table, column or tag, replacing the one with the same id there.
 * @returns warnings for its author
 * @throws Fault `bad_request` when it is malformed, `not_found` for an unknown column, `unprocessable` when it cannot
 * be applied to a table that it would filter, `conflict` for a looser one where a contract with a life cycle governs
 */
export async function putRowFilter(
  on: ChangeContext,
  target: FilterTarget,
  filter: NewRowFilter,
): Promise<readonly string[]> {
  checkFilterOrMask(filter)
  if ('tag' in target) checkName(target.tag)
  const { id, expression, exemptRoles: exempt_roles } = filter
  const value = { expression, exempt_roles }
  const made = { action: 'put-row-filter', subject: { ...target, id }, value } as const
  let warnings: readonly string[] = []
  await changeContracts(on, made, async (tx) => {
    await refuseLoosening(tx, on.tenant, target, 'row filter', id, filter)
    const tables = await saveRowFilter(tx, on.tenant, target, { id, ...value })
    warnings = await warningsOf(tx, on, { use: 'row filter', id, expression }, tables)
    return tables
  })
  return warnings
}
