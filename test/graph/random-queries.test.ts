/** Random queries on random graphs give what trying everything gives, with a foreign tenant's graph in the same store. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { type GraphAnswer, runGraphQuery } from '../../src/graph/run-query.ts'
import type { Audience } from '../../src/graph/schema.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { parseGraphQuery } from '../../src/wire/cypher/parse.ts'
import { generator } from '../support/generator.ts'
import { roundsOf } from '../support/long-form.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { answerOf, evaluate } from './brute-force.ts'
import { Dice, randomGraph, removeGraph, writeGraph } from './random-graph.ts'
import { type RandomQuery, randomQuery } from './random-query.ts'

setDefaultTimeout(600_000)

const seed = Number(process.env.SVC_TEST_SEED ?? 1123)
let store: TestStore
let home: TenantId
beforeAll(async () => {
  store = await openTestStore()
  home = (await createTenant(store, { name: 'home' })).id
  const foreign = (await createTenant(store, { name: 'foreign' })).id
  for (let index = 0; index < 3; index++)
    await writeGraph(store, foreign, randomGraph(new Dice(generator(index)), `foreign ${index}`))
})
afterAll(() => store[Symbol.asyncDispose]())

/** Rows as texts, sorted unless the query orders them; what is collected is in no order. */
function comparable(rows: readonly (readonly unknown[])[], isOrdered: boolean): readonly string[] {
  const written = rows.map((row) =>
    JSON.stringify(
      row.map((value) =>
        Array.isArray(value) ? value.map((one) => canonical(one)).sort() : canonical(value),
      ),
    ),
  )
  return isOrdered ? written : written.toSorted()
}

/** JSON with members in one order, and sums to twelve digits, because they are added in different orders. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) => {
    if (typeof inner === 'number') return Number(inner.toPrecision(12))
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

async function run(
  { text: query, parameters }: RandomQuery,
  as: Audience,
): Promise<GraphAnswer | 'exceeded'> {
  const principal = { sub: 'rita', roles: as === 'steward' ? ['steward'] : [] }
  try {
    return await runGraphQuery(store, home, { query, parameters, limit: 10_000 }, principal)
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === 'unprocessable') return 'exceeded'
    throw new Error(`seed ${seed}: ${query} ${JSON.stringify(parameters)}`, { cause: thrown })
  }
}

test(`1,000 random queries on random graphs equal a brute-force evaluation (seed ${seed})`, async () => {
  const dice = new Dice(generator(seed))
  const rounds = roundsOf(1_000)
  const seen = { exceeded: 0, empty: 0, rows: 0 }
  for (let round = 0; round < rounds; round++) {
    const graph = randomGraph(dice, `g${round}`)
    await writeGraph(store, home, graph)
    const as = dice.pick(['reader', 'steward'] as const)
    const query = randomQuery(dice, as)
    const answer = await run(query, as)
    if (answer === 'exceeded') seen.exceeded++
    else {
      const expected = evaluate(parseGraphQuery(query.text), { graph, as, parameters: query.parameters })
      const wanted = expected.map((row) => row.map((value) => answerOf(value, as)))
      const about = `seed ${seed}, round ${round}, ${as}: ${query.text} ${JSON.stringify(query.parameters)}`
      const isOrdered = query.text.includes(' ORDER BY ')
      expect({ about, rows: comparable(answer.rows, isOrdered) }).toEqual({
        about,
        rows: comparable(wanted, isOrdered),
      })
      seen.rows += answer.rows.length
      if (answer.rows.length === 0) seen.empty++
    }
    await removeGraph(store, home)
  }
  // What is compared must be worth it: few refusals, and rows in many answers.
  expect(seen.exceeded).toBeLessThan(rounds / 20)
  expect(seen.empty).toBeLessThan(rounds * 0.75)
})
