/**
 * Visuals in DAX on a real Trino: random ones equal requests for metrics on the same Trino, and what the embedded engine
 * gives for the same files, for an officer and for a reader of some rows, masked. SVC_TEST_ROUNDS says how many of each
 * reader: 5,000 are 10,000 in all.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pathToFileURL } from 'node:url'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { daxTable } from '../semantics/dax/dax-lake.ts'
import { randomVisual } from '../semantics/dax/random-visual.ts'
import { askingMetrics, comparable, rowsByRequests, withoutFlags } from '../semantics/dax/visual-oracle.ts'
import { startCubeLake } from '../semantics/mdx/cube-lake.ts'
import { generator } from '../support/generator.ts'
import type { Lake } from '../support/lake.ts'
import { startRestFixture } from './servers.ts'
import { icebergCatalog, startTrino } from './trino-server.ts'

/** Of each reader; a visual takes Trino a second. */
const rounds = Number(process.env.SVC_TEST_ROUNDS ?? 60)
const seed = Number(process.env.SVC_TEST_SEED ?? 61)

const stack = new AsyncDisposableStack()
let lake: Lake
beforeAll(async () => {
  const fixture = stack.use(await startRestFixture())
  const trino = stack.use(await startTrino({ catalogs: { lake: icebergCatalog(fixture.url) } }))
  lake = stack.use(
    await startCubeLake({ catalog: { url: fixture.url, warehouse: '', folder: fixture.folder } }),
  )
  await putCatalogCredential(lake.store, lake.tenant, {
    ...{ nickname: 'trino', kind: 'alpha', endpoint: fixture.url },
    config: {
      ...{ endpoint: fixture.url, warehouse: '', read_engine: 'trino' },
      storage_roots: [pathToFileURL(fixture.folder).href],
      ...{ 'trino.uri': trino.url, 'trino.catalog': 'lake' },
    },
  })
}, 400_000)
afterAll(() => stack.disposeAsync())

describe.each(['officer', 'reader'] as const)('%s', (who) => {
  test('trino-visuals: each visual is what requests for metrics give over the rows and values that the principal sees', async () => {
    const onTrino = { ...lake, catalog: 'trino' }
    const ask = askingMetrics(onTrino, who)
    const own = seed + (who === 'officer' ? 0 : 1)
    const random = generator(own)
    console.log(`seed ${own}, ${rounds} visuals`)
    let rows = 0
    for (let round = 0; round < rounds; round++) {
      const visual = randomVisual(random)
      const found = comparable(withoutFlags(await daxTable(onTrino, who, visual.query)))
      const wanted = comparable(await rowsByRequests(ask, visual))
      expect([visual.query, ...found]).toEqual([visual.query, ...wanted])
      const embedded = comparable(withoutFlags(await daxTable(lake, who, visual.query)))
      expect([visual.query, ...found]).toEqual([visual.query, ...embedded])
      rows += found.length
    }
    expect(rows).toBeGreaterThan(rounds)
  }, 20_000_000)
})
