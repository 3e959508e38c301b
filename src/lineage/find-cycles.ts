/**
 * Finds cycles of any length in a directed graph: its strongly connected components (Tarjan), each with a shortest
 * cycle through one of its nodes. It is linear in the graph, and runs in slices because the sweep shares its thread
 * with requests.
 */

interface DirectedGraph {
  /** For node i, the nodes to which its edges lead. */
  readonly next: readonly (readonly number[])[]
}

/** Steps between two yields to the event loop: well under a millisecond of work. */
const stepsPerSlice = 5_000

/**
 * Finds one cycle in every strongly connected component.
 * @param pause awaited between slices; throwing ends the search
 * @returns each cycle as its nodes in order; the edge from the last to the first closes it
 */
export async function findCycles(
  graph: DirectedGraph,
  pause: () => Promise<void>,
): Promise<readonly (readonly number[])[]> {
  const cycles: (readonly number[])[] = []
  for (const component of await components(graph, pause)) {
    const cycle = shortestCycle(graph, component)
    if (cycle !== undefined) cycles.push(cycle)
    await pause()
  }
  return cycles
}

/** Finds all components, also those of a single node. It is iterative: recursion would overflow on a long chain. */
async function components(
  { next }: DirectedGraph,
  pause: () => Promise<void>,
): Promise<readonly (readonly number[])[]> {
  const found: number[][] = []
  const order = new Int32Array(next.length).fill(-1)
  const low = new Int32Array(next.length)
  const onStack = new Uint8Array(next.length)
  const edgeAt = new Int32Array(next.length)
  const stack: number[] = []
  let counter = 0
  let steps = 0
  for (let root = 0; root < next.length; root++) {
    if (order[root] !== -1) continue
    const path = [root]
    while (path.length > 0) {
      if (++steps % stepsPerSlice === 0) await pause()
      const node = path.at(-1) as number
      if (order[node] === -1) {
        order[node] = counter
        low[node] = counter++
        stack.push(node)
        onStack[node] = 1
      }
      const target = next[node]?.[edgeAt[node] as number]
      if (target !== undefined) {
        edgeAt[node] = (edgeAt[node] as number) + 1
        if (order[target] === -1) path.push(target)
        else if (onStack[target] === 1) low[node] = Math.min(low[node] as number, order[target] as number)
        continue
      }
      path.pop()
      const parent = path.at(-1)
      if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number)
      if (low[node] !== order[node]) continue
      const component = stack.splice(stack.lastIndexOf(node))
      for (const member of component) onStack[member] = 0
      if (component.length > 1 || next[node]?.includes(node)) found.push(component)
    }
  }
  return found
}

/** A shortest cycle through the component's smallest node, by breadth-first search within it. */
function shortestCycle({ next }: DirectedGraph, component: readonly number[]): readonly number[] | undefined {
  const members = new Set(component)
  const start = component.reduce((least, node) => Math.min(least, node))
  const cameFrom = new Map<number, number>()
  let frontier = [start]
  while (frontier.length > 0) {
    const further: number[] = []
    for (const node of frontier)
      for (const target of next[node] ?? []) {
        if (target === start) return pathTo(node, start, cameFrom)
        if (!members.has(target) || cameFrom.has(target)) continue
        cameFrom.set(target, node)
        further.push(target)
      }
    frontier = further
  }
  return undefined
}

function pathTo(end: number, start: number, cameFrom: ReadonlyMap<number, number>): readonly number[] {
  const path = [end]
  for (let node = end; node !== start; ) {
    node = cameFrom.get(node) ?? start
    path.push(node)
  }
  return path.reverse()
}
