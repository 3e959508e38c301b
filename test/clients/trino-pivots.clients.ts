/**
 * Pivots in MDX on a real Trino: random ones equal SQL by hand on the same Trino, cell by cell, and what the embedded engine
 * gives for the same files, for an officer and for a reader of some rows, masked.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pathToFileURL } from 'node:url'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { cellsetAs, startCubeLake } from '../semantics/mdx/cube-lake.ts'
import { type Ask, groupsBySql, groupsOf, mdxOf, randomPivot } from '../semantics/mdx/pivot-oracle.ts'
import { generator } from '../support/generator.ts'
import { type Lake, readAs } from '../support/lake.ts'
import { startRestFixture } from './servers.ts'
import { icebergCatalog, startTrino } from './trino-server.ts'

/** Of each reader; a pivot takes Trino a second. */
const rounds = 30
const seed = Number(process.env.SVC_TEST_SEED ?? 43)

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
  test('trino-pivots: each group of a pivot is what SQL gives over the rows and values that the principal sees', async () => {
    const ask: Ask = (text) => readAs(who === 'officer' ? lake.env : lake.restricted, text, 'trino')
    const own = seed + (who === 'officer' ? 0 : 1)
    const random = generator(own)
    console.log(`seed ${own}`)
    let values = 0
    for (let round = 0; round < rounds; round++) {
      const pivot = await randomPivot(random, ask)
      const statement = mdxOf(pivot, random() < 0.7)
      const found = groupsOf(await cellsetAs({ ...lake, catalog: 'trino' }, who, statement))
      expect([statement, ...found]).toEqual([statement, ...(await groupsBySql(ask, pivot))])
      expect([statement, ...found]).toEqual([statement, ...groupsOf(await cellsetAs(lake, who, statement))])
      values += found.length
    }
    expect(values).toBeGreaterThan(rounds * 5)
  }, 800_000)
})
