/** Shows a table's contract, columns, tags, filters and masks in the form of the API. */

import type { ContractSchema } from '../core/contract-schema.ts'
import type { Governance, StoredMask } from '../core/governance.ts'
import { isSteward, overseesTables } from '../core/oversight.ts'
import type { Principal } from '../core/principal.ts'
import { currentSchema, seenTable, viewerAt } from '../core/seen-table.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { type ShadowDenials, shadowDenialsOf } from '../store/commit/shadow-denials.ts'
import type { ContractVersion } from '../store/contract/versions.ts'
import { loadDeclaredSchema } from '../store/governance/declared-schema.ts'
import { loadGovernance } from '../store/governance/governance.ts'
import { findReadableTable } from '../store/governance/readable-tables.ts'
import { loadWriteGovernance } from '../store/policy/policies.ts'
import type { Store } from '../store/store.ts'
import { rulesInForce } from './commit/commit-rules.ts'
import { contractWords } from './contract-words.ts'
import { contractVersion, type DescribedTable, described } from './describe-table.ts'
import type { ContractParts } from './parts.ts'
import { unknownTable } from './require-seen-table.ts'

/**
 * Shows a table: readers see the columns that they may name, with tags; stewards all, with filters and masks.
 * @throws Fault `not_found`, also where the principal may not see the table
 */
export async function showTable(
  { store, clock }: Pick<ContractParts, 'store' | 'clock'>,
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
) {
  const nowMs = clock.now()
  const viewer = viewerAt(principal, nowMs)
  const [governance, schema, readable] = await Promise.all([
    loadGovernance(store, tenant, table),
    loadDeclaredSchema(store, tenant, table),
    findReadableTable(store, tenant, viewer, table),
  ])
  if (governance === undefined || (readable === undefined && !overseesTables(principal))) throw unknownTable()
  const { contract } = governance
  const [version, commits] = contract
    ? await Promise.all([contractVersion(store, tenant, contract.id), commitsOf(store, tenant, table, nowMs)])
    : []
  const words = version && (await contractWords(store, tenant, version, nowMs))
  const denials =
    commits && overseesTables(principal) ? await shadowDenialsOf(store, tenant, table) : undefined
  const seen = readable ?? seenTable(governance, currentSchema(governance), viewer)
  const ids = seen.columns.flatMap(({ fieldId, nestedIds }) => [fieldId, ...nestedIds])
  const rules = commits && { commits: { ...commits, ...denialsView(denials) } }
  const ofContract = { ...versionView(version), ...words, ...rules }
  const shown = tableView(governance, schema, ofContract, isSteward(principal) ? undefined : new Set(ids))
  return { ...shown, ...(readable && { applies_to_you: appliesView(described(readable)) }) }
}

/** What hides something of the table from the caller. */
function appliesView({ columns, filters }: DescribedTable) {
  return {
    masked: columns.flatMap(({ name, mask }) => (mask === undefined ? [] : [{ column: name, action: mask }])),
    filtered: filters.map(({ id, columns: named }) => ({ id, columns: named })),
  }
}

type OfContract = ReturnType<typeof versionView> & {
  readonly commits?: NonNullable<ReturnType<typeof rulesInForce>> & ReturnType<typeof denialsView>
}

/**
 * Builds the view.
 * @param schema what the contract declares
 * @param ofContract what is said of its contract besides its id and version
 * @param seen field ids that are shown; undefined: every one, with filters and masks
 */
function tableView(
  { ref, contract, pin, tags, columns, rowFilters }: Governance,
  schema: ContractSchema | undefined,
  ofContract: OfContract,
  seen: ReadonlySet<number> | undefined,
) {
  const withPolicies = seen === undefined
  return {
    table: { namespace: ref.namespace, name: ref.name },
    contract: contract && { ...contract, ...ofContract, ...schema },
    ...(pin && { pinned_snapshot_id: String(pin.snapshotId) }),
    ...(tags.length > 0 && { tags }),
    columns: columns
      .filter(({ fieldId }) => seen === undefined || seen.has(fieldId))
      .map(({ name, type, required, current, tags, masks }) => ({
        name,
        type: typeof type === 'string' ? type : type.type,
        required,
        ...(!current && withPolicies && { dropped: true }),
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

/** A contract without a document came the short way, without checks. */
function versionView(version: ContractVersion | undefined) {
  if (version === undefined) return { state: 'active', unverified: true }
  return { state: version.state, document_version: version.version, unverified: version.unverified }
}

/** What the policies that follow from a table's contract do with commits. */
async function commitsOf(store: Store, tenant: TenantId, table: TableRef, nowMs: number) {
  const { policies } = await loadWriteGovernance(store, tenant, table)
  return rulesInForce(policies, nowMs)
}

function denialsView(denials: ShadowDenials | undefined) {
  if (denials?.last === undefined) return {}
  const { commitId, committer, at } = denials.last
  return {
    shadow_denials: {
      ...{ count: denials.count, of_changes: denials.changes, last_at: at },
      ...{ last_commit_id: commitId, last_committer: committer },
    },
  }
}
