/**
 * Loads the lineage around one node: edges within a number of hops, nearest first, in pages. A walk keeps its
 * direction, upstream or downstream, so a sibling of the start is in neither.
 */

import { Fault } from '../../base/fault.ts'
import type { ColumnDependency, LineageEventType, LineageName } from '../../core/lineage.ts'
import { type TableRef, tableKey } from '../../core/table-ref.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import { nodeId } from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import { parseAgtype } from '../graph/graph.ts'
import type { Store } from '../store.ts'
import { datasetId, jobId } from './events.ts'
import { edgesAt, present, walkText } from './walk-text.ts'

/** What a dataset is a name of, where that is known: see `lineage_name.table_key`. */
interface NamedTable {
  readonly tableKey?: string
}

export type LineageNode =
  | ({ readonly kind: 'dataset' } & LineageName & NamedTable)
  | ({ readonly kind: 'job'; readonly state?: LineageEventType } & LineageName)
  | ({ readonly kind: 'column'; readonly column: string } & LineageName & NamedTable)
  | ({ readonly kind: 'table' } & TableRef)

/** Where a walk begins: also at a column of a governed table, and at what a contract governs. */
export type LineageStart =
  | LineageNode
  | ({ readonly kind: 'table-column'; readonly column: string } & TableRef)
  | { readonly kind: 'contract'; readonly id: string }

export const lineageDirections = ['upstream', 'downstream', 'both'] as const
export type LineageDirection = (typeof lineageDirections)[number]

export const lineageEdgeLabels = [
  'LINEAGE_OF',
  'PRODUCED_BY',
  'CONSUMED_BY',
  'STORED_AS',
  'PARENT_OF',
] as const
type LineageEdgeLabel = (typeof lineageEdgeLabels)[number]

/** Which run said an edge last. */
interface EdgeEvidence {
  readonly producer: string
  readonly runId: string
  /** Undefined for a job event. */
  readonly state: LineageEventType | undefined
  readonly at: Date
  /** Whether that is longer ago than is set for its jobs. */
  readonly stale: boolean
}

export interface LineageEdge {
  readonly label: LineageEdgeLabel
  /** Data flows from here, for LINEAGE_OF. The parent, for PARENT_OF. */
  readonly from: LineageNode
  readonly to: LineageNode
  /** LINEAGE_OF edges between the start and the farther end of this edge. */
  readonly hops: number
  /** Number of column dependencies of a LINEAGE_OF edge between datasets. `columns` holds the first of them. */
  readonly columnCount?: number
  /** Absent for edges of earlier versions, and of runs without a job. */
  readonly evidence?: EdgeEvidence
  /** Of PRODUCED_BY: whether the job also reads what it writes. */
  readonly inPlace?: boolean
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
  /** The edges that there were at this time, by the times of events. Default: those that there are. */
  readonly asOf?: Date | undefined
  readonly signal?: AbortSignal
}

/** What is asked of the lineage around each of several tables. */
export interface TablesAround extends Pick<LineageQuery, 'direction' | 'asOf'> {
  readonly depth: number
  readonly limit: number
}

/** A page of edges, and how many the walk found in all. */
export type LineagePage = Page<LineageEdge> & { readonly total: number }

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
  readonly in_place: boolean | null
  readonly evidence: EvidenceRow | null
  readonly source_state: LineageEventType | null
  readonly target_state: LineageEventType | null
}

interface EvidenceRow {
  readonly producer: string
  readonly run_id: string
  readonly state: LineageEventType | null
  readonly said_at_ms: number
  readonly stale: boolean
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
  const { start, direction, depth = limits.graphHopsDefault, readableOnly = false, asOf, signal } = query
  if (!Number.isInteger(depth) || depth < 1 || depth > limits.graphHopsMax)
    throw new Fault('bad_request', `depth must be a whole number from 1 to ${limits.graphHopsMax}.`)
  const limit = pageLimit(query)
  const [afterHops, afterEdge, afterColumns] = position(query.after)
  const directions = directionRows(direction)
  const column = start.kind === 'column' || start.kind === 'table-column' ? start.column : undefined
  const params = [startId(start), depth, afterHops, afterEdge, afterColumns, limit + 1]
  const more = [
    ...(column === undefined ? [] : [column]),
    ...(asOf === undefined ? [] : [asOf.toISOString()]),
  ]
  const edges = asOf === undefined ? present : edgesAt(`$${params.length + more.length}::text::timestamptz`)
  const rows = await store.tenantQuery<Row>(
    tenant,
    walkText({ kind: start.kind, directions, readableOnly, edges }),
    [...params, ...more],
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
  { direction, depth, limit, asOf }: TablesAround,
): Promise<readonly LineagePage[]> {
  if (!Number.isInteger(depth) || depth < 1 || depth > limits.graphHopsMax)
    throw new Fault('bad_request', `depth must be a whole number from 1 to ${limits.graphHopsMax}.`)
  const [afterHops, afterEdge, afterColumns] = position(undefined)
  const ids = tables.map((table) => startId({ kind: 'table', ...table }))
  const around = walkText({
    ...{ kind: 'table', directions: directionRows(direction), readableOnly: true },
    edges: asOf === undefined ? present : edgesAt('$7::text::timestamptz'),
  }).replaceAll('$1::text', 's.table_id')
  const rows = await store.tenantQuery<Row & { readonly table_id: string }>(
    tenant,
    `select s.table_id, x.* from (select distinct jsonb_array_elements_text($1::text::jsonb) as table_id) s,
       lateral (${around}) x order by s.table_id, x.place`,
    [
      ...[JSON.stringify(ids), depth, afterHops, afterEdge, afterColumns, pageLimit({ limit }) + 1],
      ...(asOf === undefined ? [] : [asOf.toISOString()]),
    ],
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

/** The id by which the graph knows a start. */
export function startId(start: LineageStart): string {
  if (start.kind === 'contract') return nodeId(start.id)
  if (start.kind === 'table' || start.kind === 'table-column') return nodeId(tableKey(start))
  return start.kind === 'job' ? jobId(start) : datasetId(start)
}

function toEdge(row: Row): LineageEdge {
  const label = row.label ?? 'LINEAGE_OF'
  if (label === 'PARENT_OF')
    return {
      ...{ label, hops: row.hops },
      from: toJob(row.source, row.source_state),
      to: toJob(row.target, row.target_state),
    }
  const from = toDataset(row.source, row.source_key, row.input)
  const base = {
    ...{ label, hops: row.hops, from },
    ...(row.evidence !== null && { evidence: toEvidence(row.evidence) }),
    ...(row.in_place === true && { inPlace: true }),
  }
  if (label === 'PRODUCED_BY' || label === 'CONSUMED_BY')
    return { ...base, to: toJob(row.target, row.target_state) }
  if (label === 'STORED_AS') return { ...base, to: { kind: 'table', ...tableOf(row.target) } }
  const edge = { ...base, to: toDataset(row.target, row.target_key, row.output) }
  if (row.transformations !== null) return { ...edge, transformations: row.transformations }
  return { ...edge, columnCount: row.column_count ?? 0, columns: row.columns ?? [] }
}

function toEvidence({ producer, run_id: runId, state, said_at_ms, stale }: EvidenceRow): EdgeEvidence {
  return { producer, runId, state: state ?? undefined, at: new Date(Number(said_at_ms)), stale }
}

function toDataset(text: string, tableKey: string | null, column: string | null): LineageNode {
  const named = { ...nameOf(text), ...(tableKey !== null && { tableKey }) }
  return column === null ? { kind: 'dataset', ...named } : { kind: 'column', ...named, column }
}

function toJob(text: string, state: LineageEventType | null): LineageNode {
  return { kind: 'job', ...nameOf(text), ...(state !== null && { state }) }
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
