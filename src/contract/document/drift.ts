/** Says whether what governs the tables of a document is still what the document says. Stricter additions are no drift. */

import type { Governance } from '../../core/governance.ts'
import type { TenantId } from '../../core/tenant.ts'
import { columnOf, governing } from '../../store/contract/put-in-force.ts'
import type { ContractVersion } from '../../store/contract/versions.ts'
import { loadGovernance } from '../../store/governance/governance.ts'
import type { Store } from '../../store/store.ts'
import type { ContractModel, ModelMask, ModelRowFilter } from '../../wire/odcs/model.ts'
import { storedAt } from '../refuse-loosening.ts'

/** Whether a table is no longer under the version, or lacks one of its row filters, masks or pins as it is written. */
export async function hasDrifted(
  store: Store,
  tenant: TenantId,
  { contract, number }: Pick<ContractVersion, 'contract' | 'number'>,
  model: ContractModel,
): Promise<boolean> {
  for (const { table, rowFilters, properties, pin } of governing(model)) {
    const governance = await loadGovernance(store, tenant, table)
    if (governance?.contract?.id !== contract || governance.contract.version !== number) return true
    if (pin !== undefined && governance.pin?.snapshotId !== BigInt(pin.snapshotId)) return true
    const places = [
      { column: undefined, rowFilters, masks: [] },
      ...properties.map((property) => ({ ...property, column: columnOf(property) })),
    ]
    for (const place of places)
      if (
        lacks(governance, place.column, 'row filter', place.rowFilters) ||
        lacks(governance, place.column, 'mask', place.masks)
      )
        return true
  }
  return false
}

function lacks(
  governance: Governance,
  column: string | undefined,
  noun: 'row filter' | 'mask',
  wanted: readonly (ModelRowFilter | ModelMask)[],
): boolean {
  if (wanted.length === 0) return false
  const stored = storedAt(governance, column, noun)
  return wanted.some((one) => {
    const found = stored.find(({ policyId }) => policyId === one.id)
    return (
      found === undefined ||
      found.expression !== one.expression ||
      found.action !== ('action' in one ? one.action : undefined) ||
      !Bun.deepEquals(found.exemptRoles.toSorted(), one.exemptRoles.toSorted())
    )
  })
}
