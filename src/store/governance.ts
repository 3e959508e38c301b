/**
 * What governs reading a table, as the graph has it: contract, columns, tags, row filters and column masks;
 * and what of it applies to one principal.
 */

import { Fault } from '../base/fault.ts'
import type { AttachedMask, GovernedTable, PolicyOrigin } from '../core/governed-table.ts'
import type { IcebergType } from '../core/iceberg-type.ts'
import type { Principal } from '../core/principal.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { type Properties, parseAgtype } from './graph.ts'
import { nodeId } from './names.ts'
import type { Store } from './store.ts'

interface StoredPolicy {
  readonly policyId: string
  /** Roles of the principal for which it does not apply. */
  readonly exemptRoles: readonly string[]
}

export interface StoredRowFilter extends StoredPolicy {
  readonly expression: string
}

export interface StoredMask extends StoredPolicy, Pick<AttachedMask, 'action' | 'expression'> {
  readonly origin: PolicyOrigin
}

export interface StoredColumn {
  /** Its id in the graph. */
  readonly id: string
  readonly fieldId: number
  /** Nested names joined by dots. */
  readonly name: string
  readonly type: IcebergType
  readonly required: boolean
  /** False for a column that was dropped: it is in older snapshots only. */
  readonly current: boolean
  readonly tags: readonly string[]
  readonly masks: readonly StoredMask[]
}

export interface Governance {
  readonly ref: TableRef
  readonly contract: { readonly id: string; readonly version: number } | undefined
  readonly rowFilters: readonly StoredRowFilter[]
  readonly columns: readonly StoredColumn[]
}

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`
const param = 'to_jsonb($1::text)::text::agtype'

const kinds = ['table', 'contract', 'filter', 'column', 'mask', 'tag', 'tag-mask'] as const

interface Row {
  readonly kind: (typeof kinds)[number]
  readonly properties: string
  readonly column_id: string | null
  readonly tag: string | null
  readonly current: boolean | null
}

const columnId = property('c', 'id')
const tagged = `c join "TAGGED" e on e.start_id = c.id join "Tag" g on g.id = e.end_id`
const loadText = `
  with t as (
    select t.id, t.properties from "Table" t where ${property('t', 'id')} in (${param}, '""'::agtype)),
  c as (
    select c.id, c.properties, true as current
    from t join "HAS_COLUMN" h on h.start_id = t.id join "Column" c on c.id = h.end_id
    union all
    select c.id, c.properties, false from "Column" c
    where ${property('c', 'table_id')} = ${param} and not exists (select 1 from "HAS_COLUMN" h where h.end_id = c.id))
  select 'table' as kind, t.properties, null::agtype as column_id, null::agtype as tag, null::boolean as current from t
  union all select 'contract', k.properties, null, null, null
    from t join "GOVERNS" e on e.end_id = t.id join "Contract" k on k.id = e.start_id
  union all select 'filter', f.properties, null, null, null
    from t join "FILTERS" e on e.end_id = t.id join "RowFilter" f on f.id = e.start_id
  union all select 'column', c.properties, ${columnId}, null, c.current from c
  union all select 'mask', m.properties, ${columnId}, null, null
    from c join "MASKS" e on e.end_id = c.id join "ColumnMask" m on m.id = e.start_id
  union all select 'tag', g.properties, ${columnId}, ${property('g', 'name')}, null from ${tagged}
  union all select 'tag-mask', m.properties, ${columnId}, ${property('g', 'name')}, null
    from ${tagged} join "APPLIES_TO" a on a.end_id = g.id join "ColumnMask" m on m.id = a.start_id`

/** Runs one statement in the tenant's context. */
export type RunQuery = <R extends object>(text: string, params: readonly string[]) => Promise<readonly R[]>

/**
 * Everything that governs reading a table, in one round trip.
 * @returns undefined for a table that the graph does not know
 * @throws Fault `unavailable` where the tenant's sentinel is not among what was read: rows that cannot be
 *   seen must not look like rows that are not there
 */
export async function readGovernance(run: RunQuery, ref: TableRef): Promise<Governance | undefined> {
  const rows = (await run<Row>(loadText, [nodeId(tableKey(ref))])).map((row) => ({
    kind: row.kind,
    properties: parseAgtype(row.properties) as Properties,
    columnId: row.column_id === null ? '' : String(parseAgtype(row.column_id)),
    tag: row.tag === null ? '' : String(parseAgtype(row.tag)),
    current: row.current === true,
  }))
  const isSentinel = (properties: Properties) => properties.sentinel === true
  const seen = new Set(rows.filter(({ properties }) => isSentinel(properties)).map(({ kind }) => kind))
  if (kinds.some((kind) => !seen.has(kind)))
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      detail: 'no tenant sentinel',
    })
  const found = rows.filter(({ properties }) => !isSentinel(properties))
  if (!found.some(({ kind }) => kind === 'table')) return undefined
  const of = (kind: Row['kind']) => found.filter((row) => row.kind === kind)
  const contract = of('contract').find(({ properties }) => properties.state === 'active')?.properties
  const tags = Map.groupBy(of('tag'), (row) => row.columnId)
  const masks = Map.groupBy(
    found.filter(({ kind }) => kind === 'mask' || kind === 'tag-mask'),
    (row) => row.columnId,
  )
  return {
    ref,
    contract: contract && { id: String(contract.id), version: Number(contract.version) },
    rowFilters: of('filter').map(({ properties }) => ({
      ...storedPolicy(properties),
      expression: String(properties.expression),
    })),
    columns: of('column')
      .map(({ properties, columnId: id, current }) => ({
        id,
        fieldId: Number(properties.field_id),
        name: String(properties.name),
        type: icebergType(String(properties.type ?? 'unknown')),
        required: properties.required === true,
        current,
        tags: [...new Set((tags.get(id) ?? []).map(({ tag }) => tag))].sort(),
        masks: distinct((masks.get(id) ?? []).map(storedMask)),
      }))
      .sort((a, b) => a.fieldId - b.fieldId),
  }
}

function storedPolicy(properties: Properties): StoredPolicy {
  const roles = properties.exempt_roles
  return {
    policyId: String(properties.policy_id),
    exemptRoles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
  }
}

function storedMask(row: {
  readonly kind: Row['kind']
  readonly properties: Properties
  readonly tag: string
}): StoredMask {
  const { action, expression } = row.properties
  return {
    ...storedPolicy(row.properties),
    action: String(action),
    ...(expression !== undefined && { expression: String(expression) }),
    origin: row.kind === 'tag-mask' ? { kind: 'tag', tag: row.tag } : { kind: 'column' },
  }
}

/** A column may have one tag twice: from a steward, and from each finding of the detection. */
function distinct(masks: readonly StoredMask[]): readonly StoredMask[] {
  return [...new Map(masks.map((mask) => [JSON.stringify(mask), mask])).values()]
}

/** An Iceberg type from the graph, which names the kind of a nested one only: such a column is kept from statements. */
export function icebergType(text: string): IcebergType {
  if (text === 'list') return { type: 'list', element: { type: 'struct' } }
  return text === 'struct' || text === 'map' ? { type: text } : text
}

/**
 * A table as the read path takes it, with what applies to a principal.
 * @param principal undefined: everything that could apply to anyone, for a check at save
 */
export function governedTable(governance: Governance, principal: Principal | undefined): GovernedTable {
  const { ref, contract } = governance
  const applies = appliesTo(principal)
  const current = governance.columns.filter((column) => column.current)
  const relation = [...ref.namespace, ref.name]
  return {
    ref,
    schemaName: ref.namespace.join('.'),
    tableName: ref.name,
    relation: { duckdb: relation, trino: relation },
    columns: topColumns(current).map(({ name, fieldId, type, required, masks }) => ({
      name,
      fieldId,
      type,
      required,
      masks: masks.filter(applies).map(({ exemptRoles: _, ...mask }) => mask),
    })),
    rowFilters: governance.rowFilters
      .filter(applies)
      .map(({ policyId, expression }) => ({ policyId, expression, origin: { kind: 'table' } })),
    ...(contract && { contract }),
  }
}

/**
 * The columns that are no fields of others. A name with a dot is not told from a field of a struct where both
 * could be meant: it is left out.
 */
export function topColumns<C extends Pick<StoredColumn, 'name' | 'type'>>(
  columns: readonly C[],
): readonly C[] {
  const nesting = new Set(columns.filter(({ type }) => typeof type !== 'string').map(({ name }) => name))
  return columns.filter(
    ({ name }) => ![...name.matchAll(/\./g)].some(({ index }) => nesting.has(name.slice(0, index))),
  )
}

function appliesTo(principal: Principal | undefined): (policy: StoredPolicy) => boolean {
  return ({ exemptRoles }) => !exemptRoles.some((role) => principal?.roles.includes(role))
}

/**
 * What governs reading a table.
 * @returns undefined for a table that the graph does not know
 * @throws Fault as {@link readGovernance} and the store do
 */
export function loadGovernance(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<Governance | undefined> {
  return readGovernance((text, params) => store.tenantQuery(tenant, text, params), table)
}

/**
 * A table as the read path takes it, with the filters and masks that apply to `principal`.
 * @param principal whose roles were verified: they exempt from policies
 * @returns undefined for a table that the graph does not know
 * @throws Fault as {@link loadGovernance} does
 */
export async function loadGovernedTable(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
): Promise<GovernedTable | undefined> {
  const governance = await loadGovernance(store, tenant, table)
  return governance && governedTable(governance, principal)
}

/**
 * Whether a row filter, or a mask on any column that a snapshot of the table may hold, applies to `principal`.
 * @param principal whose roles were verified
 * @throws Fault as {@link loadGovernance} does
 */
export async function isMaskedFor(
  store: Store,
  tenant: TenantId,
  table: TableRef,
  principal: Principal,
): Promise<boolean> {
  const governance = await loadGovernance(store, tenant, table)
  if (governance === undefined) return false
  const applies = appliesTo(principal)
  return governance.rowFilters.some(applies) || governance.columns.some(({ masks }) => masks.some(applies))
}
