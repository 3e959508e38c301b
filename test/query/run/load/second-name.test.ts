/** Statements on a table that its catalog shows under two names: what governs it is bound to the first. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DevCatalog, startDevCatalog } from '../../../../demo/catalog/dev-catalog.ts'
import { putContract } from '../../../../src/contract/put-contract.ts'
import { checkPolicies } from '../../../../src/query/compile/protect/protect.ts'
import { actorOf } from '../../../support/actor.ts'
import { commitColumns } from '../../../support/governed.ts'
import { addReader, type Lake, type LakeCatalog, readAs, startLake } from '../../../support/lake.ts'
import { ordersTable } from '../../../support/lake-tables.ts'
import { makeTenant } from '../../../support/spare-tenants.ts'

setDefaultTimeout(300_000)

let folder: string
let catalog: DevCatalog
let at: LakeCatalog
let lake: Lake
const refusal = expect.stringMatching(/^E 55000 The table is known under another name in its catalog/)

/** Past the gateway. */
async function upstream(method: string, path: string, body?: object): Promise<Response> {
  return await fetch(`${catalog.url}/v1/dev/namespaces${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'covenant-names-'))
  catalog = await startDevCatalog({ folder: join(folder, 'catalog') })
  at = { url: catalog.url, warehouse: 'dev', folder }
  lake = await startLake({ catalog: at })
  const loaded = (await (await upstream('GET', '/sales/tables/orders')).json()) as Record<string, string>
  await upstream('POST', '', { namespace: ['other'] })
  const body = { name: 'orders', 'metadata-location': loaded['metadata-location'] }
  expect((await upstream('POST', '/other/register', body)).status).toBe(200)
  // Its contract has no filter and no mask.
  const second = { namespace: ['other'], name: 'orders' }
  await commitColumns(lake.store, lake.tenant, second, { id: 'long', region: 'string' })
  const on = { store: lake.store, tenant: lake.tenant, actor: actorOf('stella'), checkPolicies }
  await putContract(on, second, { id: 'second', version: 1 })
})
afterAll(async () => {
  await lake[Symbol.asyncDispose]()
  await catalog.stop()
  await rm(folder, { recursive: true, force: true })
})

test('the second name is 55000 to everybody, alone and in a join, and the first name is read', async () => {
  const own = await readAs(lake.restricted, 'SELECT id FROM sales.orders')
  expect(own.length).toBeGreaterThan(1)
  for (const env of [lake.env, lake.restricted]) {
    expect(await readAs(env, 'SELECT id FROM other.orders')).toEqual([refusal])
    const join_ = 'SELECT count(*) FROM sales.orders a JOIN other.orders b ON a.id = b.id'
    expect(await readAs(env, join_)).toEqual([refusal])
  }
  expect(await readAs(lake.restricted, 'SELECT id FROM sales.orders')).toEqual(own)
})

test('another tenant reads the same files under the name that it knows first', async () => {
  const { id } = await makeTenant(lake.store, { name: 'globex' })
  await upstream('POST', '', { namespace: ['third'] })
  const secret = await addReader(lake, id, at, { table: ordersTable, namespace: 'third' })
  const theirs = await readAs(
    { ...lake.env, PGUSER: 'bob', PGPASSWORD: secret },
    'SELECT id FROM third.orders',
  )
  expect(theirs).toEqual(await readAs(lake.restricted, 'SELECT id FROM sales.orders'))
})

test('once the first name is gone, the table has the other one', async () => {
  expect((await upstream('DELETE', '/sales/tables/orders')).status).toBe(204)
  expect((await readAs(lake.env, 'SELECT id FROM other.orders')).join()).not.toContain('55000')
})
