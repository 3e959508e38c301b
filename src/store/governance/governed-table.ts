/** Selects the row filters and masks that apply to one principal, for the schema with which a table is read. */

import { Fault } from '../../base/fault.ts'
import type { GovernedColumn, GovernedTable } from '../../core/governed-table.ts'
import type { Principal } from '../../core/principal.ts'
import type { Reveal } from '../../core/reveal.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import type { TenantId } from '../../core/tenant.ts'
import type { Uncontracted } from '../../core/uncontracted.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import {
  type Governance,
  loadGovernance,
  loadGovernances,
  type StoredColumn,
  type StoredProtection,
  type StoredReveal,
  topColumns,
} from './governance.ts'
import { loadGoverned } from './load-governed.ts'

/**
 * A table for the read path, with its current columns in the graph.
 * @param principal undefined: everything that could apply to any principal, for a check at save
 */
export function governedTable(governance: Governance, principal: Principal | undefined): GovernedTable {
  const current = governance.columns.filter((column) => column.current)
  const nestedIn = (name: string) => current.filter((column) => column.name.startsWith(`${name}.`))
  const schema = topColumns(current).map(({ fieldId, name, type, required }) => ({
    fieldId,
    name,
    type,
    required,
    nestedIds: typeof type === 'string' ? [] : nestedIn(name).map((column) => column.fieldId),
  }))
  return governedSnapshot(governance, schema, principal)
}

/**
 * A table for the read path, with the columns of a snapshot's schema. Masks are matched to columns by field id. A
 * column is left out where it or a field in it is not in the graph, because no steward could have masked it. A column
 * with a masked nested field is left out too.
 */
export function governedSnapshot(
  governance: Governance,
  schema: readonly SchemaColumn[],
  principal: Principal | undefined,
): GovernedTable {
  const { ref, contract } = governance
  const applies = appliesTo(principal)
  const known = new Map(governance.columns.map((column) => [column.fieldId, column]))
  const relation = [...ref.namespace, ref.name]
  return {
    ref,
    schemaName: ref.namespace.join('.'),
    tableName: ref.name,
    relation: { duckdb: relation, trino: relation },
    columns: schema.flatMap(({ nestedIds, ...column }): GovernedColumn[] => {
      const stored = known.get(column.fieldId)
      const isOpen = (id: number) => known.get(id)?.masks.some(applies) === false
      if (stored === undefined || !nestedIds.every(isOpen)) return []
      const policyName = nameInPolicies(governance, stored)
      const masks = stored.masks.filter(applies).map(({ exemptRoles: _, ...mask }) => mask)
      const reveal = masks.length === 0 ? revealOf(governance, column, principal) : undefined
      return [
        {
          ...column,
          ...(policyName !== column.name && { policyName }),
          masks,
          ...(reveal && { reveal }),
        },
      ]
    }),
    rowFilters: governance.rowFilters.filter(applies).map(({ exemptRoles: _, ...filter }) => filter),
    ...(contract && { contract }),
    ...(governance.readableWithoutContract && { readableWithoutContract: true }),
  }
}

/** How the principal reads a protected column in clear; undefined where it does not. */
function revealOf(
  { ref, reveals }: Governance,
  { fieldId, name, type }: Pick<SchemaColumn, 'fieldId' | 'name' | 'type'>,
  principal: Principal | undefined,
): Reveal | undefined {
  const rule = revealsFor(reveals, principal).find((one) => one.fieldId === fieldId)
  if (rule === undefined || (type !== 'string' && type !== 'binary')) return undefined
  const { roles: _, fieldId: __, ...values } = rule
  return { ...values, table: ref, column: name, type }
}

/** The reveal rules that name a role of the principal. */
export function revealsFor(
  reveals: Governance['reveals'],
  principal: Principal | undefined,
): readonly StoredReveal[] {
  return (reveals ?? []).filter(({ roles }) => roles.some((role) => principal?.roles.includes(role)))
}

/** Filters and masks use current names. A dropped column keeps its last name unless another column has it. */
function nameInPolicies({ columns }: Governance, { current, name }: StoredColumn): string | null {
  if (current) return name
  return columns.filter((column) => column.name === name).length === 1 ? name : null
}

/** Tells which filters and masks apply to a principal; undefined: all that could apply to any principal. */
export function appliesTo(principal: Principal | undefined): (policy: StoredProtection) => boolean {
  return ({ exemptRoles }) => !exemptRoles.some((role) => principal?.roles.includes(role))
}

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
  const governance = await loadGovernance(store, tenant, table)
  return governance !== undefined && masksApply(governance, principal)
}

function masksApply({ rowFilters, columns }: Governance, principal: Principal): boolean {
  const applies = appliesTo(principal)
  return rowFilters.some(applies) || columns.some(({ masks }) => masks.some(applies))
}

/** What a caller of the Iceberg surface may have of a table, as far as contracts, filters and masks say. */
export interface FileSight {
  /** As {@link isMaskedFor}. */
  readonly masked: boolean
  /** The tenant's setting, where the table has no active contract, or is not known; undefined where it has one. */
  readonly uncontracted: Uncontracted | undefined
}

/** The sight of one table, in one round trip. @throws Fault as `loadGovernance` does */
export async function fileSight(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
): Promise<FileSight> {
  const { governances, uncontracted } = await loadGoverned(store, tenant, [table])
  const governance = governances.get(tableKey(table))
  return {
    masked: governance !== undefined && masksApply(governance, principal),
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
