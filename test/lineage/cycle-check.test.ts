/** Random graphs against the model: accepted edges close no short cycle, refused edges close one. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { receiveLineage } from '../../src/store/lineage/events.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { lake, receivedEvent } from '../support/lineage.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { type Edge, reach, seededRandom, shortestCycle } from './model.ts'

const shapes = [
  // Chains of which some are longer than the check can see.
  { name: 'sparse', nodes: 9, inputs: 1, outputs: 1, step: 2, names: 1 },
  { name: 'dense', nodes: 8, inputs: 2, outputs: 2, step: 8, names: 1 },
  // Every table has two names, of which an event uses either.
  { name: 'named', nodes: 9, inputs: 2, outputs: 1, step: 4, names: 2 },
]
const cases = shapes.flatMap((shape) => [1, 2].map((seed) => ({ ...shape, seed })))

let store: TestStore
let tenant: TenantId
beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'home' })).id
  const { id: foreign } = await createTenant(store, { name: 'foreign' })
  // Every way back, in a graph that must not matter.
  const back = cases.flatMap(({ name, seed, nodes }) =>
    Array.from({ length: nodes - 1 }, (_, i) =>
      receivedEvent({ inputs: [`${name}.${seed}.${i + 1}`], outputs: [`${name}.${seed}.${i}`] }),
    ),
  )
  await receiveLineage(store, foreign, back, true)
}, 300_000)
afterAll(() => store[Symbol.asyncDispose]())

test.each(cases)('%p', async ({ nodes, inputs, outputs, step, seed, name, names }) => {
  const random = seededRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const hive = 'hive://metastore:9083'
  const located = (node: string) => ({
    ...{ namespace: lake, name: node },
    facets: { symlinks: { identifiers: [{ namespace: hive, name: node }] } },
  })
  const named = (nodes: readonly number[]) =>
    nodes.map((node) => {
      const text = `${name}.${seed}.${node}`
      return names === 2 && below(2) === 0 ? { namespace: hive, name: text } : text
    })
  if (names === 2) {
    const all = Array.from({ length: nodes }, (_, node) => located(`${name}.${seed}.${node}`))
    await receiveLineage(store, tenant, [receivedEvent({ outputs: all })], true)
  }
  const some = (count: number, of: () => number) => [...new Set(Array.from({ length: 1 + below(count) }, of))]
  const events = Array.from({ length: 50 }, () => {
    const from = some(inputs, () => below(nodes))
    return { from, to: some(outputs, () => ((from[0] as number) + 1 + below(step)) % nodes) }
  })

  const accepted: Edge[] = []
  let refused = 0
  // In batches of any size: an event is checked against those before it in its own batch, too.
  for (let at = 0; at < events.length; ) {
    const batch = events.slice(at, at + 1 + below(20))
    at += batch.length
    const received = batch.map(({ from, to }) => receivedEvent({ inputs: named(from), outputs: named(to) }))
    const outcomes = await receiveLineage(store, tenant, received, true)
    batch.forEach(({ from, to }, index) => {
      const known = new Set(accepted.map(String))
      let closing = 0
      for (const output of to) {
        const back = reach(accepted, [output])
        const wanted = from.filter((input) => input !== output && !known.has(String([input, output])))
        const closes = wanted.filter((input) => (back.get(input) ?? Number.POSITIVE_INFINITY) <= 5)
        closing += closes.length
        accepted.push(
          ...wanted.filter((input) => !closes.includes(input)).map((input) => [input, output] as const),
        )
      }
      const outcome = outcomes[index]
      expect({ seed, at, index, refused: outcome?.kind === 'refused' ? outcome.count : 0 }).toEqual({
        seed,
        at,
        index,
        refused: closing,
      })
      refused += closing
    })
  }
  expect(shortestCycle(accepted)).toBeGreaterThan(6)
  expect(refused).toBeGreaterThan(0)
  // An edge between two tables may have been drawn under several of their names.
  if (names === 2) return
  const [row] = await store.tenantQuery<{ n: string }>(
    tenant,
    `select count(*) as n from "LINEAGE_OF" e join "Dataset" d on d.id = e.start_id
     where starts_with(d.properties::text::jsonb ->> 'name', $1)`,
    [`${name}.${seed}.`],
  )
  expect(Number(row?.n)).toBe(new Set(accepted.map(String)).size)
})
