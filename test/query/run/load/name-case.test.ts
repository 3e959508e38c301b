/** Statements on a catalog that folds names: every spelling reads one table, under its filters and masks, on one record. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../../../demo/catalog/dev-catalog.ts'
import { findCatalogCredential } from '../../../../src/store/catalog-credential/catalog-credentials.ts'
import { listUsage } from '../../../../src/store/query/usage.ts'
import { generator } from '../../../support/generator.ts'
import { type Lake, readAs, startLake } from '../../../support/lake.ts'

setDefaultTimeout(300_000)

const seed = 2_026
console.log(`spellings are made from the seed ${seed}`)
const random = generator(seed)
const spelled = (name: string) =>
  [...name].map((letter) => (random() < 0.5 ? letter.toUpperCase() : letter)).join('')

let folder: string
let catalog: DevCatalog
let lake: Lake
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-names-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog'), foldsNames: true })
  lake = await startLake({ catalog: { url: catalog.url, warehouse: 'dev', folder } })
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

const read = (env: Lake['env'], from: string) => readAs(env, `SELECT * FROM ${from} ORDER BY 1`)

test('a statement reads a table by any spelling of its name, with the rows and values that its reader sees', async () => {
  expect((await findCatalogCredential(lake.store, lake.tenant, lake.catalog))?.config).not.toHaveProperty([
    'case_sensitive_names.found',
  ])
  const own = await read(lake.env, 'sales.orders')
  const restricted = await read(lake.restricted, 'sales.orders')
  expect(own.length).toBeGreaterThan(restricted.length)
  for (let tries = 0; tries < 6; tries++) {
    const from = `"${spelled('sales')}"."${spelled('orders')}"`
    expect([from, ...(await read(lake.env, from))]).toEqual([from, ...own])
    expect([from, ...(await read(lake.restricted, from))]).toEqual([from, ...restricted])
  }
  const found = await findCatalogCredential(lake.store, lake.tenant, lake.catalog)
  expect(found?.config['case_sensitive_names.found']).toBe(false)
})

test('two spellings in one statement are one table', async () => {
  const joined = 'sales."ORDERS" a JOIN sales.orders b ON a.id = b.id'
  expect(await readAs(lake.restricted, `SELECT count(*) FROM ${joined}`)).toEqual(
    await readAs(lake.restricted, 'SELECT count(*) FROM sales.orders'),
  )
})

test('what was read is recorded under the name that the catalog has', async () => {
  await read(lake.env, '"SALES"."Orders"')
  const { items } = await listUsage(lake.store, lake.tenant, {}, { limit: 100 })
  const names = items.flatMap(({ reads }) =>
    reads.map(({ namespace, name }) => `${namespace.join('.')}.${name}`),
  )
  expect([...new Set(names)]).toEqual(['sales.orders'])
})
