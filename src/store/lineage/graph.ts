/**
 * Loads the lineage around one node: edges within a number of hops, nearest first, in pages. A walk keeps its
 * direction, upstream or downstream, so a sibling of the start is in neither.
 */

import { Fault } from '../../base/fault.ts'
import type { ColumnDependency, LineageName } from '../../core/lineage.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { nodeId } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { parseAgtype } from '../graph/graph.ts'
import { hiddenDatasets, isReadableKey } from '../graph/readable.ts'
import type { Store } from '../store.ts'
import { datasetId, jobId } from './events.ts'

/** What a dataset is a name of, where that is known: see `lineage_name.table_key`. */
interface NamedTable {
  readonly tableKey?: string
}

export type LineageNode =
  | ({ readonly kind: 'dataset' } & LineageName & NamedTable)
  | ({ readonly kind: 'job' } & LineageName)
  | ({ readonly kind: 'column'; readonly column: string } & LineageName & NamedTable)
  | ({ readonly kind: 'table' } & TableRef)

/** Where a walk begins: also at a column of a governed table, and at what a contract governs. */
export type LineageStart =
  | LineageNode
  | ({ readonly kind: 'table-column'; readonly column: string } & TableRef)
  | { readonly kind: 'contract'; readonly id: string }

export const lineageDirections = ['upstream', 'downstream', 'both'] as const
export type LineageDirection = (typeof lineageDirections)[number]

export interface LineageEdge {
  readonly label: 'LINEAGE_OF' | 'PRODUCED_BY' | 'STORED_AS' | 'PARENT_OF'
  /** Data flows from here, for LINEAGE_OF. The parent, for PARENT_OF. */
  readonly from: LineageNode
  readonly to: LineageNode
  /** LINEAGE_OF edges between the start and the farther end of this edge. */
  readonly hops: number
  /** Number of column dependencies of a LINEAGE_OF edge between datasets. `columns` holds the first of them. */
  readonly columnCount?: number
  readonly columns?: readonly ColumnDependency[]
  /** For an edge between columns. */
  readonly transformations?: ColumnDependency['transformations']
}

export interface LineageQuery extends PageRequest {
  readonly start: LineageStart
  readonly direction: LineageDirection
  /** Default 3, at most 5 (docs/reference/limits.md 2.1). */
  readonly depth?: number | undefined
  /**
   * Leaves out datasets that are stored as a table that may not be read. A walk ends before them, and such a start is
   * not found. Default: false.
   */
  readonly readableOnly?: boolean
  readonly signal?: AbortSignal
}

/** A page of edges, and how many the walk found in all. */
export type LineagePage = Page<LineageEdge> & { readonly total: number }

/** Column dependencies that an edge between datasets shows. A walk from a column shows all of its own. */
const columnsShown = 100

interface Row {
  readonly label: LineageEdge['label'] | null
  readonly hops: number
  readonly position: string
  readonly source: string
  readonly target: string
  readonly source_key: string | null
  readonly target_key: string | null
  readonly input: string | null
  readonly output: string | null
  readonly column_count: number | null
  readonly columns: readonly ColumnDependency[] | null
  readonly transformations: ColumnDependency['transformations'] | null
  readonly total: number
}

/**
 * The edges around a node.
 * @returns undefined where there is no such node
 * @throws Fault `bad_request` for a depth above 5 or a bad page token
 */
export async function lineageAround(
  store: Store,
  tenant: TenantId,
  query: LineageQuery,
): Promise<LineagePage | undefined> {
  const { start, direction, depth = limits.graphHopsDefault, readableOnly = false, signal } = query
  if (!Number.isInteger(depth) || depth < 1 || depth > limits.graphHopsMax)
    throw new Fault('bad_request', `depth must be a whole number from 1 to ${limits.graphHopsMax}.`)
  const limit = pageLimit(query)
  const [afterHops, afterEdge, afterColumns] = position(query.after)
  const directions = directionRows(direction)
  const column = start.kind === 'column' || start.kind === 'table-column' ? start.column : undefined
  const params = [startId(start), depth, afterHops, afterEdge, afterColumns, limit + 1]
  const rows = await store.tenantQuery<Row>(
    tenant,
    queryText(start.kind, directions, readableOnly),
    column === undefined ? params : [...params, column],
    { readOnly: true, ...(signal && { signal }) },
  )
  // A row without a label shows that the start exists.
  if (rows.length === 0) return undefined
  return lineagePage(rows, limit)
}

/**
 * The first edges around each of several tables, in their order, in one statement. A table without lineage has none.
 * Datasets that may not be read are left out.
 * @throws Fault as {@link lineageAround}
 */
export async function lineageOfTables(
  store: Store,
  tenant: TenantId,
  tables: readonly TableRef[],
  { direction, depth, limit }: { direction: LineageDirection; depth: number; limit: number },
): Promise<readonly LineagePage[]> {
  if (!Number.isInteger(depth) || depth < 1 || depth > limits.graphHopsMax)
    throw new Fault('bad_request', `depth must be a whole number from 1 to ${limits.graphHopsMax}.`)
  const [afterHops, afterEdge, afterColumns] = position(undefined)
  const ids = tables.map((table) => startId({ kind: 'table', ...table }))
  const around = queryText('table', directionRows(direction), true).replaceAll('$1::text', 's.table_id')
  const rows = await store.tenantQuery<Row & { readonly table_id: string }>(
    tenant,
    `select s.table_id, x.* from (select distinct jsonb_array_elements_text($1::text::jsonb) as table_id) s,
       lateral (${around}) x order by s.table_id, x.place`,
    [JSON.stringify(ids), depth, afterHops, afterEdge, afterColumns, pageLimit({ limit }) + 1],
    { readOnly: true },
  )
  const byTable = Map.groupBy(rows, ({ table_id }) => table_id)
  return ids.map((id) => lineagePage(byTable.get(id) ?? [], limit))
}

function lineagePage(rows: readonly Row[], limit: number): LineagePage {
  const edges = rows.filter((row) => row.label !== null)
  const page = toPage(edges, limit, (row) => row.position)
  return { ...page, items: page.items.map(toEdge), total: rows[0]?.total ?? 0 }
}

function directionRows(direction: LineageDirection): string {
  return direction === 'both' ? '(1), (-1)' : direction === 'downstream' ? '(1)' : '(-1)'
}

function startId(start: LineageStart): string {
  if (start.kind === 'contract') return nodeId(start.id)
  if (start.kind === 'table' || start.kind === 'table-column') return nodeId(tableKey(start))
  return start.kind === 'job' ? jobId(start) : datasetId(start)
}

const key = (alias: string, property = 'id') =>
  `agtype_access_operator(variadic array[${alias}.properties, '"${property}"'::agtype])`
const given = 'to_jsonb($1::text)::text::agtype'

/** The datasets, as `d` or `p.start_id`, at which a walk begins; a job or table may have several. */
const starts = {
  dataset: `select d.id from "Dataset" d where ${key('d')} = ${given}`,
  column: `select d.id from "Dataset" d where ${key('d')} = ${given}`,
  // Also what the jobs have produced that its runs started.
  job: `with recursive family (id) as (
      select j.id from "Job" j where ${key('j')} = ${given} union
      select c.end_id from family f join "PARENT_OF" c on c.start_id = f.id)
    select p.start_id from family f join "PRODUCED_BY" p on p.end_id = f.id`,
  table: `select d.id from "Dataset" d where ${key('d', 'table_id')} = ${given}`,
  'table-column': `select d.id from "Dataset" d where ${key('d', 'table_id')} = ${given}`,
  contract: `select d.id from "Contract" c join "GOVERNS" g on g.start_id = c.id join "Table" t on t.id = g.end_id
    join "Dataset" d on ${key('d', 'table_id')} = ${key('t')} where ${key('c')} = ${given}`,
} as const satisfies Record<LineageStart['kind'], string>

const startExists = {
  dataset: starts.dataset,
  column: starts.column,
  job: `select j.id from "Job" j where ${key('j')} = ${given}`,
  table: `select t.id from "Table" t where ${key('t')} = ${given} union all ${starts.table}`,
  'table-column': starts.table,
  contract: `select c.id from "Contract" c where ${key('c')} = ${given}`,
} as const satisfies Record<LineageStart['kind'], string>

/** A job exists for a reader only through a dataset that the reader may see, a table and a contract also by themselves. */
function existsForReader(kind: LineageStart['kind']): string {
  const found = 'select node from start'
  if (kind === 'table')
    return `${found} union all select t.id from "Table" t where ${key('t')} = ${given} and ${isReadableKey(given)}`
  if (kind !== 'contract') return found
  return `${found} union all select c.id from "Contract" c join "GOVERNS" g on g.start_id = c.id join "Table" t on t.id = g.end_id
    where ${key('c')} = ${given} and ${isReadableKey(key('t'))}`
}

/** A dataset and all others that are names of the same table: a walk takes them for one. */
const namesOf = (node: string) => `(select ${node} as node union all
      select other.node from lineage_name own
        join lineage_name other on other.table_key = own.table_key and other.node <> own.node
      where own.node = ${node})`

function queryText(kind: LineageStart['kind'], directions: string, readableOnly: boolean): string {
  const walk = kind === 'column' || kind === 'table-column' ? columnWalk(directions) : datasetWalk(directions)
  const hidden = readableOnly ? hiddenDatasets : 'select id from "Dataset" where false'
  const exists = readableOnly ? existsForReader(kind) : startExists[kind]
  return `with recursive hidden (node) as materialized (${hidden}),
    start (node) as (
      select distinct named.node from (${starts[kind]}) s (id), lateral ${namesOf('s.id')} named
      where ${isSeen('named.node')}), ${walk},
    page as (
      select * from found
      where (hops, id::text::int8, columns_key) > ($3::int, $4::int8, $5::text)
      order by hops, id::text::int8, columns_key limit $6::int)
    select null as label, 0 as hops, '' as position, '' as source, '' as target,
      null as source_key, null as target_key, null as input, null as output,
      null::int as column_count, null::jsonb as columns, null::jsonb as transformations, 0 as place,
      (select count(*)::int from found) as total
    where exists (${exists})
    union all
    select p.label, p.hops, p.hops || '.' || p.id::text || '.' || p.columns_key, a.properties::text, b.properties::text,
      (select n.table_key from lineage_name n where n.node = p.start_id),
      (select n.table_key from lineage_name n where n.node = p.end_id), p.input, p.output, p.column_count, p.columns, p.transformations,
      row_number() over (order by p.hops, p.id::text::int8, p.columns_key), null
    from page p join "_ag_label_vertex" a on a.id = p.start_id join "_ag_label_vertex" b on b.id = p.end_id
    order by place`
}

const isSeen = (node: string) => `${node} not in (select node from hidden)`

/** LINEAGE_OF edges within `depth` hops, and the jobs and tables of every dataset reached. */
function datasetWalk(directions: string): string {
  const json = '(e.properties::text::jsonb)'
  return `reached (node, hops, way) as (
      select s.node, 0, d.way from start s, (values ${directions}) d (way)
      union
      select step.node, r.hops + 1, r.way from reached r, lateral (
        select e.end_id from "LINEAGE_OF" e where r.way = 1 and e.start_id = r.node
        union all
        select e.start_id from "LINEAGE_OF" e where r.way = -1 and e.end_id = r.node) one (node),
        lateral ${namesOf('one.node')} step
      where r.hops < $2::int and ${isSeen('step.node')}),
    nearest as (select node, way, min(hops) as hops from reached group by node, way),
    lineage as (
      select e.id, min(n.hops) + 1 as hops from nearest n, lateral (
        select e.id, e.end_id from "LINEAGE_OF" e where n.way = 1 and e.start_id = n.node
        union all
        select e.id, e.start_id from "LINEAGE_OF" e where n.way = -1 and e.end_id = n.node) e (id, other)
      where n.hops < $2::int and ${isSeen('e.other')} group by e.id),
    beside as (
      select e.label, e.id, e.start_id, e.end_id, n.hops
      from (select node, min(hops) as hops from nearest group by node) n, lateral (
        select 'PRODUCED_BY' as label, p.id, p.start_id, p.end_id from "PRODUCED_BY" p where p.start_id = n.node
        union all
        select 'STORED_AS', s.id, s.start_id, s.end_id from "STORED_AS" s where s.start_id = n.node) e),
    parents (id, start_id, end_id, hops) as (
      select p.id, p.start_id, p.end_id, b.hops from beside b join "PARENT_OF" p on p.end_id = b.end_id
      where b.label = 'PRODUCED_BY'
      union
      select p.id, p.start_id, p.end_id, above.hops from parents above join "PARENT_OF" p on p.end_id = above.start_id),
    found as (
      select 'LINEAGE_OF' as label, l.hops, e.id, e.start_id, e.end_id, '' as columns_key, null as input, null as output,
        coalesce(jsonb_array_length(${json} -> 'columns'), 0) as column_count,
        jsonb_path_query_array(coalesce(${json} -> 'columns', '[]'), '$[0 to ${columnsShown - 1}]') as columns,
        null::jsonb as transformations
      from lineage l join "LINEAGE_OF" e on e.id = l.id
      union all
      select label, hops, id, start_id, end_id, '', null, null, null, null, null from beside
      union all
      select 'PARENT_OF', min(hops), id, start_id, end_id, '', null, null, null, null, null
      from parents group by id, start_id, end_id)`
}

/** Dependencies between columns. A dependency of a whole dataset (output null) ends a downstream walk. */
function columnWalk(directions: string): string {
  const columns = `jsonb_array_elements(coalesce((e.properties::text::jsonb) -> 'columns', '[]')) c`
  const forward = `r.way = 1 and e.start_id = r.node and c ->> 'input' = r.name`
  const back = `r.way = -1 and e.end_id = r.node and (c ->> 'output' = r.name or c ->> 'output' is null)`
  return `reached (node, name, hops, way) as (
      select s.node, $7::text, 0, d.way from start s, (values ${directions}) d (way)
      union
      select step.node, one.name, r.hops + 1, r.way from reached r, lateral (
        select e.end_id, c ->> 'output' from "LINEAGE_OF" e, ${columns} where ${forward}
        union all
        select e.start_id, c ->> 'input' from "LINEAGE_OF" e, ${columns} where ${back}) one (node, name),
        lateral ${namesOf('one.node')} step
      where r.hops < $2::int and r.name is not null and ${isSeen('step.node')}),
    nearest as (select node, name, way, min(hops) as hops from reached group by node, name, way),
    found as (
      select 'LINEAGE_OF' as label, min(r.hops) + 1 as hops, e.id, e.start_id, e.end_id,
        md5(e.c::text) as columns_key,
        e.c ->> 'input' as input, e.c ->> 'output' as output, null::int as column_count, null::jsonb as columns,
        e.c -> 'transformations' as transformations
      from nearest r, lateral (
        select e.id, e.start_id, e.end_id, c from "LINEAGE_OF" e, ${columns} where ${forward}
        union all
        select e.id, e.start_id, e.end_id, c from "LINEAGE_OF" e, ${columns} where ${back}) e
      where r.hops < $2::int and ${isSeen('e.start_id')} and ${isSeen('e.end_id')}
      group by e.id, e.start_id, e.end_id, e.c)`
}

function toEdge(row: Row): LineageEdge {
  const label = row.label ?? 'LINEAGE_OF'
  if (label === 'PARENT_OF') return { label, hops: row.hops, from: toJob(row.source), to: toJob(row.target) }
  const from = toDataset(row.source, row.source_key, row.input)
  const base = { label, hops: row.hops, from }
  if (label === 'PRODUCED_BY') return { ...base, to: toJob(row.target) }
  if (label === 'STORED_AS') return { ...base, to: { kind: 'table', ...tableOf(row.target) } }
  const edge = { ...base, to: toDataset(row.target, row.target_key, row.output) }
  if (row.transformations !== null) return { ...edge, transformations: row.transformations }
  return { ...edge, columnCount: row.column_count ?? 0, columns: row.columns ?? [] }
}

function toDataset(text: string, tableKey: string | null, column: string | null): LineageNode {
  const named = { ...nameOf(text), ...(tableKey !== null && { tableKey }) }
  return column === null ? { kind: 'dataset', ...named } : { kind: 'column', ...named, column }
}

function toJob(text: string): LineageNode {
  return { kind: 'job', ...nameOf(text) }
}

function nameOf(text: string): LineageName {
  const { namespace, name } = parseAgtype(text) as LineageName & Record<string, unknown>
  return { namespace, name }
}

function tableOf(text: string): TableRef {
  const { namespace, name } = parseAgtype(text) as { namespace: readonly string[]; name: string }
  return { namespace, name }
}

function position(after: string | undefined): readonly [number, string, string] {
  if (after === undefined) return [-1, '0', '']
  const match = /^(\d)\.(\d{1,18})\.([0-9a-f]{32})?$/.exec(after)
  if (match?.[1] === undefined || match[2] === undefined)
    throw new Fault('bad_request', 'The page token is not valid.')
  return [Number(match[1]), match[2], match[3] ?? '']
}
