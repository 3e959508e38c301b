/** Requests to the Iceberg surface that are sent again by their Idempotency-Key. */

import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnsecuredJWT } from 'jose'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  schemaOf,
  setProperties,
} from '../../../demo/commits.ts'
import type { App } from '../../../src/app.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { limits } from '../../../src/limits.ts'
import { listDecisions } from '../../../src/store/commit/decision-list.ts'
import { removeExpiredKeys } from '../../../src/store/commit/idempotency-keys.ts'
import { putReadSettings } from '../../../src/store/contract/read-settings.ts'
import { deletePolicy } from '../../../src/store/policy/policies.ts'
import { actorOf } from '../../support/actor.ts'
import { countStatements } from '../../support/counted-store.ts'
import { startCrashService } from '../../support/crash-service.ts'
import { passOn } from '../../support/recording-proxy.ts'
import {
  addTenant,
  metric,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { govern, messageOf, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

type Answer = (pass: () => Promise<Response>) => Promise<Response>

const counted = countStatements()
let service: TestService
let replica: App
let proxy: ReturnType<typeof Bun.serve>
let tenant: TestTenant
let folder: string
/** Changes that reached the catalog, with their keys. */
let forwarded: { readonly path: string; readonly key: string | null }[] = []
/** How the catalog answers the next change. */
let answerNext: Answer | undefined
let names = 0
const unused = () => `n${++names}`
const newKey = () => Bun.randomUUIDv7()

beforeAll(async () => {
  service = await startTestService({
    intentTimes: { leaseMs: limits.intentLeaseMs, upstreamMs: 0 },
    wrapStore: counted.wrap,
  })
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      const body = await request.bytes()
      const pass = async () => (await passOn(request, service.catalog.url, body)).answer
      if (!['POST', 'DELETE'].includes(request.method) || path.endsWith('/tokens')) return await pass()
      forwarded.push({ path, key: request.headers.get('idempotency-key') })
      const how = answerNext
      answerNext = undefined
      return how === undefined ? await pass() : await how(pass)
    },
  })
  tenant = await addTenant(service.store, 'keyed', proxy.url.href.replace(/\/$/, ''))
  folder = await mkdtemp(join(tmpdir(), 'covenant-test-'))
  replica = await startCrashService(service.store, join(folder, 'journal'))
})
afterEach(() => {
  answerNext = undefined
  forwarded = []
})
afterAll(async () => {
  await replica.stop()
  await proxy.stop(true)
  await service[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

type Sent = readonly [method: string, path: string, body?: unknown]

/** Sends a request with a key. */
const keyed = (key: string, [method, path, body]: Sent, more: Parameters<typeof send>[4] = {}) =>
  send(service, method, path, body, { tenant, ...more, headers: { 'idempotency-key': key, ...more.headers } })

/** Sends past the gateway. */
async function direct(method: string, path: string, body?: unknown): Promise<Response> {
  const token = await fetch(`${service.catalog.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'gateway',
      client_secret: 's3cret',
    }),
  })
  const { access_token } = (await token.json()) as { access_token: string }
  return await fetch(`${service.catalog.url}/v1/dev${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
  })
}

const tablesPath = '/namespaces/sales/tables'
const named = (name: string) => ({ namespace: ['sales'], name })

async function newTable(): Promise<string> {
  const name = unused()
  expect((await direct('POST', tablesPath, JSON.parse(createTable(name)))).status).toBe(200)
  return name
}

const commitOf = (name: string, owner = 'ops'): Sent => [
  'POST',
  `${tablesPath}/${name}`,
  JSON.parse(setProperties({ owner })),
]
const decisions = async (name: string, of = tenant) =>
  (await listDecisions(service.store, of.tenant, { table: named(name), limit: 100 })).items

const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, representations: [] }
const viewOf = (name: string) => ({
  ...{ name, schema: schemaOf(orderFields), 'view-version': version, properties: {} },
})

async function newView(): Promise<string> {
  const name = unused()
  expect((await direct('POST', '/namespaces/sales/views', viewOf(name))).status).toBe(200)
  return name
}

async function newNamespace(): Promise<string> {
  const name = unused()
  expect((await direct('POST', '/namespaces', { namespace: [name] })).status).toBe(200)
  return name
}

const operations: readonly (readonly [string, () => Promise<Sent>])[] = [
  ['a commit', async () => commitOf(await newTable())],
  ['a creation of a table', async () => ['POST', tablesPath, JSON.parse(createTable(unused()))]],
  [
    'a registration',
    async () => {
      const from = (await (await direct('GET', `${tablesPath}/${await newTable()}`)).json()) as Record<
        string,
        unknown
      >
      const body = { name: unused(), 'metadata-location': from['metadata-location'] }
      return ['POST', '/namespaces/sales/register', body]
    },
  ],
  [
    'a rename of a table',
    async () => ['POST', '/tables/rename', { source: named(await newTable()), destination: named(unused()) }],
  ],
  ['a drop of a table', async () => ['DELETE', `${tablesPath}/${await newTable()}`]],
  ['a creation of a view', async () => ['POST', '/namespaces/sales/views', viewOf(unused())]],
  [
    'a rename of a view',
    async () => ['POST', '/views/rename', { source: named(await newView()), destination: named(unused()) }],
  ],
  ['a drop of a view', async () => ['DELETE', `/namespaces/sales/views/${await newView()}`]],
  [
    'a creation of a namespace',
    async () => ['POST', '/namespaces', { namespace: [unused()], properties: { a: 'b' } }],
  ],
  [
    'a change of properties',
    async () => ['POST', `/namespaces/${await newNamespace()}/properties`, { updates: { k: 'v' } }],
  ],
  ['a drop of a namespace', async () => ['DELETE', `/namespaces/${await newNamespace()}`]],
  [
    'a transaction',
    async () => {
      const changes = [commitOf(await newTable()), commitOf(await newTable())].map(([, path, body]) => ({
        identifier: named(path.split('/').at(-1) ?? ''),
        ...(body as object),
      }))
      return ['POST', '/transactions/commit', { 'table-changes': changes }]
    },
  ],
]

describe('a request that was made is not made again by its key, and is answered as before:', () => {
  test.each(operations)('%s', async (_what, make) => {
    const sent = await make()
    const key = newKey()
    forwarded = []
    const first = await keyed(key, sent)
    const made = forwarded.length
    const rows = (await listDecisions(service.store, tenant.tenant, { limit: 1_000 })).items.length
    const second = await keyed(key, sent)
    expect([200, 204]).toContain(first.status)
    expect(second.status).toBe(first.status)
    expect(second.headers.get('x-svc-decision-id')).toBe(first.headers.get('x-svc-decision-id') ?? '')
    expect([first, second].map(({ headers }) => headers.get('x-svc-replayed'))).toEqual([null, 'true'])
    expect(forwarded).toHaveLength(made)
    expect((await listDecisions(service.store, tenant.tenant, { limit: 1_000 })).items).toHaveLength(rows)
    const [one, two] = [await first.text(), await second.text()]
    expect(two === '' ? two : JSON.parse(two)).toEqual(one === '' ? one : JSON.parse(one))
  })

  test('by another replica', async () => {
    const sent = commitOf(await newTable())
    const key = newKey()
    expect((await keyed(key, sent)).status).toBe(200)
    const second = await send({ ...service, app: replica }, sent[0], sent[1], sent[2], {
      tenant,
      headers: { 'idempotency-key': key },
    })
    expect([second.status, second.headers.get('x-svc-replayed'), forwarded.length]).toEqual([200, 'true', 1])
  })

  test('a commit, with the state that its table has by then', async () => {
    const name = await newTable()
    const key = newKey()
    expect((await keyed(key, commitOf(name))).status).toBe(200)
    expect((await send(service, ...commitOf(name, 'dev'), { tenant })).status).toBe(200)
    const { metadata } = (await (await keyed(key, commitOf(name))).json()) as {
      metadata: { properties: Record<string, string> }
    }
    expect(metadata.properties).toMatchObject({ owner: 'dev' })
  })

  test('a commit whose table is gone is unknown to its client, who then cleans nothing up', async () => {
    const name = await newTable()
    const key = newKey()
    expect((await keyed(key, commitOf(name))).status).toBe(200)
    expect((await direct('DELETE', `${tablesPath}/${name}`)).status).toBe(204)
    const second = await keyed(key, commitOf(name))
    expect(second.status).toBe(502)
    expect(await second.json()).toMatchObject({ error: { type: 'CommitStateUnknownException' } })
  })
})

describe('a request that was refused is refused again by its key,', () => {
  test('if a policy denied it: with the same sentence and decision, and one row in the audit log', async () => {
    const name = await newTable()
    await govern(service, named(name), name, 'schema', 'false', { message: 'never', tenant })
    const key = newKey()
    const first = await keyed(key, commitOf(name))
    await deletePolicy(service.store, tenant.tenant, name)
    const second = await keyed(key, commitOf(name))
    expect([first.status, second.status]).toEqual([403, 403])
    expect(second.headers.get('x-svc-decision-id')).toBe(first.headers.get('x-svc-decision-id') ?? '')
    expect(await messageOf(second)).toBe(await messageOf(first))
    expect(await decisions(name)).toMatchObject([{ decision: 'REJECTED' }])
    expect((await keyed(newKey(), commitOf(name))).status).toBe(200)
  })

  test('if what it asked for was there, although it is gone by then', async () => {
    const name = await newTable()
    const create: Sent = ['POST', tablesPath, JSON.parse(createTable(name))]
    const key = newKey()
    const first = await keyed(key, create)
    expect((await direct('DELETE', `${tablesPath}/${name}`)).status).toBe(204)
    const second = await keyed(key, create)
    expect([first.status, second.status]).toEqual([409, 409])
    expect(await second.text()).toBe(await first.text())
    expect((await keyed(newKey(), create)).status).toBe(200)
  })

  test('if the catalog refused it', async () => {
    const sent = commitOf(await newTable())
    const key = newKey()
    const refusal = { error: { message: 'no', type: 'CommitFailedException', code: 409 } }
    answerNext = async () => Response.json(refusal, { status: 409 })
    expect([(await keyed(key, sent)).status, (await keyed(key, sent)).status]).toEqual([409, 409])
    expect(forwarded).toHaveLength(1)
  })
})

test('a commit that was made is not judged again by its key, and leaves no denial', async () => {
  const name = await newTable()
  const key = newKey()
  expect((await keyed(key, commitOf(name))).status).toBe(200)
  await govern(service, named(name), name, 'schema', 'false', { tenant })
  expect((await keyed(key, commitOf(name))).status).toBe(200)
  expect(await decisions(name)).toMatchObject([{ decision: 'APPROVED' }])
  const drop: Sent = ['DELETE', `${tablesPath}/${name}`]
  expect((await keyed(newKey(), drop)).status).toBe(403)
})

describe('a key is', () => {
  test.each<readonly [string, (sent: Sent) => Sent]>([
    ['body', ([method, path]) => [method, path, JSON.parse(setProperties({ owner: 'other' }))]],
    ['table', ([method, , body]) => [method, `${tablesPath}/orders`, body]],
    ['operation', ([, path]) => ['DELETE', path]],
  ])('refused for another %s, which changes nothing', async (_what, other) => {
    const sent = commitOf(await newTable())
    const key = newKey()
    expect((await keyed(key, sent)).status).toBe(200)
    expect((await keyed(key, other(sent))).status).toBe(422)
    expect(forwarded).toHaveLength(1)
  })

  test('refused for another principal', async () => {
    const sent = commitOf(await newTable())
    const key = newKey()
    expect((await keyed(key, sent)).status).toBe(200)
    const authorization = `Bearer ${new UnsecuredJWT({ sub: 'trino' }).encode()}`
    expect((await keyed(key, sent, { headers: { authorization } })).status).toBe(422)
  })

  test('another one for another tenant', async () => {
    const foreign = await addTenant(service.store, `foreign-${unused()}`, service.catalog.url)
    const name = await newTable()
    const key = newKey()
    expect((await keyed(key, commitOf(name))).status).toBe(200)
    const second = await keyed(key, commitOf(name, 'dev'), { tenant: foreign })
    expect([second.status, second.headers.get('x-svc-replayed')]).toEqual([200, null])
    expect(await decisions(name, foreign)).toHaveLength(1)
  })

  test.each([
    ['k1'],
    ['017F22E279B07CC398C4DC0C0C07398F'],
    [crypto.randomUUID()],
    [`${Bun.randomUUIDv7()} `.repeat(2)],
  ])('refused where it is malformed: %s', async (key) => {
    expect((await keyed(key, commitOf(await newTable()))).status).toBe(400)
    expect(forwarded).toEqual([])
  })

  test('the same in capital letters', async () => {
    const sent = commitOf(await newTable())
    const key = newKey()
    expect((await keyed(key.toUpperCase(), sent)).status).toBe(200)
    expect((await keyed(key, sent)).headers.get('x-svc-replayed')).toBe('true')
  })

  test('ignored by reads', async () => {
    expect((await keyed('k1', ['GET', `${tablesPath}/orders`])).status).toBe(200)
  })

  test('free again after 24 hours, and then removed', async () => {
    const sent = commitOf(await newTable())
    const key = newKey()
    expect((await keyed(key, sent)).status).toBe(200)
    await service.store.tenantQuery(
      tenant.tenant,
      `update svc.idempotency_key set claimed_at = claimed_at - interval '24 hours' where key = $1`,
      [key],
    )
    const again = await keyed(key, sent)
    expect([again.status, again.headers.get('x-svc-replayed'), forwarded.length]).toEqual([200, null, 2])
    expect(await removeExpiredKeys(service.store, tenant.tenant)).toBe(0)
    await service.store.tenantQuery(
      tenant.tenant,
      `update svc.idempotency_key set claimed_at = claimed_at - interval '24 hours' where key = $1`,
      [key],
    )
    expect(await removeExpiredKeys(service.store, tenant.tenant)).toBe(1)
  })
})

describe('a request whose first sending is not decided', () => {
  test.each([['the same replica'], ['another']])('is 503 with Retry-After, by %s', async (by) => {
    const sent = commitOf(await newTable())
    const key = newKey()
    const reached = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    answerNext = async (pass) => {
      reached.resolve()
      await held.promise
      return await pass()
    }
    const first = keyed(key, sent)
    await reached.promise
    const through = by === 'another' ? { ...service, app: replica } : service
    const second = await send(through, ...sent, { tenant, headers: { 'idempotency-key': key } })
    held.resolve()
    expect((await first).status).toBe(200)
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await keyed(key, sent)).headers.get('x-svc-replayed')).toBe('true')
    expect(forwarded).toHaveLength(1)
  })

  test('and that is sent by many at once is made once', async () => {
    const sent = commitOf(await newTable())
    const key = newKey()
    const through = (index: number) => (index % 2 === 0 ? service : { ...service, app: replica })
    const once = (index: number) =>
      send(through(index), ...sent, { tenant, headers: { 'idempotency-key': key } })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => once(index)))
    expect(new Set(answers.map(({ status }) => status)).isSubsetOf(new Set([200, 503]))).toBe(true)
    expect(forwarded).toHaveLength(1)
    expect((await once(1)).status).toBe(200)
  })

  test.each([
    ['made', true],
    ['not made', false],
  ])('waits for recovery, and is made once in all where it was %s', async (_what, isMade) => {
    const name = await newTable()
    const key = newKey()
    answerNext = async (pass) => {
      if (isMade) await pass()
      return new Response('{}', { status: 500 })
    }
    const first = await keyed(key, commitOf(name))
    if (first.status === 502) {
      expect((await keyed(key, commitOf(name))).status).toBe(503)
      await service.store.adminQuery(`update svc.commit_intent set lease_until = '-infinity'`)
      await recoverIntents(service.app.gateway)
    }
    const again = await keyed(key, commitOf(name))
    expect([again.status, again.headers.get('x-svc-replayed')]).toEqual([200, isMade ? 'true' : null])
    expect(forwarded).toHaveLength(isMade ? 1 : 2)
    expect(await decisions(name)).toMatchObject([{ decision: 'APPROVED' }])
  })

  test('is made where it had no verdict', async () => {
    const name = await newTable()
    await govern(service, named(name), name, 'schema', 'table.nothing == 1', { tenant })
    const key = newKey()
    expect((await keyed(key, commitOf(name))).status).toBe(503)
    await deletePolicy(service.store, tenant.tenant, name)
    expect((await keyed(key, commitOf(name))).status).toBe(200)
  })

  test('is made where the catalog was too busy', async () => {
    const sent = commitOf(await newTable())
    const key = newKey()
    answerNext = async () => new Response('{}', { status: 429, headers: { 'retry-after': '1' } })
    expect((await keyed(key, sent)).status).toBe(429)
    expect((await keyed(key, sent)).status).toBe(200)
  })
})

test('a repeat is measured as one', async () => {
  const sent = commitOf(await newTable())
  const key = newKey()
  const series = 'svc_gateway_commit_duration_ms_count{outcome="replayed"}'
  expect((await keyed(key, sent)).status).toBe(200)
  const before = await metric(service, series)
  expect((await keyed(key, sent)).status).toBe(200)
  expect(await metric(service, series)).toBe(before + 1)
})

test('a key asks the store nothing more', async () => {
  const name = await newTable()
  const takes = async (more: Readonly<Record<string, string>>) => {
    counted.take()
    expect((await send(service, ...commitOf(name), { tenant, headers: more })).status).toBe(200)
    return counted.take()
  }
  await takes({})
  const without = await takes({})
  expect(await takes({ 'idempotency-key': newKey() })).toBe(without)
})

test('a commit that the gateway sends once more after a conflict of its own has the key the first time only', async () => {
  const name = await newTable()
  await govern(service, named(name), name, 'schema', 'manifest.has_column(commit.result, "amount")', {
    mode: 'warn',
    tenant,
  })
  const loaded = await send(service, 'GET', `${tablesPath}/${name}`, undefined, { tenant })
  const { metadata } = (await loaded.json()) as { metadata: { location: string } }
  const schema = schemaOf(orderFields.filter((field) => field.name !== 'amount'))
  answerNext = async (pass) => {
    const updates = [
      { action: 'add-schema', schema },
      { action: 'set-current-schema', 'schema-id': -1 },
    ]
    expect((await direct('POST', `${tablesPath}/${name}`, { requirements: [], updates })).status).toBe(200)
    return await pass()
  }
  const key = newKey()
  const append = appendSnapshot({
    ...{ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() },
    manifestList: `${metadata.location}/metadata/1.avro`,
  })
  const sent: Sent = ['POST', `${tablesPath}/${name}`, append]
  expect((await keyed(key, sent)).status).toBe(200)
  expect(forwarded.map((one) => one.key)).toEqual([key, null])
  expect((await keyed(key, sent)).headers.get('x-svc-replayed')).toBe('true')
})

test('a view that another has replaced since is not shown by a repeat to whom its tables are denied', async () => {
  const view = unused()
  const sent: Sent = ['POST', '/namespaces/sales/views', viewOf(view)]
  const key = newKey()
  expect((await keyed(key, sent)).status).toBe(200)
  const secret = { type: 'sql', sql: 'select canary from sales.secret', dialect: 'spark' }
  const updates = [
    {
      action: 'add-view-version',
      'view-version': { ...version, 'version-id': 2, representations: [secret] },
    },
    { action: 'set-current-view-version', 'view-version-id': 2 },
  ]
  expect((await direct('POST', `/namespaces/sales/views/${view}`, { requirements: [], updates })).ok).toBe(
    true,
  )
  await putReadSettings(service.store, tenant.tenant, actorOf('stella'), { uncontracted: 'denied' })
  const again = await keyed(key, sent)
  await putReadSettings(service.store, tenant.tenant, actorOf('stella'), { uncontracted: 'to_writers' })
  expect(again.status).toBe(502)
  expect(await again.text()).not.toContain('canary')
})
