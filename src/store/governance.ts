/** What governs reading tables, as the graph has it: contract, pin, columns, tags, row filters, column masks. */

import { Fault } from '../base/fault.ts'
import type { AttachedMask, BoundNames, PolicyOrigin } from '../core/governed-table.ts'
import type { IcebergType } from '../core/iceberg-type.ts'
import { type TableRef, tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { type Properties, parseAgtype } from './graph.ts'
import { nodeId } from './names.ts'
import { type Pin, pinOf } from './pin-event.ts'
import type { Store } from './store.ts'

export interface StoredPolicy {
  readonly policyId: string
  /** Roles of the principal for which it does not apply. */
  readonly exemptRoles: readonly string[]
  readonly names?: BoundNames
}

export interface StoredRowFilter extends StoredPolicy {
  readonly expression: string
  readonly origin: PolicyOrigin
  /** Of the column that it is attached to, itself or by a tag. */
  readonly fieldId?: number
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
  /** Undefined where the table is not pinned. */
  readonly pin: Pin | undefined
  /** Whether the tenant opted in to reading tables without an active contract. */
  readonly readableWithoutContract: boolean
  readonly rowFilters: readonly StoredRowFilter[]
  readonly columns: readonly StoredColumn[]
}

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`

const kinds = [
  'table',
  'contract',
  'pin',
  'filter',
  'column-filter',
  'tag-filter',
  'column',
  'mask',
  'tag',
  'tag-mask',
] as const
type Kind = (typeof kinds)[number] | 'setting'

interface Row {
  readonly kind: Kind
  readonly table_id: string | null
  readonly properties: string
  readonly column_id: string | null
  readonly tag: string | null
  readonly current: boolean | null
}

const wanted = `any(array(select to_jsonb(x)::text::agtype from jsonb_array_elements_text($1::text::jsonb) x))`
const tagged = `c join "TAGGED" e on e.start_id = c.id join "Tag" g on g.id = e.end_id`
const ofColumn = (kind: Kind, alias: string, from: string, tag = 'null::agtype') =>
  `select '${kind}', c.table_id, ${alias}.properties, c.column_id, ${tag}, null from ${from}`
const ofTable = (kind: Kind, alias: string, from: string) =>
  `select '${kind}', t.table_id, ${alias}.properties, null, null, null from t ${from}`
const tagName = property('g', 'name')

const loadText = `
  with t as (
    select t.id, ${property('t', 'id')} as table_id, t.properties from "Table" t where ${property('t', 'id')} = ${wanted}),
  c as (
    select c.id, t.table_id, ${property('c', 'id')} as column_id, c.properties, true as current
    from t join "HAS_COLUMN" h on h.start_id = t.id join "Column" c on c.id = h.end_id
    union all
    select c.id, ${property('c', 'table_id')}, ${property('c', 'id')}, c.properties, false from "Column" c
    where ${property('c', 'table_id')} = ${wanted} and not exists (select 1 from "HAS_COLUMN" h where h.end_id = c.id))
  select 'table' as kind, t.table_id, t.properties, null::agtype as column_id, null::agtype as tag,
    null::boolean as current from t
  union all ${ofTable('contract', 'k', `join "GOVERNS" e on e.end_id = t.id join "Contract" k on k.id = e.start_id`)}
  union all ${ofTable(
    'pin',
    'p',
    `cross join lateral (
       select p.properties from "PINS" e join "PinEvent" p on p.id = e.start_id
       where e.end_id = t.id order by ${property('p', 'seq')} desc limit 1) p`,
  )}
  union all ${ofTable('filter', 'f', `join "FILTERS" e on e.end_id = t.id join "RowFilter" f on f.id = e.start_id`)}
  union all select 'column', c.table_id, c.properties, c.column_id, null, c.current from c
  union all ${ofColumn('column-filter', 'f', `c join "FILTERS" e on e.end_id = c.id join "RowFilter" f on f.id = e.start_id`)}
  union all ${ofColumn('mask', 'm', `c join "MASKS" e on e.end_id = c.id join "ColumnMask" m on m.id = e.start_id`)}
  union all ${ofColumn('tag', 'g', tagged, tagName)}
  union all ${ofColumn('tag-mask', 'm', `${tagged} join "APPLIES_TO" a on a.end_id = g.id join "ColumnMask" m on m.id = a.start_id`, tagName)}
  union all ${ofColumn('tag-filter', 'f', `${tagged} join "APPLIES_TO" a on a.end_id = g.id join "RowFilter" f on f.id = a.start_id`, tagName)}
  union all select 'setting', null, jsonb_build_object('readable', s.readable_without_contract)::text::agtype, null, null, null
    from svc.read_setting s`

/** Runs one statement in the tenant's context. */
export type RunQuery = <R extends object>(text: string, params: readonly string[]) => Promise<readonly R[]>

interface Found {
  readonly kind: Kind
  readonly tableId: string
  readonly properties: Properties
  readonly columnId: string
  readonly tag: string
  readonly current: boolean
}

/**
 * Everything that governs reading these tables, in one round trip.
 * @returns by tableKey; without the tables that the graph does not know
 * @throws Fault `unavailable` where the tenant's sentinel is not among what was read: rows that cannot be
 *   seen must not look like rows that are not there
 */
export async function readGovernances(
  run: RunQuery,
  refs: readonly TableRef[],
): Promise<ReadonlyMap<string, Governance>> {
  const ids = refs.map((ref) => nodeId(tableKey(ref)))
  const rows = (await run<Row>(loadText, [JSON.stringify(['', ...ids])])).map(foundOf)
  const isSentinel = ({ properties }: Found) => properties.sentinel === true
  const seen = new Set(rows.filter(isSentinel).map(({ kind }) => kind))
  if (kinds.some((kind) => !seen.has(kind)))
    throw new Fault('unavailable', 'The filters and masks of the table could not be loaded. Retry.', {
      detail: 'no tenant sentinel',
    })
  const readable = rows.some(({ kind, properties }) => kind === 'setting' && properties.readable === true)
  const byTable = Map.groupBy(
    rows.filter((row) => !isSentinel(row)),
    ({ tableId }) => tableId,
  )
  return new Map(
    refs.flatMap((ref, index) => {
      const found = byTable.get(ids[index] ?? '') ?? []
      if (!found.some(({ kind }) => kind === 'table')) return []
      return [[tableKey(ref), governanceOf(ref, found, readable)] as const]
    }),
  )
}

/**
 * Everything that governs reading one table.
 * @returns undefined for a table that the graph does not know
 * @throws Fault as {@link readGovernances}
 */
export async function readGovernance(run: RunQuery, ref: TableRef): Promise<Governance | undefined> {
  return (await readGovernances(run, [ref])).get(tableKey(ref))
}

function foundOf(row: Row): Found {
  const text = (value: string | null) => (value === null ? '' : String(parseAgtype(value)))
  return {
    kind: row.kind,
    tableId: text(row.table_id),
    properties: parseAgtype(row.properties) as Properties,
    columnId: text(row.column_id),
    tag: text(row.tag),
    current: row.current === true,
  }
}

function governanceOf(ref: TableRef, found: readonly Found[], readable: boolean): Governance {
  const of = (...wantedKinds: readonly Kind[]) => found.filter(({ kind }) => wantedKinds.includes(kind))
  const contract = of('contract').find(({ properties }) => properties.state === 'active')?.properties
  const tags = Map.groupBy(of('tag'), (row) => row.columnId)
  const masks = Map.groupBy(of('mask', 'tag-mask'), (row) => row.columnId)
  const columns = of('column')
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
    .sort((a, b) => a.fieldId - b.fieldId)
  const fieldIds = new Map(columns.map(({ id, fieldId }) => [id, fieldId]))
  return {
    ref,
    contract: contract && { id: String(contract.id), version: Number(contract.version) },
    pin: pinOf(of('pin')[0]?.properties),
    readableWithoutContract: readable,
    rowFilters: distinct(
      of('filter', 'column-filter', 'tag-filter').map((row) => storedFilter(row, fieldIds.get(row.columnId))),
    ),
    columns,
  }
}

function storedPolicy(properties: Properties): StoredPolicy {
  const { exempt_roles: roles, names } = properties
  return {
    policyId: String(properties.policy_id),
    exemptRoles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    ...(names !== undefined && { names: names as BoundNames }),
  }
}

function storedFilter(row: Found, fieldId: number | undefined): StoredRowFilter {
  const origins = {
    filter: { kind: 'table' },
    'column-filter': { kind: 'column' },
    'tag-filter': { kind: 'tag', tag: row.tag },
  } as const
  return {
    ...storedPolicy(row.properties),
    expression: String(row.properties.expression),
    origin: origins[row.kind as keyof typeof origins],
    ...(fieldId !== undefined && { fieldId }),
  }
}

function storedMask({ kind, properties, tag }: Found): StoredMask {
  const { action, expression } = properties
  return {
    ...storedPolicy(properties),
    action: String(action),
    ...(expression !== undefined && { expression: String(expression) }),
    origin: kind === 'tag-mask' ? { kind: 'tag', tag } : { kind: 'column' },
  }
}

/** A column may have one tag twice: from a steward, and from each finding of the detection. */
function distinct<P>(policies: readonly P[]): readonly P[] {
  return [...new Map(policies.map((policy) => [JSON.stringify(policy), policy])).values()]
}

/** An Iceberg type from the graph, which names the kind of a nested one only: such a column is kept from statements. */
export function icebergType(text: string): IcebergType {
  if (text === 'list') return { type: 'list', element: { type: 'struct' } }
  return text === 'struct' || text === 'map' ? { type: text } : text
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

/**
 * What governs reading a table.
 * @returns undefined for a table that the graph does not know
 * @throws Fault as {@link readGovernances} and the store do
 */
export function loadGovernance(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<Governance | undefined> {
  return readGovernance((text, params) => store.tenantQuery(tenant, text, params), table)
}

/**
 * What governs reading several tables, in one round trip.
 * @throws Fault as {@link readGovernances} and the store do; the signal's reason
 */
export function loadGovernances(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Governance>> {
  return readGovernances(
    (text, params) => store.tenantQuery(tenant, text, params, signal ? { signal } : {}),
    tables,
  )
}
