/** What the Iceberg surface gives to callers from whom nothing is hidden leaves usage records: whose, of what, how often. */

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { putMask } from '../../../src/contract/put-mask.ts'
import { operator } from '../../../src/core/administration.ts'
import { type RawRead, rawReadBounds } from '../../../src/core/raw-read.ts'
import { RawReadRecorder } from '../../../src/gateway/base/raw-read-recorder.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { putTrustedEngine } from '../../../src/store/session/trusted-engines.ts'
import { actorOf } from '../../support/actor.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseFor } from '../../support/license.ts'
import {
  addTenant,
  openUncontracted,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { startSts, stsKeys, type TestSts } from '../../support/sts.ts'
import { send } from '../../support/surface.ts'
import { enforceTerritory } from '../../support/territory.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

const people = { namespace: ['sales'], name: 'people' }
const path = '/namespaces/sales/tables/people'
/** The start of a minute, after which the clock stands. */
let nowMs = Math.ceil(Date.now() / 60_000) * 60_000
let service: TestService
let snapshotId = ''
let upstream: VendingUpstream
let sts: TestSts
let signs: TestTenant
let vends: TestTenant
let foreign: TestTenant

beforeAll(async () => {
  sts = startSts(() => nowMs)
  service = await startTestService({
    env: { SVC_LICENSE: licenseFor('vending') },
    clock: { now: () => nowMs },
  })
  upstream = await startVendingUpstream({
    write: async (writer) => {
      snapshotId = String((await writer.append([{ rows: [{ id: 1, email: 'a@example.com' }] }])).snapshotId)
    },
  })
  const config = {
    ...vendedTo('own', upstream.s3Url),
    ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'], 'vending.mode': 'sign' },
  }
  signs = await addTenant(service.store, 'signs', upstream.url, config)
  foreign = await addTenant(service.store, 'other', upstream.url, config)
  vends = await addTenant(service.store, 'vends', upstream.url, {
    ...{ ...config, 'vending.mode': 'vend', 'vending.role-arn': 'arn:aws:iam::123456789012:role/reader' },
    ...{ 'vending.access-key-id': stsKeys.accessKeyId, 'vending.secret-access-key': stsKeys.secretAccessKey },
    'vending.sts-endpoint': sts.url,
  })
  await openUncontracted(service.store, service.owner, signs, foreign, vends)
  for (const { tenant } of [signs, foreign, vends]) {
    await enforceTerritory(service.store, tenant)
    await commitColumns(service.store, tenant, people, { id: 'long', email: 'string' })
  }
})
beforeEach(async () => {
  await written()
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await sts[Symbol.asyncDispose]()
})

interface Held extends TestTenant {
  readonly id: string
  readonly sub: string
}
/** A session with a subject of its own, that is sent alone. */
async function held(of: TestTenant, roles: readonly string[] = []): Promise<Held> {
  const sub = `service:${crypto.randomUUID()}`
  const made = await createServiceSession(service.store, of.tenant, {
    ...{ name: sub, principal: { sub, roles }, scopes: ['read'] },
  })
  return { tenant: of.tenant, sub, ...made }
}
const alone = { authorization: 'Bearer None' }
const load = (as: TestTenant, headers: Readonly<Record<string, string>> = {}) =>
  send(service, 'GET', path, undefined, { tenant: as, headers: { ...alone, ...headers } })
const ok = async (response: Response) => {
  const text = await response.text()
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  return JSON.parse(text)
}

/** Lets the minute end, and waits for its records. */
async function written(): Promise<void> {
  nowMs += rawReadBounds.windowMs
  await service.app.gateway.rawReads.flush()
}

interface Shown {
  readonly principal: string
  readonly surface: string
  readonly reads: readonly { readonly table: object; readonly columns: readonly string[] }[]
  readonly raw_read?: { readonly given: string; readonly times: number }
}
/** The records of a subject, oldest first, as a steward is shown them. */
async function recordsOf(of: TestTenant, sub: string): Promise<readonly Shown[]> {
  await written()
  const secret = await session(service, of.tenant, ['read'], ['steward'], 'stella')
  const listed = `/api/v1/usage?principal=${encodeURIComponent(sub)}`
  const { items } = await ok(await call(service, 'GET', listed, { secret }))
  return items.toReversed()
}

test('loads of one session within a minute are one record with their number', async () => {
  const reader = await held(signs)
  const startedMs = nowMs
  await ok(await load(reader))
  nowMs += 30_000
  await ok(await load(reader))
  await ok(await load(reader))
  expect(await recordsOf(signs, reader.sub)).toEqual([
    expect.objectContaining({
      ...{ principal: reader.sub, principal_source: 'session', surface: 'iceberg', catalog: 'main' },
      ...{ outcome: 'completed', rows_out: 0, contracts: [], policies: [] },
      started_at: new Date(startedMs).toISOString(),
      reads: [{ table: people, columns: [] }],
      raw_read: {
        ...{ session_id: reader.id, given: 'load', times: 3, protection: 'none' },
        last_at: new Date(startedMs + 30_000).toISOString(),
      },
    }),
  ])
  await ok(await load(reader))
  expect(await recordsOf(signs, reader.sub)).toHaveLength(2)
})

test('a load that is answered with 304 counts as one', async () => {
  const reader = await held(service.owner)
  const at = '/namespaces/sales/tables/orders'
  const ask = (headers: Readonly<Record<string, string>>) =>
    send(service, 'GET', at, undefined, { tenant: reader, headers: { ...alone, ...headers } })
  const first = await ask({})
  await ok(first)
  expect((await ask({ 'if-none-match': first.headers.get('etag') ?? '' })).status).toBe(304)
  const [record] = await recordsOf(service.owner, reader.sub)
  expect(record?.raw_read).toMatchObject({ given: 'load', times: 2 })
})

test('signatures, plans and credentials each leave a record; a plan and a signature name the snapshot', async () => {
  const reader = await held(signs)
  const wish = { 'x-iceberg-access-delegation': 'remote-signing' }
  const { config } = await ok(await load(reader, wish))
  const post = (to: string, body: object) =>
    fetch(new URL(to, service.app.url), { method: 'POST', body: JSON.stringify(body) })
  const { 'file-scan-tasks': tasks } = await ok(
    await send(service, 'POST', `${path}/plan`, {}, { tenant: reader, headers: { ...alone, ...wish } }),
  )
  const location: string = tasks[0]['data-file']['file-path']
  const uri = location.replace('s3://', `${upstream.s3Url}/`)
  for (let times = 0; times < 3; times++)
    await ok(
      await post(`/v1/iceberg/main/${config['signer.endpoint']}`, {
        ...{ method: 'GET', region: 'eu-central-1', uri, headers: {} },
      }),
    )
  const given = (records: readonly Shown[]) =>
    records.map((one) => [one.raw_read?.given, one.raw_read?.times])
  const signed = await recordsOf(signs, reader.sub)
  expect(given(signed)).toEqual([
    ['load', 1],
    ['plan', 1],
    ['sign', 3],
  ])
  for (const { reads } of signed.slice(1)) expect(reads).toMatchObject([{ snapshot_id: snapshotId }])

  const vended = await held(vends)
  await ok(await load(vended, { 'x-iceberg-access-delegation': 'vended-credentials' }))
  await ok(await send(service, 'GET', `${path}/credentials`, undefined, { tenant: vended, headers: alone }))
  expect(given(await recordsOf(vends, vended.sub))).toEqual([
    ['load', 1],
    ['credentials', 2],
  ])
})

test('records tell an exempt principal from a table without masks, and a trusted engine that is told them', async () => {
  const own = await addTenant(service.store, 'masks', upstream.url, {
    ...vendedTo('own', upstream.s3Url),
    ...{ credential: undefined, token: 'people', storage_roots: ['s3://lake/sales'] },
  })
  await openUncontracted(service.store, own)
  await commitColumns(service.store, own.tenant, people, { id: 'long', email: 'string' })
  await putMask(
    {
      ...{ store: service.store, tenant: own.tenant, actor: actorOf('stella') },
      checkPolicies: () => [],
    },
    { table: people, column: 'email' },
    { id: 'email-mask', action: 'mask-alphanum', expression: undefined, exemptRoles: ['officer'] },
  )
  const protections = async ({ sub }: Held) => (await recordsOf(own, sub)).map(({ raw_read }) => raw_read)
  const officer = await held(own, ['officer'])
  await ok(await load(officer))
  expect(await protections(officer)).toMatchObject([{ given: 'load', protection: 'exempt' }])
  const engine = await held(own)
  await putTrustedEngine(service.store, own.tenant, engine.id, true, operator())
  expect(await ok(await load(engine))).toHaveProperty('read-restrictions')
  expect(await protections(engine)).toMatchObject([{ given: 'load', protection: 'told' }])
  const masked = await held(own)
  await ok(await load(masked))
  expect(await protections(masked)).toEqual([])
})

test('a record is of its tenant alone', async () => {
  const reader = await held(signs)
  await ok(await load(reader))
  const other = await session(service, foreign.tenant, ['read'], ['steward'], 'mallory')
  await written()
  const { items } = await ok(
    await call(service, 'GET', `/api/v1/usage?principal=${encodeURIComponent(reader.sub)}`, {
      secret: other,
    }),
  )
  expect(items).toEqual([])
  const count = async ({ tenant }: TestTenant) => {
    const rows = await service.store.tenantQuery(
      tenant,
      `select 1 from svc.query_usage where surface = 'iceberg' and principal_sub = $1`,
      [reader.sub],
    )
    return rows.length
  }
  expect([await count(signs), await count(foreign)]).toEqual([1, 0])
})

test('reads are added to the totals of their table', async () => {
  const reader = await held(signs)
  await ok(await load(reader))
  await written()
  const secret = await session(service, signs.tenant, ['read'], ['steward'], 'stella')
  const asked = `/api/v1/usage/totals?by=table&principal=${encodeURIComponent(reader.sub)}`
  const { items } = await ok(await call(service, 'GET', asked, { secret }))
  expect(items).toMatchObject([{ key: 'sales.people', queries: 1 }])
})

const noted: Omit<RawRead, 'tenant'> = {
  ...{ principal: 'ann', principalSource: 'session', sessionId: undefined, catalog: 'main', table: people },
  given: 'sign',
  protection: 'none',
}

test('what the store refuses is written later, once, and what is left is written at the end', async () => {
  const { tenant } = foreign
  const { store } = service
  const log = { warn: () => {}, error: () => {} } as never
  const recorder = new RawReadRecorder({ store, log, clock: { now: () => nowMs } })
  const all = () =>
    store.tenantQuery<{ readonly given_times: string }>(
      tenant,
      `select given_times::text from svc.query_usage where principal_sub = 'ann' order by started_at`,
    )
  recorder.note({ ...noted, tenant, snapshotId: '1' })
  recorder.note({ ...noted, tenant, snapshotId: '2' })
  await recorder.flush()
  expect(await all()).toEqual([])
  nowMs += rawReadBounds.windowMs
  const refuses = spyOn(store, 'tenantTransaction').mockRejectedValueOnce(new Error('away'))
  await recorder.flush()
  refuses.mockRestore()
  expect(await all()).toEqual([])
  await recorder.flush()
  await recorder.flush()
  expect(await all()).toEqual([{ given_times: '2' }])
  nowMs += 1
  recorder.note({ ...noted, tenant })
  await recorder.stop()
  expect(await all()).toEqual([{ given_times: '2' }, { given_times: '1' }])
})

test('beyond a bound, notes are counted in the log', async () => {
  const errors: object[] = []
  const log = { warn: () => {}, error: (about: object) => void errors.push(about) } as never
  const bounds = { ...rawReadBounds, pendingMax: 1 }
  const { store } = service
  const recorder = new RawReadRecorder({ store, log, clock: { now: () => nowMs } }, bounds)
  recorder.note({ ...noted, principal: 'bea', tenant: foreign.tenant })
  for (const principal of ['carl', 'dora']) recorder.note({ ...noted, principal, tenant: foreign.tenant })
  await recorder.stop()
  expect(errors).toEqual([{ dropped: 2 }])
})
