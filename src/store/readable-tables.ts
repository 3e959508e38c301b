/** The tables of a tenant that may be read, with their columns: what catalogs that clients look at are made of. */

import { Fault } from '../base/fault.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { icebergType, type StoredColumn, topColumns } from './governance.ts'
import { type Properties, parseAgtype } from './graph.ts'
import { type Page, type PageRequest, pageLimit, toPage } from './page.ts'
import type { Store } from './store.ts'

export interface ReadableColumn extends Pick<StoredColumn, 'fieldId' | 'name' | 'type' | 'required'> {
  /** From the table's metadata, where the graph has it. */
  readonly doc?: string
  /** Whether any mask is on it, for whomever. */
  readonly masked: boolean
}

export interface ReadableTable {
  readonly ref: TableRef
  /** Absent where the tenant reads tables without one. */
  readonly contract?: { readonly id: string; readonly version: number }
  readonly doc?: string
  /** Current ones that a statement can name, by field id. */
  readonly columns: readonly ReadableColumn[]
}

const property = (alias: string, name: string) =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${name}"'::agtype])`
const tableId = property('t', 'id')

/** Whether the tenant has opted in to tables without a contract; what was never set is the stricter. */
const optedIn = 'coalesce((select bool_or(s.readable_without_contract) from svc.read_setting s), false)'

/**
 * Tables with the contract that makes them readable, or none where the tenant has opted in: then those that
 * were ever committed to. The sentinel's table ('') comes by the same joins, and never without its contract.
 */
const readableFrom = `
  from "Table" t left join ("GOVERNS" e join "Contract" k on k.id = e.start_id
      and (${property('k', 'state')} = '"active"'::agtype or ${property('k', 'id')} = '""'::agtype))
    on e.end_id = t.id
  where (k.id is not null or (${optedIn} and exists (select 1 from "HAS_COLUMN" h where h.start_id = t.id)
    and ${tableId} <> '""'::agtype))`

/** The sentinel comes with every page. */
const pageText = `
  select t.id, t.properties, k.properties as contract, row_number() over (order by ${tableId})::int as place
  ${readableFrom} and (${tableId} = '""'::agtype or ${tableId} > to_jsonb($1::text)::text::agtype)
  order by ${tableId} limit $2::int`

const columnsOf = `p join "HAS_COLUMN" h on h.start_id = p.id join "Column" c on c.id = h.end_id`
const listText = `
  with p as (${pageText})
  select 'table' as kind, p.id::text as node, p.properties, p.contract, p.place from p
  union all select 'column', p.id::text, c.properties, null, 0 from ${columnsOf}
  union all select 'mask', p.id::text, c.properties, null, 0 from ${columnsOf}
    where exists (select 1 from "MASKS" m where m.end_id = c.id)
      or exists (select 1 from "TAGGED" g join "APPLIES_TO" a on a.end_id = g.end_id
        join "ColumnMask" m on m.id = a.start_id where g.start_id = c.id)`

interface Row {
  readonly kind: 'table' | 'column' | 'mask'
  readonly node: string
  readonly properties: string
  readonly contract: string | null
  /** Of a table among those of its page. */
  readonly place: number
}

/**
 * The tables under an active contract, and where the tenant has opted in those without one, with their columns,
 * in the order of their ids.
 * @throws Fault `bad_request` for a bad page; `unavailable` where the tenant's sentinel is not among what was
 *   read: tables that cannot be seen must not look like tables that are not there
 */
export async function listReadableTables(
  store: Store,
  tenant: TenantId,
  page: PageRequest = {},
): Promise<Page<ReadableTable>> {
  const limit = pageLimit(page)
  const rows = (await store.tenantQuery<Row>(tenant, listText, [page.after ?? '', limit + 2])).map((row) => ({
    ...row,
    properties: parseAgtype(row.properties) as Properties,
  }))
  const isSentinel = ({ properties }: { readonly properties: Properties }) => properties.sentinel === true
  for (const kind of ['table', 'column', 'mask'] as const)
    if (!rows.some((row) => row.kind === kind && isSentinel(row))) throw noSentinel()
  const found = rows.filter((row) => !isSentinel(row))
  const of = (kind: Row['kind']) =>
    Map.groupBy(
      found.filter((row) => row.kind === kind),
      ({ node }) => node,
    )
  const [columns, masks] = [of('column'), of('mask')]
  const tables = found.filter(({ kind }) => kind === 'table').sort((a, b) => a.place - b.place)
  const { items, next } = toPage(tables, limit, ({ properties }) => String(properties.id))
  return {
    items: items.map(({ node, properties, contract }) => {
      const masked = new Set((masks.get(node) ?? []).map((row) => row.properties.id))
      return {
        ...toTable(properties, contract === null ? undefined : (parseAgtype(contract) as Properties)),
        columns: topColumns(
          (columns.get(node) ?? [])
            .map((row) => toColumn(row.properties, masked.has(row.properties.id)))
            .sort((a, b) => a.fieldId - b.fieldId),
        ),
      }
    }),
    ...(next !== undefined && { next }),
  }
}

function toTable(properties: Properties, contract: Properties | undefined): Omit<ReadableTable, 'columns'> {
  const { namespace, name } = properties as unknown as TableRef
  return {
    ref: { namespace, name },
    ...(contract && { contract: { id: String(contract.id), version: Number(contract.version) } }),
    ...docOf(properties),
  }
}

function toColumn(properties: Properties, masked: boolean): ReadableColumn {
  return {
    fieldId: Number(properties.field_id),
    name: String(properties.name),
    type: icebergType(String(properties.type ?? 'unknown')),
    required: properties.required === true,
    masked,
    ...docOf(properties),
  }
}

function docOf({ doc }: Properties): { readonly doc?: string } {
  return typeof doc === 'string' && doc !== '' ? { doc } : {}
}

/**
 * Which tables may be read, as one text that changes when the set or a contract's version does: cheap enough
 * to ask before every look at a catalog.
 * @throws Fault as {@link listReadableTables} does
 */
export async function readableTablesMark(store: Store, tenant: TenantId): Promise<string> {
  const rows = await store.tenantQuery<{ id: string; contract: string | null; version: string | null }>(
    tenant,
    `select ${tableId} as id, ${property('k', 'id')} as contract, ${property('k', 'version')} as version
     ${readableFrom}`,
  )
  if (!rows.some(({ id }) => id === '""')) throw noSentinel()
  return JSON.stringify(rows.map(({ id, contract, version }) => [id, contract, version]).sort())
}

function noSentinel(): Fault {
  return new Fault('unavailable', 'The tables of the catalog could not be loaded. Retry.', {
    detail: 'no tenant sentinel',
  })
}
