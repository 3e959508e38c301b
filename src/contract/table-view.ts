/** What governs reading a table, as the API shows it. */

import type { ContractSchema } from '../core/contract-schema.ts'
import type { Governance, StoredMask } from '../store/governance.ts'
import type { PinEvent } from '../store/pins.ts'
import type { ReadSettings } from '../store/read-settings.ts'

/**
 * @param schema what the contract declares
 * @param withPolicies false: for readers, who learn of columns and tags but not of filters and masks
 */
export function tableView(
  { ref, contract, pin, columns, rowFilters }: Governance,
  schema: ContractSchema | undefined,
  withPolicies: boolean,
) {
  return {
    ...ref,
    contract: contract && { ...contract, state: 'active', ...schema },
    ...(pin && { pinned_snapshot_id: String(pin.snapshotId) }),
    columns: columns
      .filter(({ current }) => current || withPolicies)
      .map(({ name, type, required, current, tags, masks }) => ({
        name,
        type: typeof type === 'string' ? type : type.type,
        required,
        ...(!current && { dropped: true }),
        tags,
        ...(withPolicies && { masks: masks.map(maskView) }),
      })),
    ...(withPolicies && {
      row_filters: rowFilters.map(({ policyId, expression, exemptRoles, origin, fieldId }) => ({
        id: policyId,
        expression,
        exempt_roles: exemptRoles,
        ...(fieldId !== undefined && { column: columns.find((one) => one.fieldId === fieldId)?.name }),
        ...(origin.kind === 'tag' && { tag: origin.tag }),
      })),
    }),
  }
}

function maskView({ policyId, action, expression, exemptRoles, origin }: StoredMask) {
  return {
    id: policyId,
    action,
    expression,
    exempt_roles: exemptRoles,
    ...(origin.kind === 'tag' && { tag: origin.tag }),
  }
}

/** One pin event, as the API shows it. */
export function pinView({ sequence, kind, snapshotId, catalog, by, at }: PinEvent) {
  return { sequence, kind, snapshot_id: snapshotId, catalog, by, at }
}

/** The tenant's settings, as the API shows them. */
export function settingsView({ readableWithoutContract }: ReadSettings) {
  return { readable_without_contract: readableWithoutContract }
}
