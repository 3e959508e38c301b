/** Shows the lineage around a node in the form of the API. */

import { Fault } from '../base/fault.ts'
import type { TenantId } from '../core/tenant.ts'
import { pageView } from '../http/page-view.ts'
import {
  type LineageEdge,
  type LineageNode,
  type LineageQuery,
  lineageAround,
} from '../store/lineage/graph.ts'
import type { Store } from '../store/store.ts'
import { nodeName, parseNodeName } from './node-name.ts'

/** Reads one page of edges, nearest first, and the nodes that they join. Throws `bad_request` or `not_found`. */
export async function walkLineage(
  store: Store,
  tenant: TenantId,
  { node, ...query }: Omit<LineageQuery, 'start'> & { readonly node: string },
) {
  const start = parseNodeName(node)
  const page = await lineageAround(store, tenant, { ...query, start })
  if (page === undefined) throw new Fault('not_found', 'The lineage graph has no such node.')
  const nodes = new Map<string, LineageNode>([[nodeName(start), start]])
  for (const { from, to } of page.items) for (const one of [from, to]) nodes.set(nodeName(one), one)
  return {
    node: nodeName(start),
    nodes: [...nodes].map(([name, one]) => nodeView(name, one)),
    ...pageView(page, edgeView),
  }
}

function nodeView(node: string, one: LineageNode) {
  const { kind, name } = one
  if (one.kind === 'table') return { node, kind, table: { namespace: one.namespace, name } }
  return { node, kind, namespace: one.namespace, name, ...(one.kind === 'column' && { column: one.column }) }
}

function edgeView({ label, from, to, hops, columnCount, columns, transformations }: LineageEdge) {
  return {
    label,
    from: nodeName(from),
    to: nodeName(to),
    hops,
    column_count: columnCount,
    columns,
    transformations,
  }
}
