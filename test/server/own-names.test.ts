/**
 * Names of tables in requests that name no catalog: where all catalogs fold names, every surface gives back the governed one.
 * What an operator asks of a tenant is read as that tenant's catalogs have names, whatever the operator's own do.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../demo/catalog/dev-catalog.ts'
import { createTable, setProperties } from '../../demo/commits.ts'
import { findTenantByOrganization } from '../../src/store/tenant/tenants.ts'
import { graphql } from '../support/graphql.ts'
import {
  ask,
  call,
  type IdentityService,
  internalOrg,
  session,
  startIdentityService,
} from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { connectMcp } from '../support/mcp.ts'
import { addTenant, createOrders, equipTenant, type TestTenant } from '../support/service.ts'
import { send } from '../support/surface.ts'

setDefaultTimeout(300_000)

let service: IdentityService
let exact: DevCatalog
let folder: string
let foreign: TestTenant
let steward: string
let outsider: string

beforeAll(async () => {
  service = await startIdentityService({ foldsNames: true, env: { SVC_LICENSE: licenseForAll() } })
  folder = await mkdtemp(join(tmpdir(), 'covenant-names-'))
  exact = await startDevCatalog({ folder, credential: 'gateway:s3cret' })
  await createOrders(exact)
  foreign = await addTenant(service.store, 'foreign', exact.url)
  // A name with capitals has each catalog asked, and a commit makes the columns known.
  for (const tenant of [service.owner, foreign])
    for (const name of ['Orders', 'orders'])
      await send(service, 'POST', `/namespaces/sales/tables/${name}`, setProperties({ a: '1' }), { tenant })
  const [scopes, roles] = [['read', 'admin'], ['steward']] as const
  steward = await session(service, service.owner.tenant, scopes, roles, 'stella')
  outsider = await session(service, foreign.tenant, scopes, roles, 'mallory')
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await exact.stop()
  await rm(folder, { recursive: true, force: true })
})

const tableOf = async (path: string, secret = steward) =>
  (await ask(service, 'GET', `/api/v1/contracts/tables/${path}`, secret)).body

/** The tables of the decisions that the operator is shown of a tenant where it names this one. */
async function decidedOn({ tenant }: TestTenant, table: string): Promise<ReadonlySet<string>> {
  const path = `/admin/tenants/${tenant}/decisions?namespace=sales&table=${table}`
  const { body } = await ask(service, 'GET', path, service.operator)
  return new Set((body.items as readonly { table: { name: string } }[]).map((one) => one.table.name))
}

describe('where all catalogs of a tenant fold names', () => {
  test('a contract and a tag that are put under a spelling are those of the table', async () => {
    const put = await ask(service, 'PUT', '/api/v1/contracts/tables/Sales/ORDERS', steward, {
      ...{ id: 'orders', version: 1 },
    })
    expect([put.status, put.body]).toEqual([204, {}])
    const tagged = await ask(
      service,
      'PUT',
      '/api/v1/contracts/tables/SALES/Orders/columns/id/tags/key',
      steward,
      {},
    )
    expect([tagged.status, tagged.body]).toEqual([204, {}])
    const found = await tableOf('sales/orders')
    expect(found).toMatchObject({
      table: { namespace: ['sales'], name: 'orders' },
      contract: { id: 'orders' },
    })
    expect(JSON.stringify(found)).toContain('"key"')
  })

  test.each(['Sales/ORDERS', 'sales/Orders'])('%s reads back the governed name', async (path) => {
    expect(await tableOf(path)).toEqual(await tableOf('sales/orders'))
  })

  test('so does a list that is limited to one table', async () => {
    const list = async (table: string) =>
      (await ask(service, 'GET', `/api/v1/decisions?namespace=sales&table=${table}`, steward)).body
    expect(await list('ORDERS')).toEqual(await list('orders'))
    expect(((await list('ORDERS')).items as readonly unknown[]).length).toBeGreaterThan(0)
  })

  test.each(['jsonl', 'csv'])('so does an export as %s that is limited to one table', async (format) => {
    const exported = async (table: string, admin?: TestTenant) => {
      const base = admin === undefined ? '/api/v1' : `/admin/tenants/${admin.tenant}`
      const path = `${base}/decisions/export?format=${format}&namespace=sales&table=${table}`
      const secret = admin === undefined ? steward : service.operator
      return await (await call(service, 'GET', path, { secret })).text()
    }
    expect((await exported('orders')).split('\n').length).toBeGreaterThan(1)
    expect(await exported('ORDERS')).toBe(await exported('orders'))
    expect(await exported('ORDERS', service.owner)).toBe(await exported('orders', service.owner))
  })

  test('so does what the operator asks of the tenant', async () => {
    for (const spelling of ['orders', 'ORDERS'])
      expect([...(await decidedOn(service.owner, spelling))]).toEqual(['orders'])
  })

  test('so does GraphQL', async () => {
    const { data } = await graphql(
      service,
      steward,
      '{ table(namespace: ["SALES"], name: "Orders") { name namespace } }',
    )
    expect(data).toEqual({ table: { name: 'orders', namespace: ['sales'] } })
  })

  test('so does MCP', async () => {
    await using client = await connectMcp('2026', service.app.url, steward)
    const explain = async (table: string) => (await client.call('explain_contract', { table })).structured
    expect(await explain('SALES.Orders')).toEqual(await explain('sales.orders'))
    expect(JSON.stringify(await explain('SALES.Orders'))).toContain('orders')
  })
})

test('a tenant whose catalog keeps names apart has what it sent', async () => {
  expect(
    (await ask(service, 'PUT', '/api/v1/contracts/tables/sales/orders', outsider, { id: 'o', version: 1 }))
      .status,
  ).toBe(204)
  const missing = await ask(service, 'GET', '/api/v1/contracts/tables/sales/ORDERS', outsider)
  expect(missing.status).toBe(404)
  const { data } = await graphql(
    service,
    outsider,
    '{ table(namespace: ["sales"], name: "ORDERS") { name } }',
  )
  expect(data).toEqual({ table: null })
})

test('an operator whose own catalogs fold names has what it sent of a tenant that keeps names apart', async () => {
  const tables = '/namespaces/sales/tables'
  await send(service, 'POST', tables, createTable('Orders'), { tenant: foreign })
  await send(service, 'POST', `${tables}/Orders`, setProperties({ a: '1' }), { tenant: foreign })
  const own = await findTenantByOrganization(service.store, internalOrg)
  await equipTenant(service.store, own?.id ?? expect.unreachable(), 'internal', service.catalog.url, {
    case_sensitive_names: false,
  })
  for (const name of ['orders', 'Orders']) expect([...(await decidedOn(foreign, name))]).toEqual([name])
})
