/** Lists the tables of a tenant that may be read, with what one viewer sees of them. pg_catalog and its like are built from it. */

import { Fault } from '../../base/fault.ts'
import { mapInTurns } from '../../base/in-turns.ts'
import type { Governance } from '../../core/governance.ts'
import { isMasked } from '../../core/governed-table.ts'
import {
  currentSchema,
  rolesThatShow,
  type SeenColumn,
  type SeenTable,
  seenTable,
  type Viewer,
} from '../../core/seen-table.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { SchemaColumn } from '../../core/table-schema.ts'
import type { TenantId } from '../../core/tenant.ts'
import { nodeId, storableText } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { type Properties, parseAgtype } from '../graph/graph.ts'
import { readableFrom } from '../graph/readable.ts'
import type { Store } from '../store.ts'
import { type DeclaredSchema, declaredSchema } from './declared-schema.ts'
import { docOf, parseGovernances } from './governance.ts'

export interface ReadableColumn extends SeenColumn {
  /** From the table's metadata, where it is in the graph. */
  readonly doc?: string
  readonly tags: readonly string[]
  /** Whether a mask concerns it or a field in it, for some principal. */
  readonly masked: boolean
}

/** A table that may be read, as one viewer sees it. */
export interface ReadableTable extends Pick<SeenTable, 'ref' | 'contract' | 'rowFilters'> {
  /** The schema that the contract declares. */
  readonly declared?: DeclaredSchema
  readonly doc?: string
  /** The columns that a statement can name, of the pinned schema, else of the current one. */
  readonly columns: readonly ReadableColumn[]
  /** Roles that show more columns to who has one of them. */
  readonly rolesThatShow: readonly string[]
  readonly pinnedSnapshotId: bigint | undefined
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
  select t.id, t.properties, e.properties as declared, row_number() over (order by ${tableId})::int as place
  ${readableFrom} and ${choices[choice]}
  order by ${tableId} limit $2::int`

/** The tables, the columns of their pins, and what governs all of them. */
const listText = (choice: keyof typeof choices) => `
  with p as materialized (${pageText(choice)})
  select p.id::text as node, p.properties::text, p.declared::text, p.place, null as governance,
    (select e.properties::text from "PINS" e join "PinEvent" v on v.id = e.start_id
      where e.end_id = p.id order by ${property('v', 'seq')} desc limit 1) as pinned
  from p
  union all select null, null, null, 0,
    svc.governance((select jsonb_agg(${property('p', 'id')}::text)::text from p)), null`

interface TableRow {
  readonly node: string
  readonly properties: string
  /** The edge between a table and its contract. */
  readonly declared: string | null
  /** A table's position in its page. */
  readonly place: number
  /** The edge between a table and its newest pin event, with the columns. */
  readonly pinned: string | null
}
type Row = TableRow | { readonly node: null; readonly governance: string | null }

/**
 * The tables under an active contract, and those without one where the tenant has opted in, with their columns, by
 * id.
 * @throws Fault `bad_request` for a bad page; `unavailable` where the tenant's sentinel is missing, because tables that
 *   cannot be seen must not look like tables that do not exist
 */
export function listReadableTables(
  store: Store,
  tenant: TenantId,
  viewer: Viewer,
  page: PageRequest = {},
): Promise<Page<ReadableTable>> {
  return loadPage(store, tenant, viewer, 'after', pageLimit(page), storableText(page.after ?? ''))
}

/**
 * One table that may be read.
 * @returns undefined where there is no such table, or it may not be read
 * @throws Fault as {@link listReadableTables}
 */
export async function findReadableTable(
  store: Store,
  tenant: TenantId,
  viewer: Viewer,
  table: TableRef,
): Promise<ReadableTable | undefined> {
  return (await findReadableTables(store, tenant, viewer, [table]))[0]
}

/** Those of these tables that may be read, by id. @throws Fault as {@link listReadableTables} */
export async function findReadableTables(
  store: Store,
  tenant: TenantId,
  viewer: Viewer,
  tables: readonly TableRef[],
): Promise<readonly ReadableTable[]> {
  const ids = ['', ...tables.map((table) => nodeId(tableKey(table)))]
  return (await loadPage(store, tenant, viewer, 'only', ids.length, JSON.stringify(ids.map(storableText))))
    .items
}

/** @param given what the choice compares with */
async function loadPage(
  store: Store,
  tenant: TenantId,
  viewer: Viewer,
  choice: keyof typeof choices,
  limit: number,
  given: string,
): Promise<Page<ReadableTable>> {
  const rows = await store.tenantQuery<Row>(tenant, listText(choice), [given, limit + 2])
  const governed = rows.find((row) => row.node === null)
  const listed = rows.filter((row) => row.node !== null).sort((a, b) => a.place - b.place)
  const tables = (await mapInTurns(listed, undefined, found)).filter((table) => table !== undefined)
  // Also finds out whether the sentinel is there.
  const { governances } = parseGovernances(
    tables.map(({ ref }) => ref),
    governed?.governance ?? '',
  )
  const { items, next } = toPage(tables, limit, ({ ref }) => nodeId(tableKey(ref)))
  const seen = await mapInTurns(items, undefined, (table) => {
    const governance = governances.get(tableKey(table.ref))
    return governance === undefined ? [] : [readable(table, governance, viewer)]
  })
  return { items: seen.flat(), ...(next !== undefined && { next }) }
}

interface Found extends Pick<ReadableTable, 'ref' | 'doc' | 'declared'> {
  readonly pinned: readonly SchemaColumn[] | undefined
}

const propertiesOf = (text: string | null) => (text === null ? {} : (parseAgtype(text) as Properties))

/** @returns undefined for the sentinel */
function found({ properties, declared, pinned }: TableRow): Found | undefined {
  const table = propertiesOf(properties)
  if (table.sentinel === true) return undefined
  const { namespace, name } = table as unknown as TableRef
  const schema = declaredSchema(propertiesOf(declared))
  return {
    ref: { namespace, name },
    ...(schema && { declared: schema }),
    ...docOf(table),
    pinned: propertiesOf(pinned).columns as readonly SchemaColumn[] | undefined,
  }
}

function readable({ pinned, ...table }: Found, governance: Governance, viewer: Viewer): ReadableTable {
  const isPinned = governance.pin !== undefined
  const schema = (isPinned ? pinned : undefined) ?? currentSchema(governance)
  const anyone = seenTable(governance, schema, 'anyone')
  const seen = viewer === 'anyone' ? anyone : seenTable(governance, schema, viewer)
  const stored = new Map(governance.columns.map((column) => [column.fieldId, column]))
  const unmasked = new Set(anyone.columns.filter((column) => !isMasked(column)).map(({ fieldId }) => fieldId))
  return {
    ...table,
    ...(seen.contract && { contract: seen.contract }),
    columns: seen.columns.map((column) => {
      const { tags = [], doc } = stored.get(column.fieldId) ?? {}
      return { ...column, tags, masked: !unmasked.has(column.fieldId), ...(doc !== undefined && { doc }) }
    }),
    rowFilters: seen.rowFilters,
    rolesThatShow: rolesThatShow(governance, anyone),
    pinnedSnapshotId: governance.pin?.snapshotId,
  }
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

interface ReadableTablesMark {
  /** Changes whenever the set of readable tables, a contract, a pin, a metric or a table's columns change. */
  readonly text: string
  readonly tableCount: number
}

function noSentinel(): Fault {
  return new Fault('unavailable', 'The tables of the catalog could not be loaded. Retry.', {
    detail: 'no tenant sentinel',
  })
}
