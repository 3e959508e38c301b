/** Finds the shortest paths along which data flows from one lineage node to another, past readable datasets only. */

import { tableKey } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { nodeId } from '../store/database/names.ts'
import {
  type LineageEdge,
  type LineageNode,
  type LineageStart,
  lineageAround,
} from '../store/lineage/graph.ts'
import type { Store } from '../store/store.ts'
import { nodeName } from './node-name.ts'

/** Edges that are looked at, and paths that are given. */
const edgesMax = 5_000
const pageMax = 1_000
const pathsMax = 10

interface LineagePaths {
  /** Each from the first node to the last, in the direction of the data. */
  readonly paths: readonly (readonly LineageNode[])[]
  /** Whether there are more shortest paths, or more edges than were looked at. */
  readonly truncated: boolean
}

/**
 * Finds the paths.
 * @returns undefined where there is no such start that may be seen
 * @throws Fault `bad_request` for a bad depth
 */
export async function findPaths(
  store: Store,
  tenant: TenantId,
  {
    from,
    to,
    depth,
    signal,
  }: { from: LineageStart; to: LineageStart; depth?: number | undefined; signal: AbortSignal },
): Promise<LineagePaths | undefined> {
  const edges: LineageEdge[] = []
  let after: string | undefined
  do {
    const page = await lineageAround(store, tenant, {
      ...{ start: from, direction: 'downstream', depth, readableOnly: true, limit: pageMax, signal },
      ...(after !== undefined && { after }),
    })
    if (page === undefined) return undefined
    edges.push(...page.items)
    after = page.next
  } while (after !== undefined && edges.length < edgesMax)
  const { paths, truncated } = shortestPaths(edges, from, to)
  return { paths, truncated: truncated || after !== undefined }
}

/**
 * The shortest paths in a list of edges, at most ten.
 * @param edges LINEAGE_OF edges are followed as data flows; all names of one table are one node
 */
export function shortestPaths(
  edges: readonly LineageEdge[],
  from: LineageStart,
  to: LineageStart,
): LineagePaths {
  const nodes = new Map<string, LineageNode>()
  const next = new Map<string, Set<string>>()
  for (const { label, from: source, to: target } of edges) {
    for (const node of [source, target]) if (!nodes.has(identityOf(node))) nodes.set(identityOf(node), node)
    if (label === 'LINEAGE_OF') follow(next, identityOf(source), identityOf(target))
  }
  const starts = sameAs(edges, from)
  const ends = new Set(sameAs(edges, to))
  let level: (readonly string[])[] = starts.map((name) => [name])
  const seen = new Set(starts)
  while (level.length > 0) {
    const arrived = level.filter((path) => ends.has(path.at(-1) ?? '') && path.length > 1)
    if (arrived.length > 0) {
      const shown = arrived.slice(0, pathsMax)
      const whole = shown.map((path) => path.flatMap((name) => nodes.get(name) ?? []))
      return { paths: whole, truncated: arrived.length > pathsMax }
    }
    const reached = level.flatMap((path) =>
      [...(next.get(path.at(-1) ?? '') ?? [])]
        .filter((name) => !seen.has(name))
        .map((name) => [...path, name]),
    )
    for (const path of reached) seen.add(path.at(-1) ?? '')
    level = reached.slice(0, edgesMax)
  }
  return { paths: [], truncated: false }
}

function follow(next: Map<string, Set<string>>, source: string, target: string): void {
  const targets = next.get(source) ?? new Set()
  targets.add(target)
  next.set(source, targets)
}

/** Equal for all names of one table, and for its columns of one name. */
function identityOf(node: LineageStart): string {
  if (node.kind === 'table-column') return `${nodeId(tableKey(node))}\n${node.column}`
  if ((node.kind !== 'dataset' && node.kind !== 'column') || node.tableKey === undefined)
    return nodeName(node)
  return node.kind === 'column' ? `${node.tableKey}\n${node.column}` : node.tableKey
}

/** What a node stands for: datasets for a table, else itself. */
function sameAs(edges: readonly LineageEdge[], node: LineageStart): readonly string[] {
  const name = nodeName(node)
  if (node.kind === 'table') {
    const stored = edges.filter(({ label, to }) => label === 'STORED_AS' && nodeName(to) === name)
    return [...new Set([nodeId(tableKey(node)), ...stored.map(({ from }) => identityOf(from))])]
  }
  // The edges say of which table a dataset is a name.
  const found = edges.flatMap(({ from, to }) => [from, to]).find((one) => nodeName(one) === name)
  return [identityOf(found ?? node)]
}
