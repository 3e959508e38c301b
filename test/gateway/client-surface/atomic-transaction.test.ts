import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  setProperties,
} from '../../../demo/commits.ts'
import { recoverIntents } from '../../../src/gateway/recovery/recover-intents.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { transactionFate } from '../../../src/store/commit/audit.ts'
import { countIntents } from '../../../src/store/commit/commit-intents.ts'
import { eventually } from '../../support/eventually.ts'
import { failingStore } from '../../support/failing-store.ts'
import { passOn, type RecordingProxy, recordingProxy } from '../../support/recording-proxy.ts'
import {
  addTenant,
  audit,
  commit,
  metric,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
  upstreamHeaders,
} from '../../support/service.ts'
import { govern, send } from '../../support/surface.ts'

// A service with its database starts for it, which takes its time on a busy machine.
setDefaultTimeout(60_000)

/** Set by the tests that let the store fail. */
let failOn = /^never$/
let service: TestService
let proxy: RecordingProxy
/** Its catalog credential says that multi-table commits are atomic. */
let tenant: TestTenant
/** Another tenant of the same catalog, whose credential differs from test to test. */
let foreign: TestTenant
let tables = 0

const atomic = { atomic_transactions: true }
beforeAll(async () => {
  service = await startTestService({
    intentTimes: { leaseMs: 0, upstreamMs: 0 },
    wrapStore: (store) => ({
      ...store,
      tenantQuery: (tenant, text, params, options) =>
        failingStore(store, failOn).tenantQuery(tenant, text, params, options),
      tenantCall: (tenant, name, params) => failingStore(store, failOn).tenantCall(tenant, name, params),
      sessionCall: (tenant, name, params) => failingStore(store, failOn).sessionCall(tenant, name, params),
    }),
  })
  proxy = await recordingProxy(service.catalog.url)
  tenant = await addTenant(service.store, 'atomic', proxy.url, atomic)
  foreign = await addTenant(service.store, 'foreign', proxy.url, atomic)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})
afterEach(() => {
  failOn = /^never$/
  service.catalog.faults.reset()
})

/** Gives the foreign tenant another credential. */
async function configure(url: string, config: Readonly<Record<string, unknown>>): Promise<void> {
  await putCatalogCredential(service.store, foreign.tenant, {
    nickname: prefix,
    kind: 'alpha',
    endpoint: url,
    config: { endpoint: url, warehouse: 'dev', credential: 'gateway:s3cret', ...config },
  })
}

const path = '/transactions/commit'
const owner = () => ({ at: String(performance.now()) })
const change = (name: string, body = setProperties(owner())) => ({
  identifier: { namespace: ['sales'], name },
  ...JSON.parse(body),
})
const conflicting = (name: string) => ({
  ...change(name),
  requirements: [{ type: 'assert-table-uuid', uuid: crypto.randomUUID() }],
})
const bodyOf = (...changes: unknown[]) => JSON.stringify({ 'table-changes': changes })
const transact = (body: string, as = tenant) => send(service, 'POST', path, body, { tenant: as })

/** Two tables of the tenant's. */
async function newTables(): Promise<readonly [string, string]> {
  const names = [`a${++tables}`, `b${tables}`] as const
  for (const name of names)
    expect(
      (await send(service, 'POST', '/namespaces/sales/tables', createTable(name), { tenant })).status,
    ).toBe(200)
  return names
}

async function locationOf(name: string): Promise<string> {
  const loaded = await send(service, 'GET', `/namespaces/sales/tables/${name}`, undefined, { tenant })
  return ((await loaded.json()) as { 'metadata-location': string })['metadata-location']
}
const locationsOf = (names: readonly string[]) => Promise.all(names.map(locationOf))

/** The tenant's commits to these tables, in table order. */
async function decisionsOn(names: readonly string[], as = tenant) {
  const rows = (await audit(service, as.tenant)).filter(({ action }) => action === 'update-table')
  return names.map((name) => rows.filter(({ table }) => table.name === name))
}
const openIntents = async () => (await countIntents(service.store)).open

const endpoints = async (as: TestTenant) =>
  (
    (await (await send(service, 'GET', '/config', undefined, { tenant: as })).json()) as {
      endpoints: string[]
    }
  ).endpoints

describe('`transactions/commit` is listed in `endpoints`', () => {
  const listed = 'POST /v1/{prefix}/transactions/commit'

  test('where the credential says that the catalog’s are atomic', async () => {
    expect(await endpoints(tenant)).toContain(listed)
  })

  test('not otherwise', async () => {
    expect(await endpoints(service.owner)).not.toContain(listed)
    await configure(proxy.url, { atomic_transactions: false })
    expect(await endpoints(foreign)).not.toContain(listed)
  })

  test('not where the catalog does not offer it', async () => {
    await using lacking = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { answer, received } = await passOn(request, service.catalog.url, await request.bytes())
        if (!new URL(request.url).pathname.endsWith('/config')) return answer
        const config = JSON.parse(Buffer.from(received).toString()) as { endpoints: string[] }
        return Response.json({ ...config, endpoints: config.endpoints.filter((one) => one !== listed) })
      },
    })
    await configure(lacking.url.href.replace(/\/$/, ''), atomic)
    expect(await endpoints(foreign)).not.toContain(listed)
  })

  test('never where the flag is no boolean: the credential is refused', async () => {
    await configure(proxy.url, { atomic_transactions: 'yes' })
    const response = await send(service, 'GET', '/config', undefined, { tenant: foreign })
    expect(response.status).toBe(500)
  })
})

describe('an atomic transaction', () => {
  test('is forwarded as one, byte for byte, and audited for each table', async () => {
    const names = await newTables()
    const append = appendSnapshot({ snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() })
    const properties = JSON.stringify(change(names[1]))
    const first = `{"identifier":{"namespace":["sales"],"name":"${names[0]}"},${append.slice(1)}`
    const body = `{ "table-changes": [ ${first}, ${properties} ] }`
    const seen = proxy.exchanges.length
    const response = await transact(body)
    expect(response.status).toBe(204)
    const posts = proxy.exchanges
      .slice(seen)
      .filter(({ method, path }) => method === 'POST' && !path.includes('token'))
    expect(posts).toMatchObject([
      {
        path: '/v1/dev/transactions/commit',
        requestSha256: new Bun.CryptoHasher('sha256').update(body).digest('hex'),
      },
    ])
    const locations = await locationsOf(names)
    const decisions = (await decisionsOn(names)).flat()
    expect(decisions).toMatchObject(
      locations.map((metadataLocation) => ({ decision: 'APPROVED', metadataLocation })),
    )
    expect(response.headers.get('x-svc-decision-id')?.split(', ')).toEqual(
      decisions.map(({ commitId }) => commitId),
    )
    expect(await openIntents()).toBe(0)
    expect(await audit(service, foreign.tenant)).toEqual([])
  })

  test('may create a table, and may change nothing', async () => {
    const [name] = await newTables()
    const staged = await send(
      service,
      'POST',
      '/namespaces/sales/tables',
      { ...JSON.parse(createTable('staged')), 'stage-create': true },
      { tenant },
    )
    const { metadata } = (await staged.json()) as { metadata: Record<string, unknown> }
    const creation = {
      identifier: { namespace: ['sales'], name: 'staged' },
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: metadata['table-uuid'] },
        { action: 'upgrade-format-version', 'format-version': 2 },
        { action: 'add-schema', schema: (metadata.schemas as unknown[])[0] },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
        { action: 'set-default-spec', 'spec-id': -1 },
        { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
        { action: 'set-location', location: metadata.location },
      ],
    }
    const empty = { identifier: { namespace: ['sales'], name }, requirements: [], updates: [] }
    expect((await transact(bodyOf(creation, empty))).status).toBe(204)
    const locations = await locationsOf(['staged', name])
    expect((await decisionsOn(['staged', name])).flat().map((one) => one.metadataLocation)).toEqual(locations)
    expect(await openIntents()).toBe(0)
  })

  test('with a denied table is 403 that names it, forwards nothing, and audits that table alone', async () => {
    const names = await newTables()
    await govern(service, { namespace: ['sales'], name: names[1] }, `no-${names[1]}`, 'write_acl', 'false', {
      tenant,
    })
    const before = await locationsOf(names)
    const response = await transact(bodyOf(change(names[0]), change(names[1])))
    expect(response.status).toBe(403)
    expect(await response.text()).toContain(`policy denied: sales.${names[1]}: `)
    expect(await locationsOf(names)).toEqual(before)
    expect(await decisionsOn(names)).toMatchObject([[], [{ decision: 'REJECTED' }]])
    expect(service.catalog.faults.counts.commit).toBe(0)
    expect(await openIntents()).toBe(0)
  })

  test('in which one table has moved on is 409, and no table is changed', async () => {
    const names = await newTables()
    const before = await locationsOf(names)
    const response = await transact(bodyOf(change(names[0]), conflicting(names[1])))
    expect(response.status).toBe(409)
    expect(((await response.json()) as { error: { type: string } }).error.type).toBe('CommitFailedException')
    expect(await locationsOf(names)).toEqual(before)
    expect(await decisionsOn(names)).toEqual([[], []])
    expect(await openIntents()).toBe(0)
  })

  test('that cannot be recorded is 503 before the forward, with no intent left', async () => {
    const names = await newTables()
    let opened = 0
    failOn = { test: (text: string) => /open_intent/.test(text) && ++opened === 2 } as RegExp
    expect((await transact(bodyOf(...names.map((name) => change(name))))).status).toBe(503)
    expect(service.catalog.faults.counts.commit).toBe(0)
    expect(await openIntents()).toBe(0)
  })

  test('whose answer is lost is 204 where the tables show it, and audited', async () => {
    const names = await newTables()
    await configure(service.catalog.url, atomic)
    service.catalog.faults.add({ operation: 'commit', effect: 'drop-after' })
    expect((await transact(bodyOf(...names.map((name) => change(name))), foreign)).status).toBe(204)
    const locations = await locationsOf(names)
    expect((await decisionsOn(names, foreign)).flat()).toMatchObject(
      locations.map((metadataLocation) => ({ decision: 'APPROVED', metadataLocation })),
    )
    expect(await openIntents()).toBe(0)
  })

  test('that the upstream may have lost is 502 with unknown state; recovery closes its intent', async () => {
    const names = await newTables()
    service.catalog.faults.add({ operation: 'commit', effect: 'fail', status: 500 })
    const response = await transact(bodyOf(...names.map((name) => change(name))))
    expect(response.status).toBe(502)
    expect(await response.text()).toContain('CommitStateUnknownException')
    expect(await openIntents()).toBe(2)
    expect(await recoverIntents(service.app.gateway)).toMatchObject({
      committed: 0,
      notCommitted: 2,
      undecidable: 0,
    })
    expect(await decisionsOn(names)).toEqual([[], []])
  })

  test('that was not made is closed on a table that has moved on too far to tell, because the other stands', async () => {
    const names = [`far${++tables}`, `near${tables}`]
    for (const name of names) {
      const body = createTable(name, orderFields, { 'write.metadata.previous-versions-max': '1' })
      await send(service, 'POST', '/namespaces/sales/tables', body, { tenant })
    }
    service.catalog.faults.add({ operation: 'commit', effect: 'fail', status: 500 })
    expect((await transact(bodyOf(...names.map((name) => change(name))))).status).toBe(502)
    const headers = await upstreamHeaders(service.catalog)
    for (const at of ['1', '2', '3']) {
      const table = `${service.catalog.url}/v1/dev/namespaces/sales/tables/${names[0]}`
      const moved = await fetch(table, { method: 'POST', headers, body: setProperties({ at }) })
      expect(moved.status).toBe(200)
    }
    expect(await recoverIntents(service.app.gateway)).toMatchObject({ notCommitted: 2, undecidable: 0 })
    expect(await openIntents()).toBe(0)
  })

  test.each([1, 2])(
    'accepted but not audited from table %i on is 204, and a retry completes the audit, each table once',
    async (nth) => {
      const names = await newTables()
      const failures = await metric(service, 'svc_audit_failures_total')
      let recorded = 0
      failOn = { test: (text: string) => /record_verdict/.test(text) && ++recorded >= nth } as RegExp
      expect((await transact(bodyOf(...names.map((name) => change(name))))).status).toBe(204)
      const left = 3 - nth
      expect(await metric(service, 'svc_audit_failures_total')).toBe(failures + left)
      expect(await openIntents()).toBe(left)
      failOn = /^never$/
      await eventually(async () => (await openIntents()) === 0)
      const locations = await locationsOf(names)
      expect((await decisionsOn(names)).flat()).toMatchObject(
        locations.map((metadataLocation) => ({ decision: 'APPROVED', metadataLocation })),
      )
    },
  )

  test('whose tables cannot be looked at after its acceptance is 204, and audited once they can', async () => {
    const names = await newTables()
    // The gateway asks which locations are audited only when it looks at what was made.
    failOn = /jsonb_array_elements_text/
    expect((await transact(bodyOf(...names.map((name) => change(name))))).status).toBe(204)
    expect((await decisionsOn(names)).flat()).toEqual([])
    expect(await openIntents()).toBe(2)
    failOn = /^never$/
    await eventually(async () => (await openIntents()) === 0)
    const locations = await locationsOf(names)
    expect((await decisionsOn(names)).flat()).toMatchObject(
      locations.map((metadataLocation) => ({ decision: 'APPROVED', metadataLocation })),
    )
  })

  test('on the literal path is forwarded table after table', async () => {
    const names = await newTables()
    const seen = proxy.exchanges.length
    const response = await commit(service, bodyOf(...names.map((name) => change(name))), {
      path: `/v1/iceberg/main${path}`,
      secret: tenant.secret,
    })
    expect(response.status).toBe(200)
    const posts = proxy.exchanges
      .slice(seen)
      .filter(({ method, path }) => method === 'POST' && !path.includes('token'))
    expect(posts.map(({ path }) => path.split('/').at(-1))).toEqual([...names])
  })
})

test('a transaction’s fate is read from the tenant’s own rows', async () => {
  const names = await newTables()
  const response = await transact(bodyOf(...names.map((name) => change(name))))
  const ids = response.headers.get('x-svc-decision-id')?.split(', ') ?? []
  expect(await transactionFate(service.store, tenant.tenant, ids)).toBe('made')
  expect(await transactionFate(service.store, foreign.tenant, ids)).not.toBe('made')
  expect(await transactionFate(service.store, tenant.tenant, [crypto.randomUUID()])).toBe('not-made')
})
