/** A commit whose outcome is unknown does not stand in the way of others on its table. */

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, createTable, setProperties } from '../../demo/commits.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { countIntents, openIntentsOnTable } from '../../src/store/commit/commit-intents.ts'
import { listIntents } from '../../src/store/commit/intent-settlements.ts'
import { passOn } from '../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  commit,
  startTestService,
  type TestService,
  type TestTenant,
} from '../support/service.ts'
import { send } from '../support/surface.ts'

setDefaultTimeout(60_000)

let service: TestService
let proxy: ReturnType<typeof Bun.serve>
let tenant: TestTenant
let foreign: TestTenant
/** What becomes of the answer to the next changes, in order; then they pass. */
let fates: ('not made' | 'lost' | 'not made, a proxy says' | 'lost by a proxy')[] = []
let tables = 0

beforeAll(async () => {
  service = await startTestService()
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.bytes()
      const pass = async () => (await passOn(request, service.catalog.url, body)).answer
      const isChange = request.method === 'POST' && !request.url.endsWith('/tokens')
      const fate = isChange ? fates.shift() : undefined
      if (fate === undefined) return await pass()
      if (fate.startsWith('lost')) await pass()
      if (fate === 'lost by a proxy')
        for (const operation of ['load', 'conditional-load'] as const)
          service.catalog.faults.add({ operation, effect: 'fail', status: 503, times: 20 })
      return new Response('{}', { status: fate.endsWith('proxy') || fate.endsWith('says') ? 504 : 500 })
    },
  })
  const url = proxy.url.href.replace(/\/$/, '')
  tenant = await addTenant(service.store, 'poisoned', url)
  foreign = await addTenant(service.store, 'other', url)
  await putCatalogCredential(service.store, tenant.tenant, {
    nickname: 'beta',
    kind: 'beta',
    endpoint: url,
    config: {
      ...{ endpoint: url, warehouse: 'dev', credential: 'gateway:s3cret' },
      'oauth2-server-uri': `${service.catalog.url}/v1/oauth/tokens`,
    },
  })
})
afterEach(() => {
  fates = []
  service.catalog.faults.reset()
})
afterAll(async () => {
  await proxy.stop(true)
  await service[Symbol.asyncDispose]()
})

async function newTable(): Promise<string> {
  const name = `open_${++tables}`
  const made = await send(service, 'POST', '/namespaces/sales/tables', createTable(name), { tenant })
  expect(made.status).toBe(200)
  return name
}

const commitTo = (name: string, body: string, nickname = 'main') =>
  commit(service, body, {
    secret: tenant.secret,
    path: `/v1/iceberg/${nickname}/namespaces/sales/tables/${name}`,
  })

async function snapshotOn(name: string, snapshotId: bigint): Promise<string> {
  const loaded = await send(service, 'GET', `/namespaces/sales/tables/${name}`, undefined, { tenant })
  const { metadata } = (await loaded.json()) as { metadata: Record<string, number> }
  const current = metadata['current-snapshot-id'] ?? -1
  return appendSnapshot({
    snapshotId,
    parentId: current === -1 ? undefined : BigInt(current),
    sequenceNumber: (metadata['last-sequence-number'] ?? 0) + 1,
    timestampMs: Date.now(),
  })
}

const locationsOf = async (name: string) =>
  (await audit(service, tenant.tenant))
    .filter(({ table, action }) => table.name === name && action === 'update-table')
    .map(({ metadataLocation }) => metadataLocation)
const openOn = (name: string) =>
  openIntentsOnTable(service.store, tenant.tenant, { namespace: ['sales'], name })

const branch = (name: string, snapshotId: number) =>
  JSON.stringify({
    requirements: [{ type: 'assert-ref-snapshot-id', ref: name, 'snapshot-id': null }],
    updates: [{ action: 'set-snapshot-ref', 'ref-name': name, type: 'branch', 'snapshot-id': snapshotId }],
  })

test('after one that was not made, commits that were made are told so and audited, though their answers are lost', async () => {
  const name = await newTable()
  fates = ['not made']
  expect((await commitTo(name, await snapshotOn(name, 100n))).status).toBe(502)
  for (let number = 1n; number <= 4n; number++) {
    const body = await snapshotOn(name, number)
    fates = ['lost']
    expect((await commitTo(name, body)).status).toBe(200)
  }
  fates = ['lost']
  expect((await commitTo(name, setProperties({ owner: 'ops' }))).status).toBe(200)
  const loaded = await send(service, 'GET', `/namespaces/sales/tables/${name}`, undefined, { tenant })
  const { metadata, 'metadata-location': current } = (await loaded.json()) as {
    'metadata-location': string
    metadata: { 'metadata-log': { 'metadata-file': string }[] }
  }
  const files = [...metadata['metadata-log'].map((entry) => entry['metadata-file']), current].slice(1)
  expect((await locationsOf(name)).toSorted()).toEqual(files.toSorted())
  expect(await openOn(name)).toHaveLength(1)
  expect(await audit(service, foreign.tenant)).toEqual([])
})

test('its lease ends with its request, and recovery audits what was made before the upstream’s time-out', async () => {
  const name = await newTable()
  const body = await snapshotOn(name, 7n)
  fates = ['lost by a proxy']
  expect((await commitTo(name, body)).status).toBe(502)
  service.catalog.faults.reset()
  expect(await openOn(name)).toMatchObject([{ isLeased: false, hasEnded: false }])
  await recoverIntents(service.app.gateway)
  expect(await openOn(name)).toEqual([])
  expect(await locationsOf(name)).toHaveLength(1)
})

test('it is in progress while the upstream may work on it, and a person’s to settle once the upstream itself has answered', async () => {
  const name = await newTable()
  const states = async () => {
    const table = { namespace: ['sales'], name }
    const { items } = await listIntents(service.store, tenant.tenant, { table })
    return items.map(({ state }) => state)
  }
  fates = ['not made, a proxy says']
  expect((await commitTo(name, setProperties({ a: '1' }))).status).toBe(502)
  expect(await states()).toEqual(['in-progress'])
  fates = ['not made']
  expect((await commitTo(name, setProperties({ b: '1' }))).status).toBe(502)
  expect((await states()).toSorted()).toEqual(['in-progress', 'stale'])
})

test('one that was not made stays until the upstream’s time-out has passed, because it may still be made', async () => {
  const name = await newTable()
  fates = ['not made, a proxy says']
  expect((await commitTo(name, setProperties({ a: '1' }))).status).toBe(502)
  const { stale } = await countIntents(service.store)
  await recoverIntents(service.app.gateway)
  expect(await openOn(name)).toHaveLength(1)
  expect((await countIntents(service.store)).stale).toBe(stale)
})

test('on a catalog that does not check for absent refs, others can be made after it, but not the one that it may make', async () => {
  const name = await newTable()
  expect((await commitTo(name, await snapshotOn(name, 1n), 'beta')).status).toBe(200)
  fates = ['not made']
  expect((await commitTo(name, branch('first', 1), 'beta')).status).toBe(502)
  expect((await commitTo(name, branch('second', 1), 'beta')).status).toBe(200)
  // The catalog itself has said that it works on it no longer.
  expect((await commitTo(name, branch('first', 1), 'beta')).status).toBe(200)
  fates = ['not made, a proxy says']
  expect((await commitTo(name, branch('third', 1), 'beta')).status).toBe(502)
  expect((await commitTo(name, branch('fourth', 1), 'beta')).status).toBe(200)
  expect((await commitTo(name, branch('third', 1), 'beta')).status).toBe(409)
})
