/** Finds the shortest paths along which data flows from one lineage node to another, past readable datasets only. */

import type { TenantId } from '../core/tenant.ts'
import { type LineageEdge, type LineageNode, lineageAround } from '../store/lineage/graph.ts'
import type { Store } from '../store/store.ts'
import { nodeName } from './node-name.ts'

/** Edges that are looked at, and paths that are given. */
const edgesMax = 5_000
const pageMax = 1_000
const pathsMax = 10

export interface LineagePaths {
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
  }: { from: LineageNode; to: LineageNode; depth?: number | undefined; signal: AbortSignal },
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
 * @param edges LINEAGE_OF edges are followed as data flows; a table stands for every dataset that is stored as it
 */
export function shortestPaths(
  edges: readonly LineageEdge[],
  from: LineageNode,
  to: LineageNode,
): LineagePaths {
  const nodes = new Map<string, LineageNode>()
  const next = new Map<string, Set<string>>()
  for (const { label, from: source, to: target } of edges) {
    for (const node of [source, target]) nodes.set(nodeName(node), node)
    if (label === 'LINEAGE_OF') follow(next, nodeName(source), nodeName(target))
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

/** The names of the datasets that a node stands for. */
function sameAs(edges: readonly LineageEdge[], node: LineageNode): readonly string[] {
  const name = nodeName(node)
  if (node.kind !== 'table') return [name]
  const stored = edges.filter(({ label, to }) => label === 'STORED_AS' && nodeName(to) === name)
  return [...new Set(stored.map(({ from }) => nodeName(from)))]
}
