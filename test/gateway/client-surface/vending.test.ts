/** Storage credentials that the service issues: for whom, for which folders, for how long, and what ends them. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import type { SessionScope } from '../../../src/core/session.ts'
import { rotateCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession, revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { listVended } from '../../../src/store/vended/vended-credentials.ts'
import { sessionNameOf } from '../../../src/vending/vending.ts'
import { call, type IdentityService, startIdentityService } from '../../support/identity.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, metric, openUncontracted, type TestTenant } from '../../support/service.ts'
import { startSts, stsKeys, type TestSts } from '../../support/sts.ts'
import { messageOf, send } from '../../support/surface.ts'
import { startTableUpstream, type TableUpstream, upstreamKeys } from '../../support/table-upstream.ts'
import { enforceTerritory } from '../../support/territory.ts'

setDefaultTimeout(300_000)

const reader = 'arn:aws:iam::123456789012:role/reader'
const writer = 'arn:aws:iam::123456789012:role/writer'
let nowMs = Date.now()
let service: IdentityService
let upstream: TableUpstream
let sts: TestSts
let tenant: TestTenant
let foreign: TestTenant

const config = () => ({
  storage_roots: ['s3://lake', 's3a://other'],
  'vending.mode': 'vend',
  'vending.role-arn': reader,
  'vending.writer-role-arn': writer,
  'vending.external-id': 'acme-1',
  'vending.access-key-id': stsKeys.accessKeyId,
  'vending.secret-access-key': stsKeys.secretAccessKey,
  'vending.sts-endpoint': sts.url,
  'vending.iam-endpoint': sts.url,
  's3.region': 'eu-central-1',
  's3.endpoint': 'https://storage.example',
})

beforeAll(async () => {
  sts = startSts(() => nowMs)
  service = await startIdentityService({
    env: { SVC_LICENSE: licenseFor('vending') },
    clock: { now: () => nowMs },
  })
  upstream = startTableUpstream()
  const url = upstream.url.replace(/\/$/, '')
  tenant = await addTenant(service.store, 'vends', url, config())
  foreign = await addTenant(service.store, 'other', url, config())
  for (const { tenant: id } of [tenant, foreign]) await enforceTerritory(service.store, id)
  await openUncontracted(service.store, tenant, foreign)
  for (const name of ['secrets', 'orders', 'people'])
    upstream.tables.set(name, { location: `s3://lake/${name}` })
  await load('secrets')
})
beforeEach(() => {
  sts.refuses = undefined
  sts.meanwhile = async () => {}
  upstream.meanwhile = async () => {}
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
  await sts[Symbol.asyncDispose]()
})

interface Held extends TestTenant {
  readonly id: string
  readonly sub: string
}
/** A new session, with the name of its own as its subject. */
async function held(scopes: readonly SessionScope[], expiresAt?: Date, of = tenant.tenant): Promise<Held> {
  const name = crypto.randomUUID()
  const principal = { sub: name, roles: [] }
  const made = await createServiceSession(service.store, of, { name, principal, scopes, expiresAt })
  return { tenant: of, sub: name, ...made }
}

const delegated = { 'x-iceberg-access-delegation': 'vended-credentials,remote-signing' }
const load = (name: string, as: TestTenant = tenant, headers: Readonly<Record<string, string>> = delegated) =>
  send(service, 'GET', `/namespaces/n/tables/${name}`, undefined, { tenant: as, headers })
const credentials = (name: string, as: TestTenant = tenant) =>
  send(service, 'GET', `/namespaces/n/tables/${name}/credentials`, undefined, { tenant: as })

interface Loaded {
  readonly config: Readonly<Record<string, string>>
  readonly 'storage-credentials'?: readonly {
    readonly prefix: string
    readonly config: Readonly<Record<string, string>>
  }[]
}
async function loaded(response: Response): Promise<Loaded> {
  const text = await response.text()
  expect([response.status, response.status === 200 ? '' : text]).toEqual([200, ''])
  expect(text).not.toMatch(upstreamKeys)
  return JSON.parse(text)
}
/** What was asked of STS meanwhile. */
async function askedBy(work: () => Promise<unknown>): Promise<TestSts['asked']> {
  const before = sts.asked.length
  await work()
  return sts.asked.slice(before)
}

describe('a loaded table', () => {
  test('has credentials for its own folder, where the client asks for them', async () => {
    const session = await held(['read'])
    let answer: Loaded | undefined
    let headers: Headers | undefined
    const asked = await askedBy(async () => {
      const response = await load('orders', session)
      headers = response.headers
      answer = await loaded(response)
    })
    const keys = answer?.config['s3.access-key-id']
    const settings = {
      's3.access-key-id': keys,
      's3.secret-access-key': `issued-${keys}`,
      's3.session-token': `token-${keys}`,
      's3.session-token-expires-at-ms': `${Math.floor(nowMs + 900_000)}`,
      'client.region': 'eu-central-1',
      's3.region': 'eu-central-1',
      's3.endpoint': 'https://storage.example',
      's3.path-style-access': 'true',
      'client.refresh-credentials-endpoint': 'v1/namespaces/n/tables/orders/credentials',
      'client.refresh-credentials-enabled': 'true',
    }
    expect(answer?.['storage-credentials']).toEqual([
      { prefix: 's3://lake/orders/', config: settings as Record<string, string> },
    ])
    expect(answer?.config).toMatchObject(settings)
    expect([headers?.get('cache-control'), headers?.has('etag')]).toEqual(['no-store', false])
    expect(asked).toEqual([
      {
        roleArn: reader,
        sessionName: sessionNameOf(tenant.tenant, session.id),
        seconds: 900,
        externalId: 'acme-1',
        policy: expect.objectContaining({
          Statement: [
            { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::lake/orders/*'] },
            expect.objectContaining({ Condition: { StringLike: { 's3:prefix': ['orders/*'] } } }),
          ],
        }),
      },
    ])
    expect(asked[0]?.sessionName).not.toContain(session.id)
  })

  test('has those of the writer for a session that may commit, not longer than the session', async () => {
    const [long, short, shortest] = [
      await held(['commit']),
      await held(['commit'], new Date(nowMs + 1_800_000)),
      await held(['commit'], new Date(nowMs + 60_000)),
    ]
    const asked = await askedBy(async () => {
      for (const session of [long, short, shortest]) await loaded(await load('orders', session))
    })
    expect(asked.map(({ roleArn }) => roleArn)).toEqual([writer, writer, writer])
    expect(asked[0]?.seconds).toBe(3600)
    expect(asked[1]?.seconds).toBeWithin(1790, 1801)
    expect(asked[2]?.seconds).toBe(900)
    expect(asked[0]?.policy.Statement[0]?.Action).toContain('s3:PutObject')
    expect(asked[0]?.policy.Statement[0]?.Action).not.toContain('s3:DeleteObject')
  })

  test('has none where the client does not ask, and the upstream is never asked for its own', async () => {
    const before = upstream.delegations.length
    const asked = await askedBy(async () => {
      for (const wish of ['', 'remote-signing', 'vended-credentials-2']) {
        const answer = await loaded(await load('orders', tenant, { 'x-iceberg-access-delegation': wish }))
        expect(answer).not.toHaveProperty('storage-credentials')
      }
      await loaded(await load('orders', tenant, {}))
    })
    await load('orders')
    expect(asked).toEqual([])
    expect(upstream.delegations.slice(before).filter((wish) => wish !== null)).toEqual([])
  })

  test('has the same ones again until half of their time is over, and new ones by /credentials then', async () => {
    const session = await held(['read'])
    const key = async (response: Promise<Response>) =>
      (await loaded(await response))['storage-credentials']?.[0]?.config['s3.access-key-id']
    const first = await key(load('orders', session))
    expect(await key(load('orders', session))).toBe(first)
    expect(await key(credentials('orders', session))).toBe(first)
    nowMs += 460_000
    const second = await key(credentials('orders', session))
    expect(second).not.toBe(first)
    expect(await key(load('orders', session))).toBe(second)
  })

  test('waits for one call of the store beside those of a load: the other runs while the upstream and STS are asked', async () => {
    const session = await held(['read'])
    await loaded(await load('orders', await held(['read'])))
    await loaded(await load('orders', session, {}))
    const calls: string[] = []
    const { store } = service
    const spies = (['tenantCall', 'tenantQuery', 'tenantTransaction'] as const).map((name) => {
      const real = store[name] as (...given: readonly unknown[]) => unknown
      return spyOn(store, name).mockImplementation(((...given: readonly unknown[]) => {
        calls.push(name === 'tenantCall' ? String(given[1]) : name)
        return real(...given)
      }) as never)
    })
    try {
      await loaded(await load('orders', session, {}))
      const plain = calls.splice(0)
      expect(plain.length).toBeGreaterThan(0)
      let beforeSts: readonly string[] = []
      sts.meanwhile = async () => {
        beforeSts = [...calls]
      }
      const answer = await loaded(await load('orders', session))
      expect(answer).toHaveProperty('storage-credentials')
      expect(beforeSts.toSorted()).toEqual([...plain, 'reserve_vended'].toSorted())
      expect(calls.slice(beforeSts.length)).toEqual(['complete_vended'])
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
  })

  describe('that was given credentials before', () => {
    const recorded = async ({ id }: Held) =>
      (await listVended(service.store, tenant.tenant, { sessionId: id })).items.map(
        ({ prefixes }) => prefixes,
      )

    test('has others asked for while the upstream is asked for it', async () => {
      await loaded(await load('people', await held(['read'])))
      const asked = Promise.withResolvers<void>()
      sts.meanwhile = async () => asked.resolve()
      upstream.meanwhile = () => asked.promise
      const session = await held(['read'])
      expect(await loaded(await load('people', session))).toHaveProperty('storage-credentials')
      expect(await recorded(session)).toEqual([['s3://lake/people/']])
    })

    test('has them for the folders that it has now, and nothing else is on record', async () => {
      upstream.tables.set('moves', { location: 's3://lake/moves' })
      await loaded(await load('moves', await held(['read'])))
      upstream.tables.set('moves', { location: 's3://lake/moved' })
      const session = await held(['read'])
      const answer = await loaded(await load('moves', session))
      const folders = ['s3://lake/moved/', 's3://lake/moves/']
      expect(answer['storage-credentials']?.map(({ prefix }) => prefix)).toEqual(folders)
      expect(await recorded(session)).toEqual([folders])
    })

    test('has them once where the territory of some table has changed since', async () => {
      await loaded(await load('orders', await held(['read'])))
      upstream.tables.set('later', { location: 's3://lake/later' })
      await loaded(await load('later'))
      const session = await held(['read'])
      expect(await loaded(await load('orders', session))).toHaveProperty('storage-credentials')
      expect(await recorded(session)).toEqual([['s3://lake/orders/']])
      const next = await held(['read'])
      expect(await askedBy(() => load('orders', next))).toHaveLength(1)
    })

    test('leaves nothing on record where the upstream has it no more', async () => {
      upstream.tables.set('gone', { location: 's3://lake/gone' })
      await loaded(await load('gone', await held(['read'])))
      upstream.tables.delete('gone')
      const session = await held(['read'])
      expect((await load('gone', session)).status).toBe(404)
      expect(await recorded(session)).toEqual([])
    })

    test('has none, on record either, once the upstream restricts reading', async () => {
      upstream.tables.set('closing', { location: 's3://lake/closing' })
      await loaded(await load('closing', await held(['read'])))
      const restrictions = { 'required-row-filter': { type: 'false' } }
      upstream.tables.set('closing', { location: 's3://lake/closing', restrictions })
      const session = await held(['read'])
      // What was begun is withdrawn without waiting for STS.
      const begun = Promise.withResolvers<void>()
      sts.meanwhile = async () => begun.resolve()
      expect(await loaded(await load('closing', session))).not.toHaveProperty('storage-credentials')
      await begun.promise
      await loaded(await load('orders', session, {}))
      expect(await askedBy(() => load('closing', session))).toEqual([])
      expect(await recorded(session)).toEqual([])
    })

    test('is refused where the session ends while the upstream is asked', async () => {
      await loaded(await load('orders', await held(['read'])))
      const session = await held(['read'])
      upstream.meanwhile = async () =>
        void (await revokeServiceSession(service.store, tenant.tenant, session.id))
      const refused = await load('orders', session)
      expect(refused.status).toBe(401)
      expect(await refused.text()).not.toContain('ASIA')
    })
  })

  test('has no other session’s, and no other tenant’s', async () => {
    const [one, two, theirs] = [await held(['read']), await held(['read']), foreign]
    const asked = await askedBy(async () => {
      for (const session of [one, two, theirs]) await loaded(await load('orders', session))
    })
    expect(new Set(asked.map(({ sessionName }) => sessionName)).size).toBe(3)
  })

  test('has them whatever it had before: with credentials there is no 304', async () => {
    const headers = { ...delegated, 'if-none-match': '"e1"' }
    expect((await load('orders', tenant, headers)).status).toBe(200)
  })

  test('has one entry for each folder, in the spelling of its own locations', async () => {
    upstream.tables.set('spread', {
      location: 's3a://lake/spread',
      properties: { 'write.data.path': 's3://other/spread', 'write.metadata.path': 's3://lake/spread/m' },
    })
    const answer = await loaded(await load('spread'))
    expect(answer['storage-credentials']?.map(({ prefix }) => prefix)).toEqual([
      's3a://lake/spread/',
      's3a://other/spread/',
    ])
  })

  test('has none for a folder of another table', async () => {
    upstream.tables.set('partly', {
      location: 's3://lake/partly',
      properties: { 'write.data.path': 's3://lake/secrets/data' },
    })
    const [asked] = await askedBy(async () => await loaded(await load('partly')))
    expect(asked?.policy.Statement[0]?.Resource).toEqual(['arn:aws:s3:::lake/partly/*'])
    upstream.tables.set('inside', { location: 's3://lake/secrets/inside' })
    expect(await askedBy(async () => await loaded(await load('inside')))).toEqual([])
    expect((await credentials('inside')).status).toBe(403)
  })

  const odd: Readonly<Record<string, { readonly location: string; readonly more?: readonly string[] }>> = {
    star: { location: 's3://lake/st*r' },
    variable: { location: 's3://lake/q\u0024{aws:username}' },
    quoted: { location: 's3://lake/quote"d' },
    apostrophe: { location: "s3://lake/quote'd" },
    far: { location: 'gs://lake/far' },
    many: {
      location: 's3://lake/many',
      more: Array.from({ length: 30 }, (_, i) => `s3://lake/elsewhere-${i}/a-long-name/many`),
    },
  }
  test.each(Object.keys(odd))(
    'has none where they cannot be limited to it, and /credentials says why: %s',
    async (name) => {
      const { location = '', more = [] } = odd[name] ?? {}
      const properties = Object.fromEntries(more.map((path, i) => [`write.${i}.path`, path]))
      upstream.tables.set(name, { location, properties })
      const asked = await askedBy(async () => {
        expect(await loaded(await load(name))).not.toHaveProperty('storage-credentials')
        const refused = await credentials(name)
        expect(refused.status).toBe(403)
        expect(await messageOf(refused)).toMatch(
          new RegExp(`^policy denied: credentials of n.${name} .*, so none are given out$`),
        )
      })
      expect(asked).toEqual([])
    },
  )

  test('where STS packs the policy too large, has none; where STS refuses, the load fails without a secret', async () => {
    const session = await held(['read'])
    sts.refuses = 'PackedPolicyTooLarge'
    expect(await loaded(await load('orders', session))).not.toHaveProperty('storage-credentials')
    sts.refuses = 'AccessDenied'
    const refused = await load('orders', session)
    expect(refused.status).toBe(502)
    expect(await messageOf(refused)).toBe(
      'The service could not assume the role for storage credentials: AWS answered 400 (AccessDenied).',
    )
    expect((await listVended(service.store, tenant.tenant, { sessionId: session.id })).items).toEqual([])
    expect(service.log()).not.toContain(stsKeys.secretAccessKey)
    expect(service.log()).not.toMatch(/issued-ASIA|token-ASIA/)
  })
})

describe('where a filter or mask applies to the caller', () => {
  test('nothing is issued, and /credentials is 403', async () => {
    const masked = service.app.gateway.sightFor
    Object.assign(service.app.gateway, { sightFor: async () => ({ masked: true, uncontracted: undefined }) })
    try {
      const asked = await askedBy(async () => {
        expect(await loaded(await load('people'))).not.toHaveProperty('storage-credentials')
        const refused = await credentials('people')
        expect([refused.status, await messageOf(refused)]).toEqual([
          403,
          'policy denied: row filters or column masks of n.people apply, so its files are not given out. Read it by SQL through this service, which applies them. Access for a time: covenant access request n.people',
        ])
      })
      expect(asked).toEqual([])
    } finally {
      Object.assign(service.app.gateway, { sightFor: masked })
    }
  })
})

describe('a creation', () => {
  const create = (name: string, more: object = {}) =>
    send(
      service,
      'POST',
      '/namespaces/n/tables',
      { name, schema: { type: 'struct', fields: [] }, ...more },
      { tenant, headers: delegated },
    )

  test.each([true, false])('has credentials for the new table’s place alone; staged: %p', async (staged) => {
    const name = `made_${staged}`
    const asked = await askedBy(async () => {
      const answer = await loaded(
        await create(name, { location: `s3://lake/${name}`, 'stage-create': staged }),
      )
      expect(answer['storage-credentials']?.map(({ prefix }) => prefix)).toEqual([`s3://lake/${name}/`])
    })
    expect(asked.map(({ policy }) => policy.Statement[0]?.Resource)).toEqual([
      [`arn:aws:s3:::lake/${name}/*`],
    ])
  })

  test('at another table’s place has none: by its location, a write path, or the upstream’s choice', async () => {
    const asked = await askedBy(async () => {
      for (const staged of [true, false])
        for (const more of [
          { location: 's3://lake/secrets/x' },
          { location: 's3://lake/y', properties: { 'write.data.path': 's3://lake/secrets/y' } },
        ])
          expect((await create('thief', { ...more, 'stage-create': staged })).status).toBe(403)
      expect((await create('placed', { 'stage-create': true })).status).toBe(403)
      expect(await loaded(await create('placed'))).not.toHaveProperty('storage-credentials')
    })
    expect(asked).toEqual([])
  })

  test('that was made is answered 200 where no credentials can be had', async () => {
    sts.refuses = 'AccessDenied'
    const answer = await loaded(await create('unlucky', { location: 's3://lake/unlucky' }))
    expect(answer).not.toHaveProperty('storage-credentials')
  })
})

test('credentials that a session sent alone got are listed under its own subject', async () => {
  nowMs = Date.now()
  const session = await held(['read'])
  const url = new URL('/v1/iceberg/main/v1/namespaces/n/tables/orders', service.app.url)
  await loaded(await fetch(url, { headers: { 'x-svc-session': session.secret, ...delegated } }))
  const path = `/admin/tenants/${tenant.tenant}/credentials/out?session=${session.id}`
  const answer = await call(service, 'GET', path, { secret: service.operator })
  const { items } = (await answer.json()) as { items: readonly { readonly sub: string }[] }
  expect(items.map(({ sub }) => sub)).toEqual([session.sub])
})

describe('a revoked session', () => {
  test('is refused at once, and what it still holds is listed until it expires', async () => {
    nowMs = Date.now()
    const session = await held(['commit', 'read'])
    await loaded(await load('orders', session))
    await loaded(await load('people', session))
    const base = `/admin/tenants/${tenant.tenant}`
    const out = async (as = tenant.tenant) => {
      const path = `/admin/tenants/${as}/credentials/out?session=${session.id}`
      const { items } = (await (await call(service, 'GET', path, { secret: service.operator })).json()) as {
        items: readonly Record<string, unknown>[]
      }
      return items
    }
    const listed = async () => {
      const path = `${base}/sessions?limit=1000`
      const { items } = (await (await call(service, 'GET', path, { secret: service.operator })).json()) as {
        items: readonly Record<string, unknown>[]
      }
      return items.find(({ id }) => id === session.id)
    }
    expect(await listed()).toMatchObject({ state: 'active' })
    expect(await listed()).not.toHaveProperty('quarantined_until')

    const before = await metric(service, 'svc_sessions_quarantined_total')
    const ended = await call(service, 'DELETE', `${base}/sessions/${session.id}`, {
      secret: service.operator,
    })
    expect(ended.status).toBe(200)
    const answer = (await ended.json()) as Record<string, unknown>
    expect(answer).toEqual({
      state: 'quarantined',
      quarantined_until: expect.any(String),
      credentials_out: 2,
    })
    expect(await metric(service, 'svc_sessions_quarantined_total')).toBe(before + 1)
    expect(service.log()).toContain('a revoked session still holds storage credentials')

    for (const response of [
      await load('orders', session),
      await credentials('orders', session),
      await send(
        service,
        'POST',
        '/namespaces/n/tables/orders',
        { requirements: [], updates: [] },
        { tenant: session },
      ),
    ])
      expect(response.status).toBe(401)

    const items = await out()
    expect(items.map((one) => (one.table as { name: string }).name).sort()).toEqual(['orders', 'people'])
    expect(items[0]).toMatchObject({
      session: session.id,
      session_kind: 'service',
      catalog: 'main',
      access: 'write',
      role: writer,
      role_session: sessionNameOf(tenant.tenant, session.id),
      key_id: expect.stringMatching(/^ASIA\d+$/),
    })
    expect(JSON.stringify(items)).not.toMatch(/issued-|token-/)
    expect(await out(foreign.tenant)).toEqual([])
    expect(await listed()).toMatchObject({
      state: 'quarantined',
      quarantined_until: answer.quarantined_until,
    })

    await forget(session)
    expect(await out()).toEqual([])
    expect(await listed()).toMatchObject({ state: 'revoked' })
  })

  test('is not given what STS issued meanwhile', async () => {
    const session = await held(['read'])
    sts.meanwhile = async () => void (await revokeServiceSession(service.store, tenant.tenant, session.id))
    const refused = await load('orders', session)
    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain('ASIA')
  })

  test('is denied by the storage where an administrator asks, with all that were denied before', async () => {
    nowMs = Date.now()
    const [one, two, still] = [await held(['read']), await held(['commit']), await held(['read'])]
    for (const session of [one, two, still]) await loaded(await load('orders', session))
    const deny = (session: Held, of = tenant.tenant) =>
      call(service, 'POST', `/admin/tenants/${of}/credentials/denials`, {
        secret: service.operator,
        body: { session: session.id },
      })
    expect((await deny(one)).status).toBe(409)
    for (const session of [one, two]) await revokeServiceSession(service.store, tenant.tenant, session.id)
    expect((await deny(one, foreign.tenant)).status).toBe(404)

    sts.refuses = 'AccessDenied'
    expect((await deny(one)).status).toBe(502)
    sts.refuses = undefined
    expect(await (await deny(one)).json()).toEqual({ roles: [reader] })
    expect(await (await deny(two)).json()).toEqual({ roles: [writer] })
    const name = `covenant-quarantine-${tenant.tenant}`
    const users = (session: Held) => `*:${sessionNameOf(tenant.tenant, session.id)}`
    const denial = (role: string, session: Held) => ({
      ...{ role, name },
      document: {
        Version: '2012-10-17',
        Statement: [
          {
            ...{ Effect: 'Deny', Action: '*', Resource: '*' },
            Condition: { StringLike: { 'aws:userid': [users(session)] } },
          },
        ],
      },
    })
    expect(sts.put).toEqual([denial('reader', one), denial('writer', two)])

    await revokeServiceSession(service.store, tenant.tenant, still.id)
    await deny(still)
    const both = sts.put.at(-1)?.document.Statement[0]?.Condition as {
      StringLike: { 'aws:userid': readonly string[] }
    }
    expect([...both.StringLike['aws:userid']].sort()).toEqual([users(one), users(still)].sort())
    await forget(one)
  })
})

/** Removes the record of what a session holds, as if it had expired: the database has a clock of its own. */
async function forget({ id }: Held): Promise<void> {
  const rows = await service.store.tenantQuery(
    tenant.tenant,
    `delete from svc.vended_credential where session_id = $1 returning 1`,
    [id],
  )
  expect(rows.length).toBeGreaterThan(0)
}

describe('the mode', () => {
  test('none gives out nothing, and has no /credentials', async () => {
    await rotateCatalogCredential(service.store, tenant.tenant, 'main', { 'vending.mode': 'none' })
    try {
      expect(await loaded(await load('orders'))).not.toHaveProperty('storage-credentials')
      expect((await credentials('orders')).status).toBe(406)
    } finally {
      await rotateCatalogCredential(service.store, tenant.tenant, 'main', { 'vending.mode': 'vend' })
    }
  })

  test('vend lists /credentials, which the service answers itself', async () => {
    const { endpoints } = (await (await send(service, 'GET', '/config', undefined, { tenant })).json()) as {
      endpoints: readonly string[]
    }
    expect(endpoints).toContain('GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials')
  })
})

test('without a license for it nothing is issued, and /credentials says so', async () => {
  await using bare = await startIdentityService()
  const url = upstream.url.replace(/\/$/, '')
  const own = await addTenant(bare.store, 'unlicensed', url, config())
  const ask = (path: string) =>
    send(bare, 'GET', `/namespaces/n/tables/orders${path}`, undefined, { tenant: own, headers: delegated })
  const asked = await askedBy(async () => {
    expect(await loaded(await ask(''))).not.toHaveProperty('storage-credentials')
    const refused = await ask('/credentials')
    expect([refused.status, await messageOf(refused)]).toEqual([
      403,
      'The capability `vending` needs a license, and none is installed.',
    ])
  })
  expect(asked).toEqual([])
})
