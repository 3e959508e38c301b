/** Asks the store what protects tables: whether anything does, whether it concerns a principal, whether two have the same. */

import { Fault } from '../../base/fault.ts'
import type { Governance } from '../../core/governance.ts'
import type { Principal } from '../../core/principal.ts'
import { demandText, meetsDemands } from '../../core/purpose.ts'
import { everySchema, isWhole, seenTable, viewerAt } from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Uncontracted } from '../../core/uncontracted.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { loadGovernance, loadGovernances } from './governance.ts'
import { loadGoverned } from './load-governed.ts'

/**
 * Whether a row filter, or a mask on any column that a snapshot of the table may hold, applies to `principal`.
 * @param principal one whose roles were verified
 * @throws Fault as `loadGovernance` does
 */
export async function isMaskedFor(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
): Promise<boolean> {
  return masksApply(await loadGovernance(store, tenant, table), principal)
}

function masksApply(governance: Governance | undefined, principal: Principal): boolean {
  return governance !== undefined && !isWhole(seenTable(governance, everySchema(governance), principal))
}

/** Until when nothing of a table is hidden from a principal, by grants or without; `atMs` where something is now. */
function wholeUntil(
  governance: Governance,
  reader: Principal | 'anyone',
  atMs: number,
): { readonly ms: number; readonly grantedOf: readonly string[] } {
  const viewer = reader === 'anyone' ? reader : viewerAt(reader, atMs)
  const seen = seenTable(governance, everySchema(governance), viewer)
  if (!isWhole(seen)) return { ms: atMs, grantedOf: [] }
  const lifted = [seen, ...seen.columns].flatMap((part) =>
    'ref' in part ? (part.filtersLiftedBy ?? []) : (part.liftedBy ?? []),
  )
  const ids = new Set(lifted.map(({ grant }) => grant))
  const uuids = (governance.grants ?? []).flatMap(({ id, tableUuid }) =>
    ids.has(id) && tableUuid !== undefined ? [tableUuid] : [],
  )
  return {
    ms: Math.min(Number.POSITIVE_INFINITY, ...lifted.map(({ untilMs }) => untilMs)),
    grantedOf: [...new Set(uuids)],
  }
}

/** A sight as it is of the table with this uuid: by grants about another table everything that protects applies. */
export function sightOfTable(sight: FileSight, tableUuid: string | undefined): FileSight {
  const isOther = sight.grantedOf?.some((uuid) => uuid !== tableUuid?.toLowerCase()) === true
  if (!isOther) return sight
  const { untilMs: _, passedOver: __, grantedOf: ___, ...rest } = sight
  return { ...rest, masked: true }
}

/** Whether the table has a filter or mask for anybody. */
function isProtected(governance: Governance | undefined): boolean {
  if (governance === undefined) return false
  return governance.rowFilters.length > 0 || governance.columns.some(({ masks }) => masks.length > 0)
}

/** What a caller of the Iceberg surface may have of a table, as far as contracts, filters and masks say. */
export interface FileSight {
  /** As {@link isMaskedFor}; also where a purpose is demanded and the request names none of it. */
  readonly masked: boolean
  /** The purposes that are demanded, where the request names none of them, as a sentence without a full stop. */
  readonly demands?: string
  /** The tenant's setting, where the table has no active contract, or is not known; undefined where it has one. */
  readonly uncontracted: Uncontracted | undefined
  /** Whether the table has filters or masks, none of which applies to the principal. */
  readonly passedOver?: boolean
  /** When the first grant ends by which none applies; absent where no grant is needed. */
  readonly untilMs?: number
  /** The uuids of the tables that those grants are about, as far as they name one. */
  readonly grantedOf?: readonly string[]
  readonly contract?: Governance['contract']
}

/**
 * The sight of one table, in one round trip.
 * @param reader a principal that was verified, else `'anyone'`
 * @param atMs by the clock of the service
 * @param purpose that the request names
 * @param openMs milliseconds for which what is given out opens files at least: a grant that ends before gives none
 * @throws Fault as `loadGovernance` does
 */
export async function fileSight(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  reader: Principal | 'anyone',
  {
    atMs,
    openMs,
    purpose,
  }: { readonly atMs: number; readonly openMs: number; readonly purpose?: string | undefined },
): Promise<FileSight> {
  const { governances, uncontracted } = await loadGoverned(store, tenant, [table])
  const governance = governances.get(tableKey(table))
  const whole = governance && wholeUntil(governance, reader, atMs)
  const untilMs = whole?.ms
  const isHidden = untilMs !== undefined && (untilMs <= atMs || untilMs < atMs + openMs)
  const demands = governance?.purposeDemands
  const isUnmet = demands !== undefined && !meetsDemands(demands, purpose)
  const masked = isHidden || isUnmet
  return {
    masked,
    ...(isUnmet && { demands: demandText(table, demands) }),
    ...(!masked && isProtected(governance) && { passedOver: true }),
    ...(!masked && untilMs !== undefined && Number.isFinite(untilMs) && { untilMs }),
    ...(!masked && whole !== undefined && whole.grantedOf.length > 0 && { grantedOf: whole.grantedOf }),
    ...(governance?.contract && { contract: governance.contract }),
    uncontracted: governance?.contract === undefined ? uncontracted : undefined,
  }
}

/**
 * Whether every row filter and mask of the table `from` is on the table `to` as well, with the same exempt roles.
 * Columns are compared by field id, which a rename keeps.
 * @throws Fault as `loadGovernances` does
 */
export async function isProtectedAlike(
  store: Store,
  tenant: TenantId,
  from: TableRef,
  to: TableRef,
): Promise<boolean> {
  const governances = await loadGovernances(store, tenant, [from, to])
  const held = new Set(protectionsOf(governances.get(tableKey(to))))
  return protectionsOf(governances.get(tableKey(from))).every((protection) => held.has(protection))
}

/**
 * Whether the tenant has any row filter or column mask.
 * @throws Fault `unavailable` where the tenant's sentinels are missing
 */
export async function isAnythingProtected(store: Store, tenant: TenantId): Promise<boolean> {
  const rows = await store.tenantQuery<{ readonly properties: string }>(tenant, protectionsText)
  const found = rows.map(({ properties }) => parseAgtype(properties) as Properties)
  const others = found.filter(({ sentinel }) => sentinel !== true)
  if (found.length - others.length !== protectionLabels.length)
    throw new Fault('unavailable', 'The filters and masks of the tenant could not be loaded. Retry.', {
      detail: 'no tenant sentinel',
    })
  return others.length > 0
}

const protectionLabels = ['RowFilter', 'ColumnMask'] as const
/** Ordered by id, so that the sentinel, whose id is '', comes first for each label. */
const protectionsText = protectionLabels
  .map(
    (label) =>
      `(select properties from "${label}"
        order by agtype_access_operator(variadic array[properties, '"id"'::agtype]) limit 2)`,
  )
  .join(' union all ')

/** The effect of each filter and mask as text, without its id and origin. */
function protectionsOf(governance: Governance | undefined): readonly string[] {
  const { rowFilters = [], columns = [] } = governance ?? {}
  return [
    ...rowFilters.map(({ expression, exemptRoles, names, fieldId }) =>
      JSON.stringify({ expression, exemptRoles, names, fieldId }),
    ),
    ...columns.flatMap(({ fieldId, masks }) =>
      masks.map(({ action, expression, exemptRoles, names }) =>
        JSON.stringify({ action, expression, exemptRoles, names, fieldId }),
      ),
    ),
  ]
}
