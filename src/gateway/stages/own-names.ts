/**
 * Gives names of a request the one form that its catalog has for them, so that every spelling is judged, forwarded and
 * recorded as one table. Only names that are not in lower case already need the catalog to be asked.
 */

import { Fault } from '../../base/fault.ts'
import { foldNamespace, foldTable, isFolded, nameCaseOf } from '../../core/name-case.ts'
import { isPathIdentifier, type TableRef, tableKey, tableName } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { loadPoliciesBelow } from '../../store/policy/policies.ts'
import type { TableChange } from '../../wire/iceberg/commit-request.ts'
import type { GatewayParts } from '../base/parts.ts'
import type { Upstream } from '../base/upstream.ts'
import { isAnythingMasked } from './masked.ts'

type NameParts = Pick<GatewayParts, 'store' | 'nameCases'>

/**
 * The upstream, with what is known of its names where that matters for `names`.
 * @throws Fault `conflict` where it matters, the catalog holds nothing that tells, and some policy could be evaded;
 *   CatalogError, Fault of the upstream and the store
 */
export async function settleNames(
  parts: NameParts,
  tenant: TenantId,
  upstream: Upstream,
  names: Iterable<string>,
): Promise<Upstream> {
  const isOpen = (name: string) => !isFolded(name) && isPathIdentifier(name)
  if (nameCaseOf(upstream.credential) !== 'unknown' || ![...names].some(isOpen)) return upstream
  const credential = await parts.nameCases.settle(tenant, upstream.credential)
  if (nameCaseOf(credential) === 'unknown' && (await isGoverned(parts, tenant))) throw unknownCase()
  return { ...upstream, credential }
}

async function isGoverned(parts: NameParts, tenant: TenantId): Promise<boolean> {
  const policies = await loadPoliciesBelow(parts.store, tenant, [])
  return policies.length > 0 || (await isAnythingMasked(parts, tenant))
}

function unknownCase(): Fault {
  return new Fault(
    'conflict',
    'It is not known whether this catalog keeps apart names that differ in case only, because it holds no table that tells. Write the name in lower case, or have an administrator set case_sensitive_names of the catalog.',
  )
}

/** A table's name as its catalog has it. */
export function ownTable({ credential }: Pick<Upstream, 'credential'>, table: TableRef): TableRef {
  return nameCaseOf(credential) === 'folded' ? foldTable(table) : table
}

/** A namespace as its catalog has it. */
export function ownNamespace(
  { credential }: Pick<Upstream, 'credential'>,
  namespace: readonly string[],
): readonly string[] {
  return nameCaseOf(credential) === 'folded' ? foldNamespace(namespace) : namespace
}

/** The changes of a transaction under the names that the catalog has. */
interface OwnChanges {
  readonly upstream: Upstream
  readonly changes: readonly TableChange[]
}

/** @throws Fault `bad_request` where two names are one table; as {@link settleNames} */
export async function ownChanges(
  parts: NameParts,
  tenant: TenantId,
  given: Upstream,
  changes: readonly TableChange[],
): Promise<OwnChanges> {
  const names = changes.flatMap(({ identifier }) => [...identifier.namespace, identifier.name])
  const upstream = await settleNames(parts, tenant, given, names)
  const own = changes.map((change) => ({ ...change, identifier: ownTable(upstream, change.identifier) }))
  const seen = new Set<string>()
  for (const { identifier } of own) {
    if (seen.has(tableKey(identifier)))
      throw new Fault(
        'bad_request',
        `Invalid commit request: \`table-changes\` names ${tableName(identifier)} twice.`,
      )
    seen.add(tableKey(identifier))
  }
  return { upstream, changes: own }
}
