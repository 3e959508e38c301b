/** Scans that the service plans over HTTP: for whom, of which snapshot, how they are paged, and what ends them. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { Fault } from '../../../src/base/fault.ts'
import { catalogOf } from '../../../src/core/catalog.ts'
import type { SessionScope } from '../../../src/core/session.ts'
import { tableKey } from '../../../src/core/table-ref.ts'
import { clientFiles } from '../../../src/gateway/base/client-files.ts'
import { findCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { upsertNode } from '../../../src/store/graph/graph.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
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
import { startSts, stsKeys, type TestSts } from '../../support/sts.ts'
import { messageOf, send } from '../../support/surface.ts'
import { enforceTerritory, quarantineSnapshot, take } from '../../support/territory.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['sales'], name: 'people' }
const path = '/namespaces/sales/tables/people'
const change = { table, actor: actorOf('stella'), atMs: 0 }
const filesInAll = 2_500
const long = (value: number) => new Uint8Array(new BigInt64Array([BigInt(value)]).buffer)

const signs = (s3Url: string) => ({
  ...vendedTo('own', s3Url),
  ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'] },
  ...{ 'vending.mode': 'sign', 'vending.scan-planning': 'server' },
})

let nowMs = Date.now()
let service: TestService
let upstream: VendingUpstream
let deleted: VendingUpstream
let sts: TestSts
let tenant: TestTenant
let foreign: TestTenant
let vends: TestTenant
let withDeletes: TestTenant
/** The tables' snapshot, and the first data file. */
let snapshotId = 0n
let firstFile = ''

beforeAll(async () => {
  sts = startSts(() => nowMs)
  service = await startTestService({
    env: { SVC_LICENSE: licenseFor('vending') },
    clock: { now: () => nowMs },
  })
  upstream = await startVendingUpstream({
    write: async (writer) => {
      // What is in the files is not read by a plan.
      const files = Array.from({ length: filesInAll }, (_, index) => ({
        ...{ rows: [], bytes: Buffer.from(`file ${index}`), recordCount: 10 },
        stats: {
          lower: { 1: long(index * 10) },
          upper: { 1: long(index * 10 + 9) },
          nullCounts: { 1: 0 },
        },
      }))
      const appended = await writer.append(files)
      snapshotId = appended.snapshotId
      firstFile = appended.files[0] ?? ''
    },
  })
  deleted = await startVendingUpstream({
    write: async (writer) => {
      const { files } = await writer.append([{ rows: [{ id: 1, email: 'a' }] }])
      await writer.deletePositions(files[0] ?? '', [0])
    },
  })
  tenant = await addTenant(service.store, 'signs', upstream.url, signs(upstream.s3Url))
  foreign = await addTenant(service.store, 'other', upstream.url, signs(upstream.s3Url))
  withDeletes = await addTenant(service.store, 'deletes', deleted.url, signs(deleted.s3Url))
  vends = await addTenant(service.store, 'vends', upstream.url, {
    ...signs(upstream.s3Url),
    ...{ 'vending.mode': 'vend', 'vending.role-arn': 'arn:aws:iam::123456789012:role/reader' },
    ...{ 'vending.access-key-id': stsKeys.accessKeyId, 'vending.secret-access-key': stsKeys.secretAccessKey },
    ...{ 'vending.sts-endpoint': sts.url, 'vending.scan-planning': 'client' },
  })
  await openUncontracted(service.store, tenant, foreign, vends, withDeletes)
  for (const { tenant: id } of [tenant, foreign, vends, withDeletes]) {
    await enforceTerritory(service.store, id)
    await service.store.tenantTransaction(id, (tx) =>
      upsertNode(tx, id, { label: 'Table', id: tableKey(table), properties: { ...table } }),
    )
  }
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await deleted[Symbol.asyncDispose]()
  await sts[Symbol.asyncDispose]()
})

interface Held extends TestTenant {
  readonly id: string
}
async function held(of: TestTenant = tenant, scopes: readonly SessionScope[] = ['read']): Promise<Held> {
  const principal = { sub: 'spark', roles: [] }
  const made = await createServiceSession(service.store, of.tenant, { name: 'spark', principal, scopes })
  return { tenant: of.tenant, ...made }
}

interface Content {
  readonly 'file-path': string
  readonly 'file-format': string
}
interface Plan {
  readonly status?: string
  readonly 'plan-id'?: string
  readonly 'plan-tasks'?: readonly string[]
  readonly 'file-scan-tasks': readonly {
    readonly 'data-file': Content
    readonly 'delete-file-references'?: readonly number[]
  }[]
  readonly 'delete-files'?: readonly Content[]
  readonly 'storage-credentials'?: readonly { readonly prefix: string; readonly config: object }[]
}
type Headers = Readonly<Record<string, string>>
const signed = { 'x-iceberg-access-delegation': 'remote-signing' }

const ask = (as: TestTenant, body: object = {}, headers: Headers = {}) =>
  send(service, 'POST', `${path}/plan`, body, { tenant: as, headers })
const fetchTask = (as: TestTenant, task: string | undefined, headers: Headers = {}) =>
  send(service, 'POST', `${path}/tasks`, { 'plan-task': task }, { tenant: as, headers })
async function ok(response: Response): Promise<Plan> {
  const text = await response.text()
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  expect(text).not.toContain('secret-own')
  return JSON.parse(text)
}
const pathsOf = (plan: Plan) => plan['file-scan-tasks'].map((task) => task['data-file']['file-path'])
const refused = async (response: Response) => [response.status, await messageOf(response)] as const
const atMost = (id: number) => ({ type: 'lt-eq', term: 'id', value: id })

describe('a plan', () => {
  test('has presigned addresses of the files that a filter leaves, and of no others', async () => {
    const plan = await ok(await ask(await held(), { filter: atMost(25) }))
    expect([plan.status, plan['plan-tasks']]).toEqual(['completed', undefined])
    const paths = pathsOf(plan)
    expect(paths).toHaveLength(3)
    for (const [index, address] of paths.entries()) {
      const url = new URL(address)
      expect([url.origin, url.searchParams.get('X-Amz-Expires')]).toEqual([upstream.s3Url, '900'])
      expect(await (await fetch(address)).text()).toBe(`file ${index}`)
    }
  })

  test('names the files themselves to a client that has its requests signed', async () => {
    const plan = await ok(await ask(await held(), { filter: atMost(5) }, signed))
    expect(pathsOf(plan)).toEqual([firstFile])
    expect(plan['file-scan-tasks'][0]?.['data-file']).toMatchObject({ content: 'data', partition: [] })
  })

  test('has credentials for the table where the service issues them', async () => {
    const session = await held(vends)
    const wish = { 'x-iceberg-access-delegation': 'vended-credentials' }
    const plan = await ok(await ask(session, { filter: atMost(5) }, wish))
    expect(pathsOf(plan)).toEqual([firstFile])
    expect(plan['storage-credentials']?.map(({ prefix: at }) => at)).toEqual(['s3://lake/sales/people/'])
    expect(await ok(await ask(session, { filter: atMost(5) }))).not.toHaveProperty('storage-credentials')
  })

  test('is made where the upstream plans nothing, and listed as an operation', async () => {
    const config = await (await send(service, 'GET', '/config', undefined, { tenant })).json()
    const root = '/v1/{prefix}/namespaces/{namespace}/tables/{table}'
    expect((config as { endpoints: readonly string[] }).endpoints).toEqual(
      expect.arrayContaining([
        `POST ${root}/plan`,
        `GET ${root}/plan/{plan-id}`,
        `DELETE ${root}/plan/{plan-id}`,
        `POST ${root}/tasks`,
      ]),
    )
  })

  test('is what a loaded table asks for, where the catalog says so', async () => {
    const mode = async (of: TestTenant, headers: Headers = {}) => {
      const response = await send(service, 'GET', path, undefined, { tenant: await held(of), headers })
      const { config } = JSON.parse(await response.text()) as { config?: Record<string, string> }
      return config?.['scan-planning-mode']
    }
    expect([await mode(tenant), await mode(tenant, signed), await mode(vends)]).toEqual([
      'server',
      'server',
      undefined,
    ])
  })
})

describe('the pages of a plan', () => {
  test('hold every file once', async () => {
    const session = await held()
    const first = await ok(await ask(session, {}, signed))
    const paths = [...pathsOf(first)]
    let tasks = first['plan-tasks'] ?? []
    const sizes = [paths.length]
    while (tasks.length > 0) {
      const next = await ok(await fetchTask(session, tasks[0], signed))
      expect(next).not.toHaveProperty('status')
      sizes.push(pathsOf(next).length)
      paths.push(...pathsOf(next))
      tasks = next['plan-tasks'] ?? []
    }
    expect([sizes, new Set(paths).size]).toEqual([[1_000, 1_000, 500], filesInAll])
  })

  test('are for the session and the table of the plan only', async () => {
    const session = await held()
    const { 'plan-id': planId, 'plan-tasks': [task] = [] } = await ok(await ask(session))
    const none = [404, 'There is no such plan task, or it has expired. Plan the scan again.'] as const
    for (const other of [await held(), await held(foreign), foreign])
      expect(await refused(await fetchTask(other, task))).toEqual(none)
    const result = (as: TestTenant) =>
      send(service, 'GET', `${path}/plan/${planId}`, undefined, { tenant: as })
    expect((await result(foreign)).status).toBe(404)
    expect(pathsOf(await ok(await result(session)))).toHaveLength(1_000)
    expect(await refused(await fetchTask(session, `${task}x`))).toEqual(none)
    expect((await fetchTask(session, undefined)).status).toBe(400)
  })

  test('end with the session', async () => {
    const session = await held()
    const { 'plan-tasks': [task] = [] } = await ok(await ask(session))
    await revokeServiceSession(service.store, tenant.tenant, session.id)
    expect((await fetchTask(session, task)).status).toBe(401)
  })

  test('end after a quarter of an hour, and their addresses with them', async () => {
    const session = await held()
    const { 'plan-tasks': [task] = [] } = await ok(await ask(session))
    nowMs += 600_000
    const page = await ok(await fetchTask(session, task))
    expect(new URL(pathsOf(page)[0] ?? '').searchParams.get('X-Amz-Expires')).toBe('300')
    nowMs += 300_000
    expect((await fetchTask(session, task)).status).toBe(404)
  })

  test('are kept by the app that made the plan, as long as it runs', async () => {
    const session = await held()
    const { 'plan-id': planId } = await ok(await ask(session))
    const { gateway } = service.app
    const status = async () =>
      (await send(service, 'GET', `${path}/plan/${planId}`, undefined, { tenant: session })).status
    const own = gateway.clientFiles
    Object.assign(gateway, { clientFiles: clientFiles() })
    const ofAnother = await status()
    Object.assign(gateway, { clientFiles: own })
    expect([ofAnother, await status()]).toEqual([404, 200])
  })

  test('end when the client cancels, and no other client can', async () => {
    const session = await held()
    const { 'plan-id': planId, 'plan-tasks': [task] = [] } = await ok(await ask(session))
    const cancel = (as: TestTenant) =>
      send(service, 'DELETE', `${path}/plan/${planId}`, undefined, { tenant: as })
    expect([(await cancel(foreign)).status, (await cancel(await held())).status]).toEqual([404, 404])
    expect((await fetchTask(session, task)).status).toBe(200)
    expect((await cancel(session)).status).toBe(204)
    expect((await fetchTask(session, task)).status).toBe(404)
    expect(
      (await send(service, 'GET', `${path}/plan/${planId}`, undefined, { tenant: session })).status,
    ).toBe(404)
  })
})

describe('nothing is planned', () => {
  test('where a filter or mask applies, whatever the operation', async () => {
    const session = await held()
    const { 'plan-id': planId, 'plan-tasks': [task] = [] } = await ok(await ask(session))
    const { sightFor } = service.app.gateway
    Object.assign(service.app.gateway, { sightFor: async () => ({ masked: true, uncontracted: undefined }) })
    try {
      for (const response of [
        await ask(session),
        await ask(session, {}, signed),
        await ask(await held(tenant, ['commit'])),
        await fetchTask(session, task),
        await send(service, 'GET', `${path}/plan/${planId}`, undefined, { tenant: session }),
      ]) {
        const [status, message] = await refused(response)
        expect([status, message]).toEqual([403, expect.stringContaining('row filters or column masks')])
      }
      const loaded = await send(service, 'GET', path, undefined, { tenant: session, headers: signed })
      expect(await loaded.text()).not.toContain('scan-planning-mode')
    } finally {
      Object.assign(service.app.gateway, { sightFor })
    }
    expect((await fetchTask(session, task)).status).toBe(200)
  })

  test.each([
    { 'required-row-filter': { type: 'eq', term: 'id', value: 1 } },
    { 'required-column-projections': 'all' },
    'nonsense',
  ])('where the upstream restricts reading: %j', async (restrictions) => {
    const { answer } = upstream
    upstream.answer = () => ({ config: {}, 'read-restrictions': restrictions })
    try {
      const [status, message] = await refused(await ask(await held()))
      expect([status, message]).toEqual([403, expect.stringContaining('restricts reading')])
    } finally {
      upstream.answer = answer
    }
  })

  test('of another snapshot than the pinned, else the current one', async () => {
    const session = await held()
    const { 'plan-tasks': [task] = [] } = await ok(await ask(session))
    const pin = { schemaId: 0n, catalog: prefix }
    await pinTable(service.store, tenant.tenant, change, { ...pin, snapshotId: snapshotId + 1n })
    try {
      expect((await refused(await fetchTask(session, task)))[1]).toContain(
        'is not the one that the table is pinned to',
      )
      const body = `{"snapshot-id":${snapshotId}}`
      const named = await send(service, 'POST', `${path}/plan`, body, { tenant: session })
      expect((await refused(named))[1]).toContain('its pinned snapshot only')
    } finally {
      await unpinTable(service.store, tenant.tenant, change)
    }
    const current = await send(service, 'POST', `${path}/plan`, `{"snapshot-id":${snapshotId}}`, {
      tenant: session,
    })
    expect(current.status).toBe(200)
    const other = await send(service, 'POST', `${path}/plan`, '{"snapshot-id":1}', { tenant: session })
    expect((await refused(other))[1]).toContain('its current snapshot only')
  })

  test('of a quarantined snapshot', async () => {
    const session = await held()
    const credential = await findCatalogCredential(service.store, tenant.tenant, prefix)
    if (credential === undefined) throw new Error('the tenant has no catalog credential')
    const id = await quarantineSnapshot(
      service.store,
      tenant.tenant,
      catalogOf(credential),
      snapshotId,
      table.name,
    )
    expect((await refused(await ask(session)))[1]).toContain('is quarantined')
    expect((await ask(await held(foreign))).status).toBe(200)
    await releaseSnapshot(service.store, tenant.tenant, id, 'agreed', actorOf('stella'))
    expect((await ask(session)).status).toBe(200)
  })

  test('of files in another table’s folder, even where the tenant observes its territory', async () => {
    const { url } = upstream
    const observes = await addTenant(service.store, 'observes', url, signs(upstream.s3Url))
    await openUncontracted(service.store, observes)
    await take(service.store, observes.tenant, 'owner', 's3://lake/sales/people/')
    const [status, message] = await refused(await ask(await held(observes)))
    expect([status, message]).toEqual([403, expect.stringContaining('files outside of its territory')])
  })

  test('without a license for it', async () => {
    const { licensed } = service.app.gateway
    const none = () => {
      throw new Fault('forbidden', 'no license')
    }
    Object.assign(service.app.gateway, { licensed: { require: none } })
    try {
      expect((await ask(await held())).status).toBe(403)
    } finally {
      Object.assign(service.app.gateway, { licensed })
    }
  })

  test('in steps from one snapshot to another', async () => {
    const [status] = await refused(await ask(await held(), { 'start-snapshot-id': 1, 'end-snapshot-id': 2 }))
    expect(status).toBe(406)
  })

  test.each([
    [{ filter: { type: 'like' } }],
    [{ filter: 'id = 1' }],
    [{ 'case-sensitive': 'no' }],
    [{ 'snapshot-id': 'x' }],
  ])('for a malformed request: %j', async (body) => {
    expect((await ask(await held(), body)).status).toBe(400)
  })

  test('by presigned addresses where a delete file names its data files by path', async () => {
    const session = await held(withDeletes)
    const [status, message] = await refused(await ask(session))
    expect([status, message]).toEqual([406, expect.stringContaining('position delete files')])
    const plan = await ok(await ask(session, {}, signed))
    expect(plan['file-scan-tasks'][0]?.['delete-file-references']).toEqual([0])
    expect(plan['delete-files']).toMatchObject([{ content: 'position-deletes', 'file-format': 'parquet' }])
  })
})
