/** What `covenant compare` says of tables that are where the audit ends, and of those that are not. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { setProperties } from '../../demo/commits.ts'
import { addressRules } from '../../src/catalog/address.ts'
import { OpenCatalogs } from '../../src/catalog/open-catalog.ts'
import { compareTables } from '../../src/gateway/recovery/compare-tables.ts'
import {
  addTenant,
  commit,
  commitUpstream,
  startTestService,
  type TestService,
  upstreamHeaders,
} from '../support/service.ts'

setDefaultTimeout(300_000)

let service: TestService
let catalogs: OpenCatalogs
beforeAll(async () => {
  service = await startTestService()
  const allowed = service.app.gateway.catalogs.options.addressRules ?? addressRules({ cidrs: [], hosts: [] })
  catalogs = new OpenCatalogs({ addressRules: allowed })
})
afterAll(async () => {
  catalogs.close()
  await service[Symbol.asyncDispose]()
})

async function standings(tenant = service.owner.tenant) {
  const parts = { store: service.store, catalogs }
  const all = []
  for await (const { table, standing, unaudited } of compareTables(
    parts,
    tenant,
    AbortSignal.timeout(60_000),
  ))
    all.push(`${standing} ${table.name} ${unaudited}`)
  return all
}

test('a table whose last change is audited is the same, and another tenant does not see it', async () => {
  expect((await commit(service, setProperties({ a: '1' }))).status).toBe(200)
  expect(await standings()).toEqual(['same orders 0'])
  const stranger = await addTenant(service.store, 'stranger', service.catalog.url)
  expect(await standings(stranger.tenant)).toEqual([])
})

test('a table that went on without the audit is ahead, by as many files', async () => {
  await commitUpstream(service.catalog, setProperties({ b: '1' }))
  await commitUpstream(service.catalog, setProperties({ b: '2' }))
  expect(await standings()).toEqual(['ahead orders 2'])
  expect((await commit(service, setProperties({ c: '1' }))).status).toBe(200)
  expect(await standings()).toEqual(['same orders 0'])
})

test('a table that the catalog does not have is absent', async () => {
  const headers = await upstreamHeaders(service.catalog)
  const table = `${service.catalog.url}/v1/dev/namespaces/sales/tables/orders`
  expect((await fetch(table, { method: 'DELETE', headers })).status).toBe(204)
  expect(await standings()).toEqual(['absent orders 0'])
})

test('a table whose catalog does not answer is unreadable', async () => {
  await service.catalog.stop()
  expect(await standings()).toEqual(['unreadable orders 0'])
})
