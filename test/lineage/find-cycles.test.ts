import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findCycles } from '../../src/lineage/find-cycles.ts'

const never = async () => {}
const graphOf = (size: number, edges: readonly (readonly [number, number])[]) => {
  const next: number[][] = Array.from({ length: size }, () => [])
  for (const [from, to] of edges) next[from]?.push(to)
  return { next }
}

describe('findCycles', () => {
  test('finds nothing in a graph without cycles, and each cycle of disjoint ones', async () => {
    expect(
      await findCycles(
        graphOf(4, [
          [0, 1],
          [1, 2],
          [0, 2],
          [2, 3],
        ]),
        never,
      ),
    ).toEqual([])
    const two = graphOf(7, [
      [0, 1],
      [1, 2],
      [2, 0],
      [2, 3],
      [3, 4],
      [4, 3],
      [5, 5],
      [5, 6],
    ])
    const found = (await findCycles(two, never)).map((cycle) => [...cycle]).sort()
    expect(found).toEqual([[0, 1, 2], [3, 4], [5]])
  })

  test('goes through a chain far longer than a call stack, in slices', async () => {
    const size = 200_000
    let pauses = 0
    const chain = Array.from({ length: size }, (_, i) => [i, (i + 1) % size] as const)
    const [cycle] = await findCycles(graphOf(size, chain), async () => void pauses++)
    expect(cycle).toHaveLength(size)
    expect(pauses).toBeGreaterThan(10)
  })

  test('what it finds is a cycle of the graph, and where there is one it finds one', async () => {
    const edge = fc.tuple(fc.nat(9), fc.nat(9))
    await fc.assert(
      fc.asyncProperty(fc.array(edge, { maxLength: 25 }), async (edges) => {
        const graph = graphOf(10, edges)
        const cycles = await findCycles(graph, never)
        for (const cycle of cycles)
          cycle.forEach((node, index) => {
            expect(graph.next[node]).toContain(cycle[(index + 1) % cycle.length] as number)
          })
        expect(cycles.length > 0).toBe(hasCycle(graph.next))
      }),
      { seed: 20_260_301, numRuns: 300 },
    )
  })

  test('ends when its pause throws', async () => {
    const stop = async () => {
      throw new Error('stopped')
    }
    await expect(
      findCycles(
        graphOf(2, [
          [0, 1],
          [1, 0],
        ]),
        stop,
      ),
    ).rejects.toThrow('stopped')
  })
})

/** By taking away nodes without a way in until none is left. */
function hasCycle(next: readonly (readonly number[])[]): boolean {
  const left = new Set(next.keys())
  for (;;) {
    const free = [...left].filter((node) => ![...left].some((other) => next[other]?.includes(node)))
    if (free.length === 0) return left.size > 0
    for (const node of free) left.delete(node)
  }
}
