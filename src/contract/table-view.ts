/** What governs reading a table, as the API shows it. */

import type { Governance, StoredMask } from '../store/governance.ts'

/** @param withPolicies false: for readers, who learn of columns and tags but not of filters and masks */
export function tableView({ ref, contract, columns, rowFilters }: Governance, withPolicies: boolean) {
  return {
    ...ref,
    contract: contract && { ...contract, state: 'active' },
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
      row_filters: rowFilters.map(({ policyId, expression, exemptRoles }) => ({
        id: policyId,
        expression,
        exempt_roles: exemptRoles,
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
