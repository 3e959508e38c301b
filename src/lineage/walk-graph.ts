/** Shows the lineage around a node in the form of the API. */

import { Fault } from '../base/fault.ts'
import type { ColumnDependency } from '../core/lineage.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import {
  type LineageEdge,
  type LineageNode,
  type LineagePage,
  type LineageQuery,
  type LineageStart,
  lineageAround,
} from '../store/lineage/graph.ts'
import type { Store } from '../store/store.ts'
import { nodeName, possibleStarts } from './node-name.ts'

/**
 * Reads one page of edges, nearest first, and the nodes that they join.
 * @param withText whether what transformations say of themselves is shown, which may hold SQL
 * @throws Fault `bad_request`, `not_found`
 */
export async function walkLineage(
  store: Store,
  tenant: TenantId,
  { node, ...query }: Omit<LineageQuery, 'start'> & { readonly node: string },
  withText: boolean,
) {
  const { start, page } = await firstFound(store, tenant, possibleStarts(node), query)
  const nodes = new Map<string, LineageNode>()
  for (const { from, to } of page.items) for (const one of [from, to]) nodes.set(nodeName(one), one)
  const name = nodeName(start)
  return {
    node: name,
    nodes: [
      ...(nodes.has(name) ? [] : [startView(name, start)]),
      ...[...nodes].map(([each, one]) => nodeView(each, one)),
    ],
    ...pageView(page, (edge) => edgeView(edge, withText)),
  }
}

/** The walk from the first of these nodes that exists. @throws Fault `not_found` */
async function firstFound(
  store: Store,
  tenant: TenantId,
  starts: readonly LineageStart[],
  query: Omit<LineageQuery, 'start'>,
): Promise<{ readonly start: LineageStart; readonly page: LineagePage }> {
  for (const start of starts) {
    const page = await lineageAround(store, tenant, { ...query, start })
    if (page !== undefined) return { start, page }
  }
  throw new Fault('not_found', 'The lineage graph has no such node.')
}

function startView(node: string, start: LineageStart) {
  if (start.kind === 'contract') return { node, kind: start.kind, name: start.id }
  if (start.kind !== 'table-column') return nodeView(node, start)
  const { namespace, name, column } = start
  return { node, kind: 'column' as const, name, column, table: { namespace, name } }
}

function nodeView(node: string, one: LineageNode) {
  const { kind, name } = one
  if (one.kind === 'table') return { node, kind, table: { namespace: one.namespace, name } }
  const named = { node, kind, namespace: one.namespace, name }
  if (one.kind === 'job') return { ...named, ...(one.state !== undefined && { state: one.state }) }
  return { ...named, ...(one.kind === 'column' && { column: one.column }), ...tableView(one.tableKey) }
}

/** The table of which a dataset is a name, or the dataset whose name a symlink gives it. */
export function tableView(key: string | undefined) {
  // A long key is a hash, which names nothing.
  if (key === undefined || /^(?:dataset:)?sha256:/.test(key)) return {}
  if (key.startsWith('dataset:')) {
    const [namespace = '', name = ''] = key.slice('dataset:'.length).split('\u001f')
    return { same_as: nodeName({ kind: 'dataset', namespace, name }) }
  }
  const levels = key.split('\u001f')
  return { table: { namespace: levels.slice(0, -1), name: levels.at(-1) ?? '' } }
}

function edgeView(
  { label, from, to, hops, columnCount, columns, transformations, evidence, inPlace }: LineageEdge,
  withText: boolean,
) {
  const shown = (all: ColumnDependency['transformations']) =>
    withText ? all : all.map(({ description: _, ...named }) => named)
  return {
    label,
    from: nodeName(from),
    to: nodeName(to),
    hops,
    ...(inPlace === true && { in_place: true }),
    ...(evidence && {
      last_run: {
        ...{ producer: evidence.producer, run_id: evidence.runId, at: evidence.at },
        ...(evidence.state !== undefined && { state: evidence.state }),
      },
      ...(evidence.stale && { stale: true }),
    }),
    column_count: columnCount,
    columns: columns?.map((one) => ({ ...one, transformations: shown(one.transformations) })),
    transformations: transformations && shown(transformations),
  }
}
