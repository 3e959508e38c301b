/** Random graphs against the model: what is accepted closes no short cycle, what is refused closes one. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { receiveLineage } from '../../src/store/lineage.ts'
import { createTenant } from '../../src/store/tenants.ts'
import { receivedEvent } from '../support/lineage.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { type Edge, reach, seededRandom, shortestCycle } from './model.ts'

let store: TestStore
let foreign: TenantId
beforeAll(async () => {
  store = await openTestStore()
  foreign = (await createTenant(store, { name: 'foreign' })).id
  // Every way back, in a graph that must not matter.
  const numbers = Array.from({ length: 16 }, (_, i) => String(i))
  const back = numbers.slice(1).map((name, i) => receivedEvent({ inputs: [name], outputs: [String(i)] }))
  await receiveLineage(store, foreign, back, true)
})
afterAll(() => store[Symbol.asyncDispose]())

const shapes = [
  // Chains of which some are longer than the check can see.
  { name: 'sparse', nodes: 12, inputs: 1, outputs: 1, step: 2 },
  { name: 'dense', nodes: 8, inputs: 2, outputs: 2, step: 8 },
]
const cases = shapes.flatMap((shape) => [1, 2, 3].map((seed) => ({ ...shape, seed })))

test.each(cases)('%p', async ({ nodes, inputs, outputs, step, seed, name }) => {
  const { id: tenant } = await createTenant(store, { name: `${name} ${seed}` })
  const random = seededRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const some = (count: number, of: () => number) => [...new Set(Array.from({ length: 1 + below(count) }, of))]
  const events = Array.from({ length: 60 }, () => {
    const from = some(inputs, () => below(nodes))
    return { from, to: some(outputs, () => ((from[0] as number) + 1 + below(step)) % nodes) }
  })

  const accepted: Edge[] = []
  let refused = 0
  // In batches of any size: an event is checked against those before it in its own batch, too.
  for (let at = 0; at < events.length; ) {
    const batch = events.slice(at, at + 1 + below(12))
    at += batch.length
    const received = batch.map(({ from, to }) =>
      receivedEvent({ inputs: from.map(String), outputs: to.map(String) }),
    )
    const outcomes = await receiveLineage(store, tenant, received, true)
    batch.forEach(({ from, to }, index) => {
      const back = reach(accepted, to)
      const hops = Math.min(...from.map((node) => back.get(node) ?? Number.POSITIVE_INFINITY))
      expect({ seed, at, index, kind: outcomes[index]?.kind }).toEqual({
        seed,
        at,
        index,
        kind: hops <= 5 ? 'refused' : 'merged',
      })
      if (hops <= 5) refused++
      else accepted.push(...from.flatMap((a) => to.map((b) => [a, b] as const)))
    })
  }
  expect(shortestCycle(accepted)).toBeGreaterThan(6)
  expect(refused).toBeGreaterThan(5)
  expect(refused).toBeLessThan(55)
  const [row] = await store.tenantQuery<{ n: string }>(tenant, 'select count(*) as n from "LINEAGE_OF"')
  expect(Number(row?.n)).toBe(new Set(accepted.map(String)).size)
})
