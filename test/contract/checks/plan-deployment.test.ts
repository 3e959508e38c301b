/** Which catalog a check run reads where several are known, and one of them does not answer. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import {
  findCatalogCredential,
  putCatalogCredential,
  removeCatalogCredential,
} from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { contractOf, type QualityWorld, startQualityWorld } from '../quality/world.ts'

setDefaultTimeout(180_000)

let world: QualityWorld
let foreign: TenantId
beforeAll(async () => {
  world = await startQualityWorld()
  foreign = (await makeTenant(world.lake.store, { name: 'foreign' })).id
  await world.deploy(contractOf('1.0.0', { '': '[{id: rows, metric: rowCount, mustBe: 1000}]' }))
  await world.lake.app.checks.runner.runDue()
  await addCatalog('lake', 'twin', foreign)
})
afterAll(() => world[Symbol.asyncDispose]())

const dead = 'http://127.0.0.1:1'

/** Saves a catalog like another of the tenant, in a tenant. */
async function addCatalog(
  like: string,
  nickname: string,
  tenant: TenantId,
  endpoint?: string,
): Promise<void> {
  const { store, tenant: home } = world.lake
  const known = await findCatalogCredential(store, home, like)
  if (known === undefined) throw new Error(`there is no catalog ${like}`)
  const at = endpoint ?? known.endpoint
  const config = { ...known.config, endpoint: at }
  await putCatalogCredential(store, tenant, { nickname, kind: known.kind, endpoint: at, config })
}

const request = (more: object = {}) =>
  world.ask('POST', '/api/v1/checks/runs', world.stella, {
    ...{ contract: 'orders', namespace: ['sales'], table: 'orders' },
    ...more,
  })
const messageOf = ({ error }: Record<string, unknown>) => (error as { message: string }).message

test('a catalog that does not answer is passed over where exactly one other has the table', async () => {
  const { store, tenant } = world.lake
  await addCatalog('lake', 'gone', tenant, dead)
  const [status, { id }] = await request()
  expect(status).toBe(202)
  const [, run] = await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella)
  expect(run).toMatchObject({ table: { name: 'orders' }, cause: 'request' })
  await removeCatalogCredential(store, tenant, 'gone')
})

test('the answer names the catalog that did not answer where no other has the table', async () => {
  const { store, tenant } = world.lake
  await addCatalog('lake', 'gone', tenant, dead)
  const [status, answer] = await request({ catalog: 'gone' })
  expect([status, messageOf(answer)]).toEqual([502, expect.stringContaining('The catalog gone')])
  await removeCatalogCredential(store, tenant, 'gone')
})

test('a table that several catalogs have asks for a catalog, also where one does not answer', async () => {
  const { store, tenant } = world.lake
  await addCatalog('lake', 'twin', tenant)
  await addCatalog('lake', 'gone', tenant, dead)
  const [status, answer] = await request()
  expect([status, messageOf(answer)]).toEqual([422, expect.stringContaining('Name the catalog')])
  expect((await request({ catalog: 'twin' }))[0]).toBe(202)
  for (const nickname of ['twin', 'gone']) await removeCatalogCredential(store, tenant, nickname)
})

test('catalogs of another tenant are not asked', async () => {
  await addCatalog('lake', 'elsewhere', foreign, dead)
  expect((await request())[0]).toBe(202)
  expect((await request({ catalog: 'elsewhere' }))[0]).toBe(422)
})
