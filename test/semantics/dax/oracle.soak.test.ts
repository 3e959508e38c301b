/**
 * Compares random queries in DAX with requests for metrics, for an officer and for a reader of some rows, masked:
 * 10,000 of them in `test:soak`, some in `npm test`. On 2026-11-29 all 10,000 of the seed 51 passed, in an hour beside
 * other work. Those of Trino are in test/clients/trino-visuals.clients.ts.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { generator } from '../../support/generator.ts'
import type { Lake } from '../../support/lake.ts'
import { startCubeLake } from '../mdx/cube-lake.ts'
import { daxTable } from './dax-lake.ts'
import { randomVisual } from './random-visual.ts'
import { askingMetrics, comparable, rowsByRequests, withoutFlags } from './visual-oracle.ts'

setDefaultTimeout(7_200_000)

/** Of each reader. */
const rounds =
  process.env.SVC_TEST_SOAK_SECONDS === undefined ? 20 : Number(process.env.SVC_TEST_ROUNDS ?? 5_000)
const seed = Number(process.env.SVC_TEST_SEED ?? 51)

let lake: Lake
beforeAll(async () => {
  lake = await startCubeLake()
})
afterAll(() => lake[Symbol.asyncDispose]())

describe.each(['officer', 'reader'] as const)('visuals of the %s', (who) => {
  test('are what requests for metrics give', async () => {
    const ask = askingMetrics(lake, who)
    const random = generator(seed + (who === 'officer' ? 0 : 1))
    let rows = 0
    for (let round = 0; round < rounds; round++) {
      const visual = randomVisual(random)
      const found = comparable(withoutFlags(await daxTable(lake, who, visual.query)))
      expect([visual.query, ...found]).toEqual([
        visual.query,
        ...comparable(await rowsByRequests(ask, visual)),
      ])
      rows += found.length
    }
    expect(rows).toBeGreaterThan(rounds)
  })
})
