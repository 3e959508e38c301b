/**
 * Refuses a single change that loosens what protects a table whose contract has a life cycle: there it takes a version,
 * which somebody else signs. What makes it stricter is allowed, and so are tags, of which a document knows nothing.
 */

import { Fault } from '../base/fault.ts'
import type { Governance, StoredProtection } from '../core/governance.ts'
import { type Protecting, protectionChanges } from '../core/protection-change.ts'
import type { TenantId } from '../core/tenant.ts'
import type { FilterTarget } from '../store/contract/targets.ts'
import { hasLifeCycle } from '../store/contract/versions.ts'
import type { Tx } from '../store/database/session.ts'
import { readGovernance } from '../store/governance/governance.ts'

/** A row filter or mask as it would be. */
type Protection = Omit<Protecting, 'id'>

/**
 * Refuses to remove a row filter or mask, or to replace it by a looser one.
 * @param to what it would be; undefined for a removal
 * @throws Fault `conflict`
 */
export async function refuseLoosening(
  tx: Tx,
  tenant: TenantId,
  target: FilterTarget,
  noun: 'row filter' | 'mask',
  id: string,
  to?: Protection,
): Promise<void> {
  if ('tag' in target) return
  const governance = await readGovernance((text, params) => tx.query(text, params), target.table)
  const contract = governance?.contract?.id
  if (governance === undefined || contract === undefined) return
  const before = storedAt(governance, target.column, noun).filter(({ policyId }) => policyId === id)
  const loosens = before.some((one) => isLooser(noun, { ...one, id }, to && { ...to, id }))
  if (!loosens || !(await hasLifeCycle((text, params) => tx.query(text, params), tenant, contract))) return
  throw new Fault(
    'conflict',
    `The table is under the contract ${contract}, which has a life cycle. Propose a version of it that loosens the ${noun} ${id}.`,
  )
}

function isLooser(noun: string, before: Protecting, after: Protecting | undefined): boolean {
  return (
    after === undefined || protectionChanges(noun, before, after).some((one) => one.access === 'loosened')
  )
}

/** What is attached to the table itself, or to columns of the name; dropped ones too, whose data older snapshots hold. */
export function storedAt(
  { rowFilters, columns }: Governance,
  column: string | undefined,
  noun: 'row filter' | 'mask',
): readonly (StoredProtection & Protection)[] {
  const named = columns.filter(({ name }) => name === column)
  if (noun === 'mask')
    return named.flatMap(({ masks }) => masks).filter(({ origin }) => origin.kind === 'column')
  if (column === undefined) return rowFilters.filter(({ origin }) => origin.kind === 'table')
  const ids = named.map(({ fieldId }) => fieldId)
  return rowFilters.filter(
    ({ origin, fieldId }) => origin.kind === 'column' && fieldId !== undefined && ids.includes(fieldId),
  )
}
