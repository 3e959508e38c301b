/** A plain model of the cycle check, with which tests compare the store. */

export type Edge = readonly [from: number, to: number]

/** The nodes that edges lead to from one of `sources`, with how many it takes; the sources themselves with 0. */
export function reach(edges: readonly Edge[], sources: readonly number[]): ReadonlyMap<number, number> {
  const hops = new Map(sources.map((node) => [node, 0]))
  for (const [node, at] of hops)
    for (const [from, to] of edges) if (from === node && !hops.has(to)) hops.set(to, at + 1)
  return hops
}

/** How many edges the shortest way from one to another takes; infinite where there is none. */
export function distance(edges: readonly Edge[], from: number, to: number): number {
  return reach(edges, [from]).get(to) ?? Number.POSITIVE_INFINITY
}

/** How many edges the shortest cycle has; infinite where there is none. */
export function shortestCycle(edges: readonly Edge[]): number {
  return Math.min(...edges.map(([from, to]) => 1 + distance(edges, to, from)), Number.POSITIVE_INFINITY)
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
