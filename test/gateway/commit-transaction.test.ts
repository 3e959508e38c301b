import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, createTable, firstSnapshotId, setProperties } from '../../demo/commits.ts'
import { limits } from '../../src/limits.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { putPolicy } from '../../src/store/policy/policies.ts'
import { failingStore } from '../support/failing-store.ts'
import { passOn, recordingProxy } from '../support/recording-proxy.ts'
import { addTenant, audit, commit, metric, startTestService, type TestService } from '../support/service.ts'
import { govern, send } from '../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(300_000)

/** Set by the tests that let the store fail. */
let failOn = /^never$/
let service: TestService
beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) => ({
      ...store,
      tenantQuery: (tenant, text, params, options) =>
        failingStore(store, failOn).tenantQuery(tenant, text, params, options),
      tenantCall: (tenant, name, params) => failingStore(store, failOn).tenantCall(tenant, name, params),
      sessionCall: (tenant, name, params) => failingStore(store, failOn).sessionCall(tenant, name, params),
    }),
  })
  for (const name of ['a', 'b', 'c'])
    expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(name))).status).toBe(200)
})
afterAll(() => service[Symbol.asyncDispose]())
afterEach(() => {
  failOn = /^never$/
  service.catalog.faults.reset()
})

const path = '/v1/iceberg/main/transactions/commit'
const change = (name: string, body = setProperties({ at: String(performance.now()) })) => ({
  identifier: { namespace: ['sales'], name },
  ...JSON.parse(body),
})
const bodyOf = (...changes: unknown[]) => JSON.stringify({ 'table-changes': changes })
const transact = (body: string, options = {}) => commit(service, body, { path, ...options })
const onSurface = (body: string) => send(service, 'POST', '/transactions/commit', body)

interface Results {
  readonly results: readonly { 'new-snapshot-id': unknown; 'new-metadata-location': string }[]
}

async function locationOf(name: string): Promise<string> {
  const loaded = await send(service, 'GET', `/namespaces/sales/tables/${name}`)
  return ((await loaded.json()) as { 'metadata-location': string })['metadata-location']
}

describe('a transaction that every policy allows', () => {
  test('commits each table and answers results in input order', async () => {
    const response = await transact(bodyOf(change('c'), change('a'), change('b')))
    expect(response.status).toBe(200)
    const { results } = (await response.json()) as Results
    const expected = await Promise.all(['c', 'a', 'b'].map(locationOf))
    expect(results.map((one) => one['new-metadata-location'])).toEqual(expected)
    expect(results.map((one) => one['new-snapshot-id'])).toEqual([null, null, null])
    expect((await audit(service)).slice(0, 3).map(({ table, decision }) => [table.name, decision])).toEqual([
      ['b', 'APPROVED'],
      ['a', 'APPROVED'],
      ['c', 'APPROVED'],
    ])
    const ids = response.headers.get('x-svc-decision-id')?.split(', ')
    expect(ids).toEqual(
      (await audit(service))
        .slice(0, 3)
        .map(({ commitId }) => commitId)
        .toReversed(),
    )
  })

  test('keeps snapshot ids above 2^53 exact', async () => {
    const append = appendSnapshot({ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() })
    const body = `{"table-changes":[{"identifier":{"namespace":["sales"],"name":"a"},${append.slice(1)}]}`
    expect(await (await transact(body)).text()).toContain(`"new-snapshot-id":${firstSnapshotId}`)
  })

  test('is 204 on the client surface', async () => {
    const response = await onSurface(bodyOf(change('a'), change('b')))
    expect(response.status).toBe(204)
    expect(response.headers.get('x-svc-decision-id')?.split(', ')).toHaveLength(2)
  })

  test('forwards nothing before every table is loaded, and then one table after the other', async () => {
    await using proxy = await recordingProxy(service.catalog.url)
    const tenant = await addTenant(service.store, 'proxied', proxy.url)
    const names = ['a', 'b', 'c']
    expect(
      (await transact(bodyOf(...names.map((name) => change(name))), { secret: tenant.secret })).status,
    ).toBe(200)
    const seen = proxy.exchanges.filter((one) => one.path.includes('/tables/'))
    expect(seen.slice(0, 3).map(({ method }) => method)).toEqual(['GET', 'GET', 'GET'])
    expect(seen.slice(3).map((one) => `${one.method} ${one.path.split('/').at(-1)}`)).toEqual(
      names.map((name) => `POST ${name}`),
    )
  })

  test('loads at most so many tables at once', async () => {
    let loading = 0
    let most = 0
    await using slow = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url)
        if (pathname.endsWith('/tokens')) return Response.json({ access_token: 't' })
        if (pathname.endsWith('/config')) return Response.json({})
        most = Math.max(most, ++loading)
        await Promise.resolve()
        await new Promise(setImmediate)
        loading--
        return Response.json(
          { error: { message: 'x', type: 'NoSuchTableException', code: 404 } },
          { status: 404 },
        )
      },
    })
    const tenant = await addTenant(service.store, 'slow', slow.url.href.replace(/\/$/, ''))
    const changes = Array.from({ length: 40 }, (_, i) => change(`t${i}`))
    const response = await transact(bodyOf(...changes), { secret: tenant.secret })
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('sales.t0')
    expect(most).toBeLessThanOrEqual(limits.transactionLoadsMax)
    expect(most).toBeGreaterThan(1)
  })
})

describe('a transaction in which one table is denied', () => {
  test('is 403 that names the table, forwards nothing, and audits that table alone', async () => {
    await govern(service, { namespace: ['sales'], name: 'b' }, 'no-b', 'write_acl', 'false', {
      name: 'hands off',
    })
    const rows = (await audit(service)).length
    const before = await Promise.all(['a', 'b', 'c'].map(locationOf))
    const denied = await metric(service, 'commit_rejected_total{reason="policy_denied"}')
    const response = await transact(bodyOf(change('a'), change('b'), change('c')))
    expect(response.status).toBe(403)
    expect(response.headers.get('content-type')).toStartWith('text/plain')
    expect(await response.text()).toBe('policy denied: sales.b: hands off')
    expect(await Promise.all(['a', 'b', 'c'].map(locationOf))).toEqual(before)
    const now = await audit(service)
    expect(now.length).toBe(rows + 1)
    expect(now[0]).toMatchObject({
      decision: 'REJECTED',
      reason: 'hands off',
      table: { name: 'b' },
      commitId: response.headers.get('x-svc-decision-id') ?? '',
    })
    expect(await metric(service, 'commit_rejected_total{reason="policy_denied"}')).toBe(denied + 1)
    expect(service.catalog.faults.counts.commit).toBe(0)

    const surface = await onSurface(bodyOf(change('a'), change('b')))
    expect(surface.status).toBe(403)
    expect(await surface.json()).toMatchObject({
      error: { message: 'policy denied: sales.b: hands off', type: 'ForbiddenException', code: 403 },
    })
    await govern(service, { namespace: ['sales'], name: 'b' }, 'no-b', 'write_acl', 'true')
  })

  test('is decided by the first table in input order', async () => {
    for (const name of ['x1', 'x2']) {
      expect((await send(service, 'POST', '/namespaces/sales/tables', createTable(name))).status).toBe(200)
      await govern(service, { namespace: ['sales'], name }, `no-${name}`, 'schema', 'false')
    }
    expect(await (await transact(bodyOf(change('x2'), change('x1')))).text()).toStartWith(
      'policy denied: sales.x2',
    )
    expect(await (await transact(bodyOf(change('a'), change('x1'), change('x2')))).text()).toStartWith(
      'policy denied: sales.x1',
    )
  })
})

test('an engine failure for any table is 503, forwards nothing and audits nothing', async () => {
  expect((await send(service, 'POST', '/namespaces/sales/tables', createTable('broken'))).status).toBe(200)
  await putPolicy(
    service.store,
    service.owner.tenant,
    { namespace: ['sales'], name: 'broken' },
    {
      id: 'broken',
      kind: 'schema',
      mode: 'enforce',
      name: 'broken',
      message: '',
      definitionCel: 'table.nothing == 1',
    },
  )
  const rows = (await audit(service)).length
  service.catalog.faults.reset()
  const response = await transact(bodyOf(change('a'), change('broken')))
  expect(response.status).toBe(503)
  expect(await response.text()).toBe('policy-engine-unavailable')
  expect(response.headers.get('retry-after')).not.toBeNull()
  const surface = await onSurface(bodyOf(change('a'), change('broken')))
  expect(surface.status).toBe(503)
  expect(surface.headers.get('retry-after')).not.toBeNull()
  expect(service.catalog.faults.counts.commit).toBe(0)
  expect((await audit(service)).length).toBe(rows)
})

test.each([
  ['denied', 'unjudged'],
  ['unjudged', 'denied'],
])('a denied table and one without a verdict are 503 in either order: %s, %s', async (first, second) => {
  const body = bodyOf(change(first), change(second))
  const values: Readonly<Record<string, string>> = { denied: 'false', unjudged: 'table.nothing == 1' }
  for (const [name, value] of Object.entries(values)) {
    await send(service, 'POST', '/namespaces/sales/tables', createTable(name))
    await govern(service, { namespace: ['sales'], name }, `rule-${name}`, 'schema', value)
  }
  const rows = (await audit(service)).length
  service.catalog.faults.reset()
  const denied = await metric(service, 'commit_rejected_total{reason="policy_denied"}')
  const response = await transact(body)
  expect(response.status).toBe(503)
  expect(await response.text()).toBe('policy-engine-unavailable')
  expect((await onSurface(body)).status).toBe(503)
  expect(service.catalog.faults.counts.commit).toBe(0)
  expect((await audit(service)).length).toBe(rows)
  expect(await metric(service, 'commit_rejected_total{reason="policy_denied"}')).toBe(denied)
})

describe('a failure after the first table', () => {
  const stale = { requirements: [{ type: 'assert-table-uuid', uuid: crypto.randomUUID() }], updates: [] }
  const conflicting = (name: string) => ({ ...change(name), ...stale })

  async function expectFirstStays(
    send: () => Promise<Response>,
    status: number,
    type: string,
  ): Promise<void> {
    const [a, rows] = [await locationOf('a'), await audit(service)]
    const response = await send()
    expect(response.status).toBe(status)
    const { error } = (await response.json()) as { error: { message: string; type: string } }
    expect(error.type).toBe(type)
    expect(error.message).toStartWith('sales.b: ')
    expect(await locationOf('a')).not.toBe(a)
    const added = (await audit(service)).slice(0, (await audit(service)).length - rows.length)
    expect(added).toMatchObject([{ decision: 'APPROVED', table: { name: 'a' } }])
  }

  test('is 409 on a conflict and names the table; the first commit stays and is audited', () =>
    expectFirstStays(
      () => transact(bodyOf(change('a'), conflicting('b'), change('c'))),
      409,
      'CommitFailedException',
    ))

  test('is 502 on the client surface even for a conflict, so that no client deletes files', () =>
    expectFirstStays(
      () => onSurface(bodyOf(change('a'), conflicting('b'))),
      502,
      'CommitStateUnknownException',
    ))

  test('is 502 where the second intent cannot be made durable', async () => {
    let opened = 0
    failOn = {
      test: (text: string) => /open_intent/.test(text) && ++opened === 2,
    } as RegExp
    await expectFirstStays(() => transact(bodyOf(change('a'), change('b'))), 502, 'BadGatewayException')
  })

  test('leaves no intent behind where the table was surely not committed', async () => {
    await transact(bodyOf(change('a'), conflicting('b'), change('c')))
    expect((await countIntents(service.store)).open).toBe(0)
  })

  test('of the first table itself is 409 on both paths, with nothing committed', async () => {
    const before = await locationOf('a')
    for (const send of [transact, onSurface]) {
      const response = await send(bodyOf(conflicting('b'), change('a')))
      expect(response.status).toBe(409)
      expect(await response.text()).toContain('sales.b: ')
    }
    expect(await locationOf('a')).toBe(before)
  })

  test('is 502 where the upstream fails', async () => {
    await using proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        if (request.method === 'POST' && new URL(request.url).pathname.endsWith('/tables/b'))
          return new Response('', { status: 500 })
        return (await passOn(request, service.catalog.url, await request.bytes())).answer
      },
    })
    const { secret } = await addTenant(service.store, 'flaky', proxy.url.href.replace(/\/$/, ''))
    const response = await transact(bodyOf(change('a'), change('b'), change('c')), { secret })
    expect(response.status).toBe(502)
    expect(await response.text()).toContain('sales.b: ')
  })
})

describe('what is asked', () => {
  test.each([
    ['no table-changes', '{}'],
    ['an empty list', '{"table-changes":[]}'],
    ['a change without identifier', '{"table-changes":[{"requirements":[],"updates":[]}]}'],
    [
      'a name that is no identifier',
      bodyOf({ ...change('a'), identifier: { namespace: ['sales'], name: 'a/b' } }),
    ],
    [
      'a namespace level that is none',
      bodyOf({ ...change('a'), identifier: { namespace: ['s.x'], name: 'a' } }),
    ],
    ['no namespace', bodyOf({ ...change('a'), identifier: { namespace: [], name: 'a' } })],
    ['one table twice', bodyOf(change('a'), change('a'))],
    [
      'more tables than one header can name',
      bodyOf(...Array.from({ length: 65 }, (_, i) => change(`t${i}`))),
    ],
    ['unparseable', '{'],
  ])('answers 400 to a body with %s', async (_what, body) => {
    expect((await transact(body)).status).toBe(400)
    expect((await onSurface(body)).status).toBe(400)
  })

  test('answers 413 above 16 MiB, 404 for an unknown prefix and table, 405 to GET', async () => {
    expect((await transact(' '.repeat(limits.commitBodyBytesMax + 1))).status).toBe(413)
    expect((await transact(bodyOf(change('a')), { path: path.replace('main', 'other') })).status).toBe(404)
    const missing = await transact(bodyOf(change('a'), change('nothing')))
    expect(missing.status).toBe(404)
    expect(await missing.text()).toContain('sales.nothing')
    const got = await fetch(new URL(path, service.app.url), {
      headers: { 'x-svc-session': service.owner.secret },
    })
    expect(got.status).toBe(405)
  })
})
