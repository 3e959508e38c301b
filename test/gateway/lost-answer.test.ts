import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendSnapshot,
  createTable,
  firstSnapshotId,
  orderFields,
  schemaOf,
  setProperties,
} from '../../demo/commits.ts'
import { recoverIntents } from '../../src/gateway/recovery/recover-intents.ts'
import { limits } from '../../src/limits.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { countIntents } from '../../src/store/commit/commit-intents.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { eventually } from '../support/eventually.ts'
import { passOn } from '../support/recording-proxy.ts'
import { addTenant, commit, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { send as sendClient } from '../support/surface.ts'

setDefaultTimeout(300_000)

/** What the upstream's answer to the next change becomes; told the path, once the change is made or not. */
type Lose = (path: string, pass: () => Promise<Response>) => Promise<Response>

let service: TestService
let proxy: ReturnType<typeof Bun.serve>
let tenant: TestTenant
let upstreamHeaders: Readonly<Record<string, string>>
let lose: Lose | undefined
/** A table of which the upstream answers no question until then. */
let stalled: { readonly table: string; readonly until: Promise<void> } | undefined
let tables = 0
const failed = () => new Response('{}', { status: 500 })

beforeAll(async () => {
  service = await startTestService({ intentTimes: { leaseMs: limits.intentLeaseMs, upstreamMs: 0 } })
  proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const body = await request.bytes()
      const pass = async () => (await passOn(request, service.catalog.url, body)).answer
      const changes = ['POST', 'DELETE'].includes(request.method) && !pathname.endsWith('/tokens')
      const how = changes ? lose : undefined
      if (!changes && stalled && pathname.endsWith(`/${stalled.table}`)) await stalled.until
      return how === undefined ? await pass() : await how(pathname, pass)
    },
  })
  tenant = await addTenant(service.store, 'behind-proxy', proxyUrl())
  const token = await fetch(`${service.catalog.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: 'grant_type=client_credentials&client_id=gateway&client_secret=s3cret',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const { access_token } = (await token.json()) as { access_token: string }
  upstreamHeaders = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
})
afterEach(() => {
  lose = undefined
  stalled = undefined
  service.catalog.faults.reset()
})
afterAll(async () => {
  await proxy.stop(true)
  await service[Symbol.asyncDispose]()
})

/** Past the gateway. */
async function direct(method: string, path: string, body?: string): Promise<Response> {
  const init = { method, headers: upstreamHeaders, ...(body !== undefined && { body }) }
  return await fetch(`${service.catalog.url}/v1/dev${path}`, init)
}

async function newTable(): Promise<string> {
  const name = `lost_${++tables}`
  expect((await direct('POST', '/namespaces/sales/tables', createTable(name))).status).toBe(200)
  return name
}

const send = (table: string, body: string) =>
  commit(service, body, {
    secret: tenant.secret,
    path: `/v1/iceberg/main/namespaces/sales/tables/${table}`,
  })
const onSurface = (method: string, path: string, body?: unknown) =>
  sendClient(service, method, path, body, { tenant })
const proxyUrl = () => proxy.url.href.replace(/\/$/, '')
/** Has a prefix of the tenant lead to a catalog. */
const lead = (nickname: string, endpoint: string) =>
  putCatalogCredential(service.store, tenant.tenant, {
    nickname,
    kind: 'alpha',
    endpoint,
    config: { endpoint, warehouse: 'dev', credential: 'gateway:s3cret' },
  })
const ref = (name: string) => ({ namespace: ['sales'], name })

async function approved(table: string, of = tenant) {
  const { items } = await listDecisions(service.store, of.tenant, { table: ref(table), limit: 100 })
  return items.filter(({ decision }) => decision === 'APPROVED')
}

/** What recovery does once the leases of all intents are over. */
async function recover() {
  await service.store.adminQuery(`update svc.commit_intent set lease_until = '-infinity'`)
  return await recoverIntents(service.app.gateway)
}

interface Loaded {
  readonly 'metadata-location': string
  readonly config?: unknown
  readonly metadata: { readonly properties: Record<string, string>; readonly 'current-snapshot-id': number }
}
const loadedNow = async (table: string) =>
  (await (await direct('GET', `/namespaces/sales/tables/${table}`)).json()) as Loaded

const append = appendSnapshot({
  snapshotId: firstSnapshotId,
  sequenceNumber: 1,
  timestampMs: 1_800_000_000_000,
})
const commits = [
  ['that adds a snapshot', append],
  ['that only sets properties', setProperties({ owner: 'ops' })],
] as const

describe.each(commits)('a commit %s', (_what, body) => {
  test('that was made though its answer was lost is 200 with the table, audited, and leaves no intent', async () => {
    const table = await newTable()
    lose = async (_path, pass) => {
      await pass()
      return failed()
    }
    const answer = await send(table, body)
    expect(answer.status).toBe(200)
    const { config, ...result } = (await answer.json()) as Loaded
    const { config: _config, ...now } = await loadedNow(table)
    expect(result).toEqual(now)
    expect(config ?? {}).toEqual({})
    expect(await approved(table)).toMatchObject([{ metadataLocation: now['metadata-location'] }])
    expect((await countIntents(service.store)).open).toBe(0)
  })

  test('is 200 on the client surface, too', async () => {
    const table = await newTable()
    lose = async (_path, pass) => {
      await pass()
      return failed()
    }
    const answer = await onSurface('POST', `/namespaces/sales/tables/${table}`, body)
    expect(answer.status).toBe(200)
    expect(await approved(table)).toHaveLength(1)
  })

  test('that was not made is 502 with its state unknown, and is closed by recovery', async () => {
    const table = await newTable()
    lose = async () => failed()
    const answer = await send(table, body)
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({ error: { type: 'CommitStateUnknownException' } })
    expect((await countIntents(service.store)).open).toBe(1)
    expect(await recover()).toMatchObject({ notCommitted: 1, undecidable: 0 })
    expect(await approved(table)).toEqual([])
  })

  test('that was made, but on a table that cannot be loaded now, is 502 and audited by recovery', async () => {
    const table = await newTable()
    lose = async (_path, pass) => {
      await pass()
      service.catalog.faults.add({ operation: 'load', effect: 'fail', status: 503, times: 100 })
      service.catalog.faults.add({ operation: 'conditional-load', effect: 'fail', status: 503, times: 100 })
      return failed()
    }
    expect((await send(table, body)).status).toBe(502)
    service.catalog.faults.reset()
    expect(await recover()).toMatchObject({ committed: 1, undecidable: 0 })
    expect(await approved(table)).toHaveLength(1)
  })

  test('that was not made, while another writer made a different one, is not told as made', async () => {
    const table = await newTable()
    lose = async () => {
      await direct('POST', `/namespaces/sales/tables/${table}`, setProperties({ other: 'writer' }))
      return failed()
    }
    expect((await send(table, body)).status).toBe(502)
    expect(await approved(table)).toEqual([])
    // The file is explained by nobody, so that recovery cannot tell either; the intent stays and alerts.
    expect(await recover()).toMatchObject({ committed: 0 })
    expect((await countIntents(service.store)).open).toBe(1)
    await service.store.tenantQuery(tenant.tenant, 'delete from svc.commit_intent where tenant_id = $1', [
      tenant.tenant,
    ])
  })
})

test('a commit whose table moved on before it was looked at is told with the table as it is, and audited where its files show it', async () => {
  const table = await newTable()
  const first = (await loadedNow(table))['metadata-location']
  const roots = { storage_roots: [first.slice(0, first.indexOf('/warehouse/'))] }
  const reader = await addTenant(service.store, 'reads-files', proxyUrl(), roots)
  let made = ''
  lose = async (path, pass) => {
    made = ((await (await pass()).json()) as Loaded)['metadata-location']
    await direct('POST', `/namespaces/sales/tables/${table}`, setProperties({ later: 'yes' }))
    expect(path).toEndWith(table)
    return failed()
  }
  const path = `/v1/iceberg/main/namespaces/sales/tables/${table}`
  const answer = await commit(service, append, { secret: reader.secret, path })
  expect(answer.status).toBe(200)
  expect(((await answer.json()) as Loaded).metadata.properties.later).toBe('yes')
  expect(await approved(table, reader)).toMatchObject([{ metadataLocation: made }])
})

/** Updates that name what they added by -1, as writers do. */
const evolutions = {
  'adds a column': [
    {
      action: 'add-schema',
      schema: schemaOf([...orderFields, { id: 5, name: 'note', type: 'string' }]),
      'last-column-id': 5,
    },
    { action: 'set-current-schema', 'schema-id': -1 },
  ],
  'partitions the table': [
    {
      action: 'add-spec',
      spec: { 'spec-id': 1, fields: [{ 'source-id': 2, transform: 'identity', name: 'customer' }] },
    },
    { action: 'set-default-spec', 'spec-id': -1 },
  ],
  'orders the table': [
    {
      action: 'add-sort-order',
      'sort-order': {
        'order-id': 1,
        fields: [{ 'source-id': 1, transform: 'identity', direction: 'asc', 'null-order': 'nulls-first' }],
      },
    },
    { action: 'set-default-sort-order', 'sort-order-id': -1 },
  ],
}

test.each(Object.entries(evolutions))(
  'a commit that %s is told as made where the table shows it',
  async (_, updates) => {
    const table = await newTable()
    lose = async (_path, pass) => {
      await pass()
      return failed()
    }
    expect((await send(table, JSON.stringify({ requirements: [], updates }))).status).toBe(200)
    expect(await approved(table)).toHaveLength(1)
  },
)

const creationOf = (name: string) =>
  JSON.stringify({
    requirements: [{ type: 'assert-create' }],
    updates: [
      { action: 'assign-uuid', uuid: crypto.randomUUID() },
      { action: 'upgrade-format-version', 'format-version': 2 },
      { action: 'add-schema', schema: schemaOf(orderFields), 'last-column-id': 4 },
      { action: 'set-current-schema', 'schema-id': -1 },
      { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
      { action: 'set-default-spec', 'spec-id': -1 },
      { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
      { action: 'set-default-sort-order', 'sort-order-id': -1 },
      { action: 'set-location', location: `file:///warehouse/sales/${name}` },
      ...JSON.parse(append).updates,
    ],
  })

test('a commit that creates its table is told as made where its snapshot is there', async () => {
  const name = `created_${++tables}`
  let upstream = 0
  lose = async (_path, pass) => {
    upstream = (await pass()).status
    return failed()
  }
  const answer = await onSurface('POST', `/namespaces/sales/tables/${name}`, creationOf(name))
  expect(upstream).toBe(200)
  expect(answer.status).toBe(200)
  expect(await approved(name)).toHaveLength(1)
})

const creations = [
  ['a commit that created its table', creationOf, (name: string) => `/${name}`],
  ['the creation of a table', createTable, () => ''],
] as const

test.each(creations)(
  'recovery does not close the intent of %s that was dropped since: nothing tells that it was not made',
  async (_what, bodyOf, pathOf) => {
    const name = `dropped_${++tables}`
    lose = async (_path, pass) => {
      await pass()
      for (const operation of ['load', 'conditional-load'] as const)
        service.catalog.faults.add({ operation, effect: 'fail', status: 503, times: 100 })
      return failed()
    }
    const create = () => onSurface('POST', `/namespaces/sales/tables${pathOf(name)}`, bodyOf(name))
    expect((await create()).status).toBe(502)
    lose = undefined
    service.catalog.faults.reset()
    expect((await onSurface('DELETE', `/namespaces/sales/tables/${name}`)).status).toBe(204)
    expect(await recover()).toEqual({ committed: 0, notCommitted: 0, undecidable: 1 })
    // The next table of the name explains its own files, not that one's.
    expect((await create()).status).toBe(200)
    expect(await recover()).toEqual({ committed: 0, notCommitted: 0, undecidable: 1 })
    await service.store.tenantQuery(tenant.tenant, 'delete from svc.commit_intent where tenant_id = $1', [
      tenant.tenant,
    ])
  },
)

describe('where something before the catalog answers 404 for it, recovery leaves the intent of', () => {
  const absent = (status: number) => {
    for (const operation of ['load', 'conditional-load', 'read'] as const)
      service.catalog.faults.add({ operation, effect: 'fail', status, times: 100 })
  }

  test.each(creations)('%s, and audits it later', async (_what, bodyOf, pathOf) => {
    const name = `created_${++tables}`
    lose = async (_path, pass) => {
      await pass()
      absent(503)
      return failed()
    }
    const answer = await onSurface('POST', `/namespaces/sales/tables${pathOf(name)}`, bodyOf(name))
    expect(answer.status).toBe(502)
    service.catalog.faults.reset()
    absent(404)
    expect(await recover()).toEqual({ committed: 0, notCommitted: 0, undecidable: 1 })
    service.catalog.faults.reset()
    expect(await recover()).toMatchObject({ committed: 1, undecidable: 0 })
    expect(await approved(name)).toHaveLength(1)
  })

  const drops = [
    ['a drop', (name: string) => `/namespaces/sales/tables/${name}`],
    ['the drop of a namespace', () => '/namespaces/sales'],
  ] as const
  test.each(drops)('%s that was not made, and closes it later', async (_what, pathOf) => {
    const name = await newTable()
    lose = async () => failed()
    expect((await onSurface('DELETE', pathOf(name))).status).toBe(502)
    absent(404)
    expect(await recover()).toEqual({ committed: 0, notCommitted: 0, undecidable: 1 })
    service.catalog.faults.reset()
    expect(await recover()).toMatchObject({ notCommitted: 1, undecidable: 0 })
    expect(await approved(name)).toEqual([])
  })
})

test('recovery finds that a table was renamed by what was audited of it under the new name, where it is gone from there', async () => {
  const [table, renamed] = [await newTable(), `renamed_${tables}`]
  lose = async (_path, pass) => {
    await pass()
    for (const operation of ['load', 'conditional-load'] as const)
      service.catalog.faults.add({ operation, effect: 'fail', status: 503, times: 100 })
    return failed()
  }
  const rename = { source: ref(table), destination: ref(renamed) }
  expect((await onSurface('POST', '/tables/rename', rename)).status).toBe(502)
  lose = undefined
  service.catalog.faults.reset()
  expect((await onSurface('DELETE', `/namespaces/sales/tables/${renamed}`)).status).toBe(204)
  expect(await recover()).toEqual({ committed: 1, notCommitted: 0, undecidable: 0 })
  expect(await approved(table)).toMatchObject([{ action: 'rename-table' }])
})

test('recovery looks at all that is left on a table together: intents whose leases ended apart do not stand in each other’s way', async () => {
  const table = await newTable()
  lose = async (_path, pass) => {
    await pass()
    for (const operation of ['load', 'conditional-load'] as const)
      service.catalog.faults.add({ operation, effect: 'fail', status: 503, times: 100 })
    return failed()
  }
  expect((await send(table, setProperties({ first: 'yes' }))).status).toBe(502)
  await service.store.adminQuery(`update svc.commit_intent set lease_until = '-infinity'`)
  expect(await recoverIntents(service.app.gateway)).toMatchObject({ undecidable: 1 })
  service.catalog.faults.reset()
  expect((await send(table, setProperties({ second: 'yes' }))).status).toBe(502)
  service.catalog.faults.reset()
  await service.store.adminQuery(
    `update svc.commit_intent set lease_until = '-infinity' where opened_at = (select max(opened_at) from svc.commit_intent)`,
  )
  expect(await recoverIntents(service.app.gateway)).toMatchObject({ committed: 2, undecidable: 0 })
  expect(await approved(table)).toHaveLength(2)
})

test('a catalog that does not answer keeps no other’s intents from recovery, and a stop does not wait for it', async () => {
  const elsewhere = await addTenant(service.store, 'elsewhere', proxyUrl())
  const [table, other] = [await newTable(), await newTable()]
  lose = async (_path, pass) => {
    await pass()
    for (const operation of ['load', 'conditional-load'] as const)
      service.catalog.faults.add({ operation, effect: 'fail', status: 503, times: 100 })
    return failed()
  }
  for (const [name, { secret }] of [
    [table, tenant],
    [other, elsewhere],
  ] as const) {
    const path = `/v1/iceberg/main/namespaces/sales/tables/${name}`
    expect((await commit(service, append, { secret, path })).status).toBe(502)
    service.catalog.faults.reset()
  }
  const answers = Promise.withResolvers<void>()
  stalled = { table, until: answers.promise }
  await service.store.adminQuery(`update svc.commit_intent set lease_until = '-infinity'`)
  const stop = new AbortController()
  const run = recoverIntents(service.app.gateway, stop.signal)
  await eventually(async () => (await countIntents(service.store)).open === 1)
  stop.abort()
  expect(await run).toEqual({ committed: 1, notCommitted: 0, undecidable: 1 })
  expect(await countIntents(service.store)).toEqual({ open: 1, stale: 1 })
  answers.resolve()
  expect(await recoverIntents(service.app.gateway)).toMatchObject({ committed: 1, undecidable: 0 })
})

test('recovery asks no other catalog what became of a change, where the credential leads to one by then', async () => {
  await using elsewhere = await startTestService()
  const table = await newTable()
  lose = async () => failed()
  expect((await onSurface('DELETE', `/namespaces/sales/tables/${table}`)).status).toBe(502)
  await lead('main', elsewhere.catalog.url)
  expect(await recover()).toEqual({ committed: 0, notCommitted: 0, undecidable: 1 })
  expect(await approved(table)).toEqual([])
  await lead('main', proxyUrl())
  expect(await recover()).toEqual({ committed: 0, notCommitted: 1, undecidable: 0 })
})

describe('of two prefixes of a tenant, recovery decides the intents on tables of one name', () => {
  const through = (nickname: string, table: string, body: string) =>
    commit(service, body, {
      secret: tenant.secret,
      path: `/v1/iceberg/${nickname}/namespaces/sales/tables/${table}`,
    })

  test('together, where both lead to one catalog', async () => {
    await lead('second', proxyUrl())
    const table = await newTable()
    lose = async (_path, pass) => {
      await pass()
      for (const operation of ['load', 'conditional-load'] as const)
        service.catalog.faults.add({ operation, effect: 'fail', status: 503, times: 100 })
      return failed()
    }
    for (const nickname of ['main', 'second']) {
      expect((await through(nickname, table, setProperties({ [nickname]: 'yes' }))).status).toBe(502)
      service.catalog.faults.reset()
    }
    expect(await recover()).toEqual({ committed: 2, notCommitted: 0, undecidable: 0 })
    expect(await approved(table)).toHaveLength(2)
  })

  test('each by itself, where they lead to two', async () => {
    await using elsewhere = await startTestService()
    using other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const body = await request.bytes()
        if (new URL(request.url).pathname.endsWith('/tables/orders') && request.method === 'POST')
          return failed()
        return (await passOn(request, elsewhere.catalog.url, body)).answer
      },
    })
    await lead('second', other.url.href.replace(/\/$/, ''))
    lose = async () => failed()
    for (const nickname of ['main', 'second'])
      expect((await through(nickname, 'orders', setProperties({ [nickname]: 'yes' }))).status).toBe(502)
    expect(await recover()).toEqual({ committed: 0, notCommitted: 2, undecidable: 0 })
  })
})

describe('a request that the catalog answers as it answered another before,', () => {
  const requests = [
    ['a commit', setProperties({ owner: 'ops' }), (name: string) => `/${name}`],
    ['a creation', undefined, () => ''],
  ] as const

  test.each(requests)('leaves one approval and no intent: %s', async (_what, body, pathOf) => {
    const name = body === undefined ? `twice_${++tables}` : await newTable()
    let first: Promise<string> | undefined
    lose = async (_path, pass) => {
      first ??= pass().then((answer) => answer.text())
      return new Response(await first)
    }
    const sent = () =>
      sendClient(service, 'POST', `/namespaces/sales/tables${pathOf(name)}`, body ?? createTable(name), {
        tenant,
        headers: { 'idempotency-key': Bun.randomUUIDv7() },
      })
    const answers = [await sent(), await sent()]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const [one, two] = await Promise.all(answers.map((answer) => answer.text()))
    expect(two).toBe(one ?? '')
    expect(await approved(name)).toHaveLength(1)
    expect((await countIntents(service.store)).open).toBe(0)
    // What is new is recorded, key or not.
    lose = undefined
    const next = setProperties({ owner: 'dev' })
    expect((await onSurface('POST', `/namespaces/sales/tables/${name}`, next)).status).toBe(200)
    expect(await approved(name)).toHaveLength(2)
  })
})

describe('a transaction', () => {
  const changesOf = (names: readonly string[]) =>
    JSON.stringify({
      'table-changes': names.map((name) => ({
        identifier: ref(name),
        ...JSON.parse(setProperties({ owner: name })),
      })),
    })

  async function losing(table: string, made: boolean): Promise<void> {
    lose = async (path, pass) => {
      if (!path.endsWith(`/tables/${table}`)) return await pass()
      if (made) await pass()
      return failed()
    }
  }

  test('of which one answer was lost is whole where all commits were made', async () => {
    const names = [await newTable(), await newTable()]
    for (const lost of names) {
      await losing(lost, true)
      const literal = await commit(service, changesOf(names), {
        secret: tenant.secret,
        path: '/v1/iceberg/main/transactions/commit',
      })
      expect(literal.status).toBe(200)
      const { results } = (await literal.json()) as { results: { 'new-metadata-location': string }[] }
      const now = await Promise.all(names.map(loadedNow))
      expect(results.map((one) => one['new-metadata-location'])).toEqual(
        now.map((one) => one['metadata-location']),
      )
      const surface = await onSurface('POST', '/transactions/commit', changesOf([lost]))
      expect(surface.status).toBe(204)
    }
    expect((await countIntents(service.store)).open).toBe(0)
  })

  test('is 502 naming the table where its commit cannot be told, and the others stay', async () => {
    const names = [await newTable(), await newTable()]
    await losing(names[1] ?? '', false)
    const answer = await onSurface('POST', '/transactions/commit', changesOf(names))
    expect(answer.status).toBe(502)
    expect(await answer.text()).toContain(`sales.${names[1]}: `)
    expect(await approved(names[0] ?? '')).toHaveLength(1)
    expect(await recover()).toMatchObject({ notCommitted: 1, undecidable: 0 })
  })
})

describe('a change that is no commit', () => {
  const losing = (made: boolean): Lose => {
    return async (_path, pass) => {
      if (made) await pass()
      return failed()
    }
  }

  const actions = [
    ['drop-table', 204, (name: string) => onSurface('DELETE', `/namespaces/sales/tables/${name}`)],
    [
      'rename-table',
      204,
      (name: string) =>
        onSurface('POST', '/tables/rename', { source: ref(name), destination: ref(`${name}_new`) }),
    ],
  ] as const

  test.each(actions)('%s is told as made where it was', async (_action, status, change) => {
    const name = await newTable()
    lose = losing(true)
    expect((await change(name)).status).toBe(status)
    expect(await approved(name)).toHaveLength(1)
    expect((await countIntents(service.store)).open).toBe(0)
  })

  test.each(actions)('%s is 502 where it was not made', async (_action, _status, change) => {
    const name = await newTable()
    lose = losing(false)
    expect((await change(name)).status).toBe(502)
    expect((await direct('GET', `/namespaces/sales/tables/${name}`)).status).toBe(200)
    expect(await recover()).toMatchObject({ notCommitted: 1, undecidable: 0 })
  })

  test('register-table is told as made, with the table, where it was', async () => {
    const name = await newTable()
    const { 'metadata-location': location } = await loadedNow(name)
    await direct('DELETE', `/namespaces/sales/tables/${name}`)
    lose = losing(true)
    const answer = await onSurface('POST', '/namespaces/sales/register', {
      name: `${name}_again`,
      'metadata-location': location,
    })
    expect(answer.status).toBe(200)
    expect(((await answer.json()) as Loaded)['metadata-location']).toBe(location)
    expect(await approved(`${name}_again`)).toMatchObject([{ metadataLocation: location }])
  })

  test('create-table is 502 even where it was made: a table does not say who created it', async () => {
    const name = `made_${++tables}`
    lose = losing(true)
    const answer = await onSurface('POST', '/namespaces/sales/tables', createTable(name))
    expect(answer.status).toBe(502)
    expect(await recover()).toMatchObject({ committed: 1, undecidable: 0 })
  })

  const version = { 'version-id': 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {}, representations: [] }
  const viewOf = (name: string) => ({
    name,
    schema: schemaOf(orderFields),
    'view-version': version,
    properties: {},
  })
  const again = [
    ['a drop', async () => {}, (name: string) => onSurface('DELETE', `/namespaces/sales/tables/${name}`)],
    [
      'a rename',
      async () => {},
      (name: string) =>
        onSurface('POST', '/tables/rename', { source: ref(name), destination: ref(`${name}_new`) }),
    ],
    [
      'the creation of a view',
      async (name: string) => void (await direct('DELETE', `/namespaces/sales/tables/${name}`)),
      (name: string) => onSurface('POST', '/namespaces/sales/views', viewOf(name)),
    ],
    [
      'the drop of a view',
      async (name: string) => {
        await direct('DELETE', `/namespaces/sales/tables/${name}`)
        await direct('POST', '/namespaces/sales/views', JSON.stringify(viewOf(name)))
      },
      (name: string) => onSurface('DELETE', `/namespaces/sales/views/${name}`),
    ],
  ] as const
  test.each(again)(
    '%s that was not made, and then was when it was asked again, is audited once',
    async (_what, prepare, change) => {
      const name = await newTable()
      await prepare(name)
      lose = losing(false)
      expect((await change(name)).status).toBe(502)
      lose = undefined
      expect((await change(name)).ok).toBe(true)
      expect(await approved(name)).toHaveLength(1)
      expect(await recover()).toEqual({ committed: 0, notCommitted: 1, undecidable: 0 })
      expect(await approved(name)).toHaveLength(1)
    },
  )

  test('is refused where it is nested so deep that recovery could not read it again', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const deepest = limits.jsonDepthMax - 2
    for (const [levels, status] of [
      [deepest + 1, 400],
      [deepest, 502],
    ] as const) {
      lose = losing(false)
      const body = createTable(`deep_${++tables}`).replace('{', `{"more":${nested(levels - 1)},`)
      expect((await onSurface('POST', '/namespaces/sales/tables', body)).status).toBe(status)
    }
    expect(await recover()).toEqual({ committed: 0, notCommitted: 1, undecidable: 0 })
  })

  test('refused by the upstream leaves no intent behind', async () => {
    const name = await newTable()
    const taken = await newTable()
    for (const [answer, status] of [
      [await onSurface('POST', '/namespaces/sales/tables', createTable(name)), 409],
      [await onSurface('POST', '/tables/rename', { source: ref(name), destination: ref(taken) }), 409],
      [await onSurface('DELETE', '/namespaces/sales/views/none'), 404],
      [await onSurface('DELETE', '/namespaces/sales'), 409],
    ] as const)
      expect(answer.status).toBe(status)
    expect((await countIntents(service.store)).open).toBe(0)
  })
})
