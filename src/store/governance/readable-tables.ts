/** Lists the tables of a tenant that may be read, with their columns. pg_catalog and its like are built from them. */

import { Fault } from '../../base/fault.ts'
import { mapInTurns } from '../../base/in-turns.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import { readableFrom } from '../graph/readable.ts'
import type { Store } from '../store.ts'
import { type DeclaredSchema, declaredSchema } from './declared-schema.ts'
import { icebergType, type StoredColumn, topColumns, withElements } from './governance.ts'
import { pinOf } from './pin-event.ts'

export interface ReadableColumn extends Pick<StoredColumn, 'fieldId' | 'name' | 'type' | 'required'> {
  /** From the table's metadata, where it is in the graph. */
  readonly doc?: string
  /** Whether it has any mask, for any principal. */
  readonly masked: boolean
  /** Its place in the schema, nested fields counted; absent where the last commit is older than this property. */
  readonly place?: number
}

export interface ReadableTable {
  readonly ref: TableRef
  /** Absent for a table without a contract, where the tenant has opted in. */
  readonly contract?: { readonly id: string; readonly version: number }
  /** The schema that the contract declares. */
  readonly declared?: DeclaredSchema
  readonly doc?: string
  /** The columns that a statement can name, of the pinned schema, else of the current one. */
  readonly columns: readonly ReadableColumn[]
}

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`
const tableId = property('t', 'id')

const sentinelId = `'""'::agtype`
const given = 'to_jsonb($1::text)::text::agtype'
const givenIds = `array(select to_jsonb(x)::text::agtype from jsonb_array_elements_text($1::text::jsonb) x)`
/** The tables after $1, or those whose ids $1 lists. Both include the sentinel. */
const choices = {
  after: `(${tableId} = ${sentinelId} or ${tableId} > ${given})`,
  only: `${tableId} = any(${givenIds})`,
}

const pageText = (choice: keyof typeof choices) => `
  select t.id, t.properties, k.properties as contract, e.properties as declared,
    row_number() over (order by ${tableId})::int as place
  ${readableFrom} and ${choices[choice]}
  order by ${tableId} limit $2::int`

/** A pinned table may show columns that were dropped since. A dropped column holds its table's id. */
const listText = (choice: keyof typeof choices) => `
  with p as (${pageText(choice)}),
  pin as (
    select p.id, p.properties as table_properties, l.* from p cross join lateral (
      select v.properties as event, e.properties as pinned from "PINS" e join "PinEvent" v on v.id = e.start_id
      where e.end_id = p.id order by ${property('v', 'seq')} desc limit 1) l),
  c as (
    select p.id as node, c.id, c.properties, 'column' as kind
    from p join "HAS_COLUMN" h on h.start_id = p.id join "Column" c on c.id = h.end_id
    union all
    select pin.id, c.id, c.properties, 'dropped' from pin join "Column" c
      on ${property('c', 'table_id')} = agtype_access_operator(variadic array[pin.table_properties, '"id"'::agtype])
    where not exists (select 1 from "HAS_COLUMN" h where h.end_id = c.id))
  select 'table' as kind, p.id::text as node, p.properties, p.contract as more, p.declared, p.place from p
  union all select 'pin', pin.id::text, pin.event, pin.pinned, null, 0 from pin
  union all select c.kind, c.node::text, c.properties, null, null, 0 from c
  union all select 'mask', c.node::text, c.properties, null, null, 0 from c
    where exists (select 1 from "MASKS" m where m.end_id = c.id)
      or exists (select 1 from "TAGGED" g join "APPLIES_TO" a on a.end_id = g.end_id
        join "ColumnMask" m on m.id = a.start_id where g.start_id in (c.id, c.node))`

interface Row {
  readonly kind: 'table' | 'pin' | 'column' | 'dropped' | 'mask'
  readonly node: string
  readonly properties: string
  /** For a table its contract; for a pin the edge with its columns. */
  readonly more: string | null
  /** The edge between a table and its contract. */
  readonly declared: string | null
  /** A table's position in its page. */
  readonly place: number
}

/**
 * The tables under an active contract, and those without one where the tenant has opted in, with their columns, by
 * id.
 * @throws Fault `bad_request` for a bad page; `unavailable` where the tenant's sentinel is missing, because tables that
 *   cannot be seen must not look like tables that do not exist
 */
export function listReadableTables(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<ReadableTable>> {
  return loadPage(store, tenant, 'after', pageLimit(page), storableText(page.after ?? ''))
}

/**
 * One table that may be read.
 * @returns undefined where there is no such table, or it may not be read
 * @throws Fault as {@link listReadableTables}
 */
export async function findReadableTable(
  store: Store,
  tenant: TenantId,
  table: TableRef,
): Promise<ReadableTable | undefined> {
  return (await findReadableTables(store, tenant, [table]))[0]
}

/** Those of these tables that may be read, by id. @throws Fault as {@link listReadableTables} */
export async function findReadableTables(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
): Promise<readonly ReadableTable[]> {
  const ids = ['', ...tables.map((table) => nodeId(tableKey(table)))]
  return (await loadPage(store, tenant, 'only', ids.length, JSON.stringify(ids.map(storableText)))).items
}

/** @param given what the choice compares with */
async function loadPage(
  store: Store,
  tenant: TenantId,
  choice: keyof typeof choices,
  limit: number,
  given: string,
): Promise<Page<ReadableTable>> {
  const params = [given, limit + 2]
  const rows = await mapInTurns(
    await store.tenantQuery<Row>(tenant, listText(choice), params),
    undefined,
    (row) => ({
      ...row,
      properties: parseAgtype(row.properties) as Properties,
    }),
  )
  const isSentinel = ({ properties }: { readonly properties: Properties }) => properties.sentinel === true
  for (const kind of ['table', 'pin', 'column', 'mask'] as const)
    if (!rows.some((row) => row.kind === kind && isSentinel(row))) throw noSentinel()
  const found = rows.filter((row) => !isSentinel(row))
  const byNode = Map.groupBy(found, ({ node }) => node)
  const tables = found.filter(({ kind }) => kind === 'table').sort((a, b) => a.place - b.place)
  const { items, next } = toPage(tables, limit, ({ properties }) => String(properties.id))
  return {
    items: await mapInTurns(items, undefined, (table) => ({
      ...toTable(table),
      columns: toColumns(byNode.get(table.node) ?? []),
    })),
    ...(next !== undefined && { next }),
  }
}

type Found = Omit<Row, 'properties'> & { readonly properties: Properties }

const propertiesOf = (text: string | null) => (text === null ? undefined : (parseAgtype(text) as Properties))

function toTable({ properties, more, declared }: Found): Omit<ReadableTable, 'columns'> {
  const { namespace, name } = properties as unknown as TableRef
  const contract = propertiesOf(more)
  const schema = declaredSchema(propertiesOf(declared) ?? {})
  return {
    ref: { namespace, name },
    ...(contract && { contract: { id: String(contract.id), version: Number(contract.version) } }),
    ...(schema && { declared: schema }),
    ...docOf(properties),
  }
}

/** @param rows all rows of one table */
function toColumns(rows: readonly Found[]): readonly ReadableColumn[] {
  const of = (kind: Row['kind']) =>
    rows.filter((row) => row.kind === kind).map(({ properties }) => properties)
  const masked = new Set(of('mask').map(({ id }) => id))
  const stored = (properties: Properties) => toColumn(properties, masked.has(properties.id))
  const current = withElements(of('column').map(stored))
  const pin = rows.find(({ kind }) => kind === 'pin')
  const isPinned = pin !== undefined && pinOf(pin.properties) !== undefined
  const pinned = isPinned
    ? (propertiesOf(pin.more)?.columns as readonly SchemaColumn[] | undefined)
    : undefined
  if (pinned === undefined) return topColumns(current).filter(isOpen(current)).sort(bySchema)
  return pinnedColumns(pinned, [...current, ...of('dropped').map(stored)])
}

/** Tells which columns have no masked field: those with one are left out of what is read. */
function isOpen(columns: readonly ReadableColumn[]): (column: ReadableColumn) => boolean {
  const masked = columns.filter((column) => column.masked).map(({ name }) => name)
  return ({ name, type }) => typeof type === 'string' || !masked.some((field) => field.startsWith(`${name}.`))
}

/** In the schema's order, as `SELECT *` gives them; by field id where the last commit did not say it. */
function bySchema(a: ReadableColumn, b: ReadableColumn): number {
  const [first = Number.MAX_SAFE_INTEGER, second = Number.MAX_SAFE_INTEGER] = [a.place, b.place]
  return first - second || a.fieldId - b.fieldId
}

/** By the rule of `governedSnapshot`: without columns that are not in the graph or that hold a masked field. */
function pinnedColumns(
  schema: readonly SchemaColumn[],
  stored: readonly ReadableColumn[],
): readonly ReadableColumn[] {
  const known = new Map(stored.map((column) => [column.fieldId, column]))
  return schema.flatMap(({ nestedIds, ...column }) => {
    const here = known.get(column.fieldId)
    if (here === undefined || !nestedIds.every((id) => known.get(id)?.masked === false)) return []
    return [{ ...here, ...column }]
  })
}

function toColumn(properties: Properties, masked: boolean): ReadableColumn {
  return {
    fieldId: Number(properties.field_id),
    name: String(properties.name),
    type: icebergType(String(properties.type ?? 'unknown')),
    required: properties.required === true,
    masked,
    ...(typeof properties.place === 'number' && { place: properties.place }),
    ...docOf(properties),
  }
}

function docOf({ doc }: Properties): { readonly doc?: string } {
  return typeof doc === 'string' && doc !== '' ? { doc } : {}
}

/**
 * How many tables are readable, and what changes with them: one row, cheap enough to load before every catalog query. A put of a contract makes a new edge, pins are only added, and a commit
 * that changes columns changes their hash.
 * @throws Fault as {@link listReadableTables} does
 */
export async function readableTablesMark(store: Store, tenant: TenantId): Promise<ReadableTablesMark> {
  interface Marked {
    readonly tables: number
    readonly sentinels: number
    readonly digest: string
    readonly pins: number
    readonly models: string
  }
  const [row] = await store.tenantQuery<Marked>(
    tenant,
    `with r as (select ${tableId} = ${sentinelId} as sentinel, t.id::text || ' ' || coalesce(e.id::text, '') || ' ' ||
         md5(coalesce(${property('t', 'columns_md5')}::text, '')) as one ${readableFrom})
     select count(distinct split_part(one, ' ', 1))::int as tables, count(*) filter (where sentinel)::int as sentinels,
       md5(coalesce(string_agg(one, ',' order by one collate "C"), '')) as digest,
       (select count(*)::int from "PINS") as pins,
       (select count(*)::text from svc.table_model) || (select coalesce(string_agg(m.metric || m.number || m.state, ','
         order by m.metric, m.number), '') from svc.metric_version m) as models from r`,
  )
  if (row === undefined || row.sentinels === 0 || row.pins === 0) throw noSentinel()
  const { tables, digest, pins, models } = row
  return { text: JSON.stringify([pins, models, digest]), tableCount: tables - 1 }
}

export interface ReadableTablesMark {
  /** Changes whenever the set of readable tables, a contract, a pin, a metric or a table's columns change. */
  readonly text: string
  readonly tableCount: number
}

function noSentinel(): Fault {
  return new Fault('unavailable', 'The tables of the catalog could not be loaded. Retry.', {
    detail: 'no tenant sentinel',
  })
}
