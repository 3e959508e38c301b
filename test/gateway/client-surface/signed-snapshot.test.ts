/** The snapshot that a reader has signed is judged at each request: by the pin and the quarantine of that time. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { catalogOf } from '../../../src/core/catalog.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import { findCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { upsertNode } from '../../../src/store/graph/graph.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { putTerritoryMode } from '../../../src/store/territory/administer-territory.ts'
import { releaseSnapshot } from '../../../src/store/territory/quarantine.ts'
import { actorOf } from '../../support/actor.ts'
import { licenseFor } from '../../support/license.ts'
import {
  addTenant,
  openUncontracted,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'
import { enforceTerritory, quarantineSnapshot } from '../../support/territory.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['sales'], name: 'people' }
const change = { table, actor: actorOf('stella'), atMs: 0 }
let service: TestService
let upstream: VendingUpstream
let tenant: TestTenant
let foreign: TestTenant

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } })
  upstream = await startVendingUpstream()
  const config = {
    ...vendedTo('own', upstream.s3Url),
    credential: undefined,
    token: 'people',
    'vending.mode': 'sign',
    storage_roots: ['s3://lake/sales'],
  }
  tenant = await addTenant(service.store, 'signs', upstream.url, config)
  foreign = await addTenant(service.store, 'other', upstream.url, config)
  await openUncontracted(service.store, tenant, foreign)
  for (const { tenant: id } of [tenant, foreign]) {
    await enforceTerritory(service.store, id)
    await service.store.tenantTransaction(id, (tx) =>
      upsertNode(tx, id, { label: 'Table', id: tableKey(table), properties: { ...table } }),
    )
  }
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})

/** What a new session that may only read gets when it loads the table. */
async function loaded(of: TestTenant): Promise<{ readonly endpoint: string; readonly snapshotId: bigint }> {
  const principal = { sub: 'spark', roles: [] }
  const session = await createServiceSession(service.store, of.tenant, {
    ...{ name: 'spark', principal, scopes: ['read'] as const, expiresAt: undefined },
  })
  const headers = { 'x-iceberg-access-delegation': 'remote-signing' }
  const as = { tenant: { tenant: of.tenant, ...session }, headers }
  const text = await (await send(service, 'GET', '/namespaces/sales/tables/people', undefined, as)).text()
  const [, endpoint = ''] = /"signer\.endpoint":"([^"]+)"/.exec(text) ?? []
  return { endpoint, snapshotId: BigInt(/"current-snapshot-id":(-?\d+)/.exec(text)?.[1] ?? '0') }
}

async function sign(endpoint: string): Promise<Response> {
  const uri = upstream.metadataLocation.replace('s3://', `${upstream.s3Url}/`)
  return await fetch(new URL(`/v1/iceberg/${prefix}/${endpoint}`, service.app.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'GET', region: 'eu-central-1', uri, headers: {} }),
  })
}
/** The status, and the message of a refusal. */
async function signed(endpoint: string): Promise<readonly [number, string]> {
  const response = await sign(endpoint)
  return [response.status, response.status === 200 ? '' : await messageOf(response)]
}
const yes = [200, ''] as const

test('a pin that is set later ends the tickets for other snapshots, until it is taken away', async () => {
  const [ours, theirs] = [await loaded(tenant), await loaded(foreign)]
  const pin = { schemaId: 0n, catalog: prefix }
  expect(await signed(ours.endpoint)).toEqual(yes)
  await pinTable(service.store, tenant.tenant, change, { ...pin, snapshotId: ours.snapshotId })
  expect(await signed(ours.endpoint)).toEqual(yes)
  await pinTable(service.store, tenant.tenant, change, { ...pin, snapshotId: ours.snapshotId + 1n })
  expect(await signed(ours.endpoint)).toEqual([
    403,
    'policy denied: the snapshot of the sign ticket is not the one that the table is pinned to. Load the table again',
  ])
  expect(await signed(theirs.endpoint)).toEqual(yes)
  await unpinTable(service.store, tenant.tenant, change)
  expect(await signed(ours.endpoint)).toEqual(yes)
})

test('a quarantine ends the tickets for its snapshot, until a steward releases it', async () => {
  const { endpoint, snapshotId } = await loaded(tenant)
  const theirs = await loaded(foreign)
  expect(await signed(endpoint)).toEqual(yes)
  const credential = await findCatalogCredential(service.store, tenant.tenant, prefix)
  if (credential === undefined) throw new Error('the tenant has no catalog credential')
  const catalog = catalogOf(credential)
  const id = await quarantineSnapshot(service.store, tenant.tenant, catalog, snapshotId, table.name)
  expect(await signed(endpoint)).toEqual([
    403,
    'policy denied: the snapshot of the sign ticket is quarantined. Load the table again',
  ])
  expect(await signed(theirs.endpoint)).toEqual(yes)
  expect((await loaded(tenant)).endpoint).toBe('')

  await putTerritoryMode(service.store, tenant.tenant, 'observe', actorOf('stella'))
  expect([await signed(endpoint), await signed((await loaded(tenant)).endpoint)]).toEqual([yes, yes])
  await enforceTerritory(service.store, tenant.tenant)
  expect((await signed(endpoint))[0]).toBe(403)

  await releaseSnapshot(service.store, tenant.tenant, id, 'agreed', actorOf('stella'))
  expect(await signed(endpoint)).toEqual(yes)
})
