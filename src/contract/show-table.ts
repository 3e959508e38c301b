/** Shows a table's contract, columns, tags, filters and masks in the form of the API. */

import type { ContractSchema } from '../core/contract-schema.ts'
import { isSteward } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { type ContractVersion, versionInForce } from '../store/contract/versions.ts'
import { loadDeclaredSchema } from '../store/governance/declared-schema.ts'
import { type Governance, loadGovernance, type StoredMask } from '../store/governance/governance.ts'
import type { Store } from '../store/store.ts'
import { requireSeenTable, unknownTable } from './require-seen-table.ts'

/** Shows a table: readers see its columns and tags, and stewards also its filters and masks. Throws `not_found`. */
export async function showTable(store: Store, tenant: TenantId, table: TableRef, principal: Principal) {
  await requireSeenTable(store, tenant, table, principal)
  const [governance, schema] = await Promise.all([
    loadGovernance(store, tenant, table),
    loadDeclaredSchema(store, tenant, table),
  ])
  if (governance === undefined) throw unknownTable()
  const version = governance.contract && (await versionOf(store, tenant, governance.contract.id))
  return tableView(governance, schema, version, isSteward(principal))
}

/**
 * Builds the view.
 * @param schema what the contract declares
 * @param version the version in force of a contract that came as a document
 * @param withPolicies whether filters and masks are shown
 */
function tableView(
  { ref, contract, pin, tags, columns, rowFilters }: Governance,
  schema: ContractSchema | undefined,
  version: ContractVersion | undefined,
  withPolicies: boolean,
) {
  return {
    table: { namespace: ref.namespace, name: ref.name },
    contract: contract && { ...contract, ...versionView(version), ...schema },
    ...(pin && { pinned_snapshot_id: String(pin.snapshotId) }),
    ...(tags.length > 0 && { tags }),
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

function versionOf(store: Store, tenant: TenantId, contract: string): Promise<ContractVersion | undefined> {
  return versionInForce((text, params) => store.tenantQuery(tenant, text, params), tenant, contract)
}

/** A contract without a document came the short way, without checks. */
function versionView(version: ContractVersion | undefined) {
  if (version === undefined) return { state: 'active', unverified: true }
  return { state: version.state, document_version: version.version, unverified: version.unverified }
}
