/** Commits to a pinned table keep its snapshot for readers, whatever route they take. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, removeSnapshots, setProperties } from '../../demo/commits.ts'
import type { Fault } from '../../src/base/fault.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { listPins, pinTable, unpinTable } from '../../src/store/contract/pins.ts'
import { deleteNode, upsertNode } from '../../src/store/graph/graph.ts'
import { actorOf } from '../support/actor.ts'
import { addTenant, audit, commit, orders, startTestService, type TestService } from '../support/service.ts'
import { messageOf, send } from '../support/surface.ts'

setDefaultTimeout(300_000)

const first = 9_007_199_254_740_993n
const denial = `snapshot ${first} of sales.orders is pinned: unpin it first`
const change = { table: orders, actor: actorOf('stella'), atMs: 0 }
let service: TestService
let tenant: TenantId

beforeAll(async () => {
  service = await startTestService()
  tenant = service.owner.tenant
  for (const [index, snapshotId] of [first, first + 1n, first + 2n].entries()) {
    const parentId = index === 0 ? undefined : snapshotId - 1n
    const body = appendSnapshot({ snapshotId, parentId, sequenceNumber: index + 1, timestampMs: Date.now() })
    expect((await commit(service, body)).status).toBe(200)
  }
  await pinTable(service.store, tenant, change, { snapshotId: first, schemaId: 0n, catalog: 'main' })
})
afterAll(() => service[Symbol.asyncDispose]())

test('a commit that expires the pinned snapshot is denied and audited', async () => {
  const response = await commit(service, removeSnapshots([first + 1n, first]))
  expect([response.status, await response.text()]).toEqual([403, `policy denied: ${denial}`])
  expect((await audit(service))[0]).toMatchObject({
    decision: 'REJECTED',
    reason: denial,
    committer: 'spark',
  })
})

test('so it is on the client surface and in a transaction of several tables', async () => {
  const body = JSON.parse(removeSnapshots([1n]).replace('[1]', `["${first}"]`)) as object
  const text = JSON.stringify(body).replace(`"${first}"`, String(first))
  const single = await send(service, 'POST', '/namespaces/sales/tables/orders', text)
  expect([single.status, await messageOf(single)]).toEqual([403, `policy denied: ${denial}`])
  const identifier = '"identifier":{"namespace":["sales"],"name":"orders"}'
  const changes = `{"table-changes":[{${identifier},${text.slice(1, -1)}}]}`
  const many = await send(service, 'POST', '/transactions/commit', changes)
  expect([many.status, await messageOf(many)]).toEqual([403, expect.stringContaining(denial)])
})

test.each([`["${first}"]`, `[${first}.0]`, `[${first + 1n}, null]`, String(first), `{"0":${first}}`, 'null'])(
  'a commit that expires what cannot be read as ids, %s, is denied: an upstream might read more',
  async (ids) => {
    const body = removeSnapshots([1n]).replace('[1]', ids)
    const response = await commit(service, body)
    expect([response.status, await response.text()]).toEqual([403, `policy denied: ${denial}`])
  },
)

test.each(['Remove-Snapshots', 'from-the-future'])(
  'an update whose action is %s, which may expire it, is 503 and not forwarded',
  async (action) => {
    const body = removeSnapshots([first]).replace('remove-snapshots', action)
    const before = service.catalog.faults.counts.commit
    const response = await commit(service, body)
    expect([response.status, await response.text()]).toEqual([503, 'policy-engine-unavailable'])
    expect(service.catalog.faults.counts.commit).toBe(before)
  },
)

test('a purge and a rename of the table are denied; what leaves the snapshot is not', async () => {
  const purge = await send(service, 'DELETE', '/namespaces/sales/tables/orders?purgeRequested=true')
  expect([purge.status, await messageOf(purge)]).toEqual([403, `policy denied: ${denial}`])
  const rename = await send(service, 'POST', '/tables/rename', {
    source: { namespace: ['sales'], name: 'orders' },
    destination: { namespace: ['sales'], name: 'elsewhere' },
  })
  expect([rename.status, await messageOf(rename)]).toEqual([403, `policy denied: ${denial}`])
  expect((await commit(service, setProperties({ a: 'b' }))).status).toBe(200)
  expect((await commit(service, removeSnapshots([first + 1n]))).status).toBe(200)
})

test('so is a registration over the table, since the file may lack the snapshot', async () => {
  const loaded = await send(service, 'GET', '/namespaces/sales/tables/orders')
  const { 'metadata-location': location } = (await loaded.json()) as { 'metadata-location': string }
  const body = { name: 'orders', 'metadata-location': location, overwrite: true }
  const register = await send(service, 'POST', '/namespaces/sales/register', body)
  expect([register.status, await messageOf(register)]).toEqual([403, `policy denied: ${denial}`])
})

test('a pin of another tenant keeps nothing here', async () => {
  const other = await addTenant(service.store, 'other', service.catalog.url)
  const events = await listPins(service.store, other.tenant, orders, {})
  expect(events.items).toEqual([])
  const fault = await pinTable(service.store, other.tenant, change, {
    snapshotId: first + 2n,
    schemaId: 0n,
    catalog: 'main',
  }).catch((thrown: Fault) => thrown)
  expect(fault).toMatchObject({ kind: 'not_found' })
})

test('events are added, never changed or removed, not even by the database role of the tenant', async () => {
  const [event] = (await listPins(service.store, tenant, orders, {})).items
  expect(event).toMatchObject({ sequence: 1, kind: 'pin', snapshotId: String(first), by: 'stella' })
  const id = 'sales\u001forders\u001f1'
  const attempts = [
    (owner: boolean) =>
      work(owner, (tx) => upsertNode(tx, tenant, { label: 'PinEvent', id, properties: { by: 'x' } })),
    (owner: boolean) => work(owner, (tx) => deleteNode(tx, { label: 'PinEvent', id })),
    (owner: boolean) => work(owner, (tx) => tx.query('delete from "_ag_label_edge"')),
    (owner: boolean) => work(owner, (tx) => tx.query('truncate "PINS"')),
  ]
  for (const attempt of attempts)
    for (const owner of [false, true]) expect(await attempt(owner)).toMatchObject({ detail: '42501' })
  expect((await listPins(service.store, tenant, orders, {})).items).toHaveLength(1)
})

test('once it is unpinned its snapshot may expire, and the history of both stays', async () => {
  await unpinTable(service.store, tenant, change)
  const again = await unpinTable(service.store, tenant, change).catch((thrown: Fault) => thrown)
  expect(again).toMatchObject({ kind: 'conflict' })
  expect((await commit(service, removeSnapshots([first]))).status).toBe(200)
  const page = await listPins(service.store, tenant, orders, { limit: 1 })
  expect(page.items.map(({ kind }) => kind)).toEqual(['unpin'])
  const rest = await listPins(service.store, tenant, orders, { after: page.next ?? '' })
  expect(rest.items.map(({ kind }) => kind)).toEqual(['pin'])
})

test('a drop that leaves the files is not denied, nor that the table is registered again', async () => {
  const loaded = await send(service, 'GET', '/namespaces/sales/tables/orders')
  const { 'metadata-location': location } = (await loaded.json()) as { 'metadata-location': string }
  await pinTable(service.store, tenant, change, { snapshotId: first + 2n, schemaId: 0n, catalog: 'main' })
  expect((await send(service, 'DELETE', '/namespaces/sales/tables/orders')).status).toBe(204)
  const body = { name: 'orders', 'metadata-location': location }
  expect((await send(service, 'POST', '/namespaces/sales/register', body)).status).toBe(200)
})

function work<T>(
  owner: boolean,
  run: Parameters<typeof service.store.ownerTransaction<T>>[1],
): Promise<unknown> {
  const { store } = service
  const done = owner ? store.ownerTransaction(tenant, run) : store.tenantTransaction(tenant, run)
  return done.catch((thrown: Fault) => thrown)
}
