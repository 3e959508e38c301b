/**
 * Writes and traverses the tenant's graph by SQL on its label tables. It never uses cypher(), because MERGE corrupts
 * edges in the embedded database and races on a server, and variable-length paths ignore row-level security.
 */

import { Fault } from '../../base/fault.ts'
import type { TenantId } from '../../core/tenant.ts'
import { limits } from '../../limits.ts'
import {
  type EdgeLabel,
  edgeLabels,
  storableJson,
  type VertexLabel,
  vertexLabels,
} from '../database/names.ts'
import { type Page, type PageRequest, pageLimit, toPage } from '../database/page.ts'
import type { Tx } from '../database/session.ts'
import type { Store } from '../store.ts'

/** Scalars, arrays and maps; bigints are stored as decimal strings. */
export type Properties = Readonly<Record<string, unknown>>

interface GraphNode {
  readonly label: VertexLabel
  readonly id: string
  readonly properties: Properties
}

interface ReachedNode extends GraphNode {
  /** Edges on the shortest path from the start. */
  readonly hops: number
}

export interface NodeRef {
  readonly label: VertexLabel
  readonly id: string
}

// The search path of the tenant transaction finds the label tables and the operators on agtype.
const idOf = (alias: string) => `agtype_access_operator(variadic array[${alias}.properties, '"id"'::agtype])`
const conflictTarget = `(agtype_access_operator(variadic array[properties, '"id"'::agtype]))`
const agtypeText = (param: string) => `to_jsonb(${param}::text)::text::agtype`

function vertexTable(label: VertexLabel): string {
  if (!vertexLabels.includes(label)) throw new Fault('bad_request', 'There is no such vertex label.')
  return `"${label}"`
}

function edgeTable(label: EdgeLabel): string {
  if (!edgeLabels.includes(label)) throw new Fault('bad_request', 'There is no such edge label.')
  return `"${label}"`
}

/** Adds a node, or sets these properties on the existing one and leaves its others. */
export async function upsertNode(tx: Tx, tenant: TenantId, node: GraphNode): Promise<void> {
  const table = vertexTable(node.label)
  await tx.query(
    `insert into ${table} as n (properties) values ($1::text::agtype)
     on conflict ${conflictTarget} do update set properties = n.properties || excluded.properties`,
    [storableJson({ ...node.properties, id: node.id, tenant_id: tenant })],
  )
}

/**
 * Adds an edge between nodes that exist, or sets these properties on the edge with this id.
 * @returns false where a node is missing, or where the edge with this id joins other nodes
 */
export async function upsertEdge(
  tx: Tx,
  tenant: TenantId,
  edge: {
    readonly label: EdgeLabel
    readonly id: string
    readonly from: NodeRef
    readonly to: NodeRef
    readonly properties?: Properties
  },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into ${edgeTable(edge.label)} as e (start_id, end_id, properties)
     select a.id, b.id, $3::text::agtype from ${vertexTable(edge.from.label)} a, ${vertexTable(edge.to.label)} b
     where ${idOf('a')} = ${agtypeText('$1')} and ${idOf('b')} = ${agtypeText('$2')}
     on conflict ${conflictTarget} do update set properties = e.properties || excluded.properties
       where e.start_id = excluded.start_id and e.end_id = excluded.end_id
     returning 1`,
    [edge.from.id, edge.to.id, storableJson({ ...edge.properties, id: edge.id, tenant_id: tenant })],
  )
  return rows.length === 1
}

/** Removes an edge. @returns whether there was one */
export async function deleteEdge(tx: Tx, label: EdgeLabel, id: string): Promise<boolean> {
  const rows = await tx.query(
    `delete from ${edgeTable(label)} e where ${idOf('e')} = ${agtypeText('$1')} returning 1`,
    [id],
  )
  return rows.length === 1
}

/** Removes a node after all its edges. @returns whether there was one */
export async function deleteNode(tx: Tx, { label, id }: NodeRef): Promise<boolean> {
  const table = vertexTable(label)
  await tx.query(`select svc.remove_edges(n.id) from ${table} n where ${idOf('n')} = ${agtypeText('$1')}`, [
    id,
  ])
  const rows = await tx.query(`delete from ${table} n where ${idOf('n')} = ${agtypeText('$1')} returning 1`, [
    id,
  ])
  return rows.length === 1
}

interface Traversal extends NodeRef, PageRequest {
  readonly direction: 'out' | 'in' | 'both'
  /** Labels of the edges to follow; default all. */
  readonly edgeLabels?: readonly EdgeLabel[]
  /** Default 3, at most 5 (docs/reference/limits.md 2.1). */
  readonly hops?: number
  readonly signal?: AbortSignal
}

/**
 * The nodes within `hops` edges of a node, nearest first, without the start itself.
 * @throws Fault `bad_request` for more hops than 5, unknown labels or a bad page token
 */
export async function traverse(
  store: Store,
  tenant: TenantId,
  traversal: Traversal,
): Promise<Page<ReachedNode>> {
  const { id, signal } = traversal
  const limit = pageLimit(traversal)
  const [afterHops, afterNode] = position(traversal.after)
  const rows = await store.tenantQuery<{
    readonly node: string
    readonly label: VertexLabel
    readonly properties: string
    readonly hops: number
  }>(tenant, traversalText(traversal), [id, afterHops, afterNode, limit + 1], {
    readOnly: true,
    ...(signal && { signal }),
  })
  const page = toPage(rows, limit, (row) => `${row.hops}.${row.node}`)
  const items = page.items.map((row) => {
    const properties = parseAgtype(row.properties) as Properties
    return { label: row.label, id: String(properties.id), properties, hops: row.hops }
  })
  return { ...page, items }
}

/**
 * The statement of a traversal: level by level, each without the nodes of those before. A level is not looked for once
 * those before it fill the page, and properties are read for the page alone.
 * @param traversal its parameters are $1 id of the start, $2 hops and $3 node after which the page begins, $4 its length
 */
export function traversalText({
  label,
  direction,
  edgeLabels: labels,
  hops = limits.graphHopsDefault,
}: Pick<Traversal, 'label' | 'direction' | 'edgeLabels' | 'hops'>): string {
  if (!Number.isInteger(hops) || hops < 1 || hops > limits.graphHopsMax)
    throw new Fault('bad_request', `A traversal takes 1 to ${limits.graphHopsMax} hops.`)
  const step = steps(labels, direction)
  const levels = Array.from({ length: hops }, (_, index) => index + 1)
  const before = (level: number) => Array.from({ length: level }, (_, index) => index)
  const level = (hop: number) => {
    const seen = before(hop).map((each) => `select node from level_${each}`)
    const full = before(hop)
      .slice(1)
      .map((each) => `(select count(*) from page_${each})`)
    const enough = full.length === 0 ? '' : `where ${full.join(' + ')} < $4::int`
    return `level_${hop} as materialized (
       select step.node from level_${hop - 1} r, lateral (${step}) step (node) ${enough}
       except (${seen.join(' union all ')})),
     page_${hop} as materialized (
       select node, ${hop} as hops from level_${hop}
       where ${hop} > $2::int or (${hop} = $2::int and node::text::int8 > $3::int8) order by node limit $4::int)`
  }
  return `with level_0 as materialized (
       select n.id as node from ${vertexTable(label)} n where ${idOf('n')} = ${agtypeText('$1')}),
     ${levels.map(level).join(',\n     ')},
     page as materialized (
       select node, hops from (${levels.map((hop) => `select node, hops from page_${hop}`).join(' union all ')}) p
       order by hops, node limit $4::int)
     select v.id::text as node, c.relname as label, v.properties, page.hops
     from page join "_ag_label_vertex" v on v.id = page.node join pg_class c on c.oid = v.tableoid
     order by page.hops, page.node`
}

/** A query of one column: the nodes one hop from r.node. */
function steps(labels: readonly EdgeLabel[] | undefined, direction: Traversal['direction']): string {
  if (labels?.length === 0) throw new Fault('bad_request', 'A traversal follows at least one edge label.')
  const tables = labels === undefined ? ['"_ag_label_edge"'] : [...new Set(labels)].map(edgeTable)
  return tables
    .flatMap((table) => [
      ...(direction === 'in' ? [] : [`select e.end_id from ${table} e where e.start_id = r.node`]),
      ...(direction === 'out' ? [] : [`select e.start_id from ${table} e where e.end_id = r.node`]),
    ])
    .join(' union all ')
}

function position(after: string | undefined): readonly [number, string] {
  if (after === undefined) return [0, '0']
  const match = /^([1-9])\.(\d{1,18})$/.exec(after)
  if (match?.[1] === undefined || match[2] === undefined)
    throw new Fault('bad_request', 'The page token is not valid.')
  return [Number(match[1]), match[2]]
}

const agtypeToken = /"(?:[^"\\]|\\.)*"|::[a-z]+|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Parses the text of an agtype. Integers beyond 2^53 become decimal strings, so that none is rounded. */
export function parseAgtype(text: string): unknown {
  const json = text.replace(agtypeToken, (token) => {
    if (token.startsWith('::')) return ''
    const exact = !/^-?\d+$/.test(token) || Number.isSafeInteger(Number(token))
    return exact ? token : `"${token}"`
  })
  return JSON.parse(json)
}
