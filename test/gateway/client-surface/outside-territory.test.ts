/**
 * The upstream's credentials pass for folders only that belong to the table. With the advisories that Polaris fixed in
 * 1.4.1, each as a test.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { operator } from '../../../src/core/administration.ts'
import { catalogOf } from '../../../src/core/catalog.ts'
import { findCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import {
  grantTerritory,
  putTerritoryMode,
  releaseTerritory,
  type TerritoryTable,
} from '../../../src/store/territory/administer-territory.ts'
import {
  addTenant,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'
import { startTableUpstream, type TableUpstream, upstreamKeys } from '../../support/table-upstream.ts'
import { ancestorsOf, enforceTerritory } from '../../support/territory.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: TableUpstream
let tenant: TestTenant
let foreign: TestTenant
/** The upstream's tables, by name. */
let made: TableUpstream['tables']
/** Times that the store was asked for a table's territory. */
let lookUps = 0
const delegated = { 'x-iceberg-access-delegation': 'vended-credentials' }

beforeAll(async () => {
  service = await startTestService({
    wrapStore: (store) => ({
      ...store,
      tenantCall(of, name, params) {
        if (name === 'load_policies') lookUps++
        return store.tenantCall(of, name, params)
      },
    }),
  })
  upstream = startTableUpstream()
  made = upstream.tables
  tenant = await addTenant(service.store, 'places', upstream.url.replace(/\/$/, ''), {
    storage_roots: ['s3://lake'],
  })
  foreign = await addTenant(service.store, 'others', upstream.url.replace(/\/$/, ''), {
    storage_roots: ['s3://lake'],
  })
  for (const { tenant: id } of [tenant, foreign]) await enforceTerritory(service.store, id)
  made.set('secrets', { location: 's3://lake/secrets' })
  made.set('attack', { location: 's3://lake/attack' })
  for (const name of ['secrets', 'attack']) await load(name)
})
afterAll(async () => {
  await upstream.stop()
  await service[Symbol.asyncDispose]()
})

const load = (name: string, of: TestTenant = tenant) =>
  send(service, 'GET', `/namespaces/n/tables/${name}`, undefined, { tenant: of, headers: delegated })
const credentials = (name: string, of: TestTenant = tenant) =>
  send(service, 'GET', `/namespaces/n/tables/${name}/credentials`, undefined, { tenant: of })
const plan = (name: string, of: TestTenant = tenant) =>
  send(service, 'POST', `/namespaces/n/tables/${name}/plan`, {}, { tenant: of, headers: delegated })
/** Whether a load, `/credentials` and a scan plan have the upstream's credentials. */
async function passedOn(name: string, of: TestTenant): Promise<readonly boolean[]> {
  const has: boolean[] = []
  for (const ask of [load, credentials, plan]) has.push(upstreamKeys.test(await (await ask(name, of)).text()))
  return has
}
/** A table of the tenant's catalog, as administration names it. */
async function tableOf({ tenant: id }: TestTenant, name: string): Promise<TerritoryTable> {
  const credential = await findCatalogCredential(service.store, id, prefix)
  if (credential === undefined) throw new Error('the tenant has no catalog credential')
  const table = { namespace: ['n'], name }
  return { catalog: catalogOf(credential), credentialId: credential.id, nickname: prefix, table }
}
const grant = async (to: TestTenant, name: string, folder: string) =>
  await grantTerritory(
    service.store,
    to.tenant,
    await tableOf(to, name),
    { prefix: folder, ancestors: ancestorsOf(folder) },
    operator(),
  )
const creation = (name: string, more: object = {}) =>
  send(
    service,
    'POST',
    '/namespaces/n/tables',
    { name, schema: { type: 'struct', fields: [] }, ...more },
    { tenant, headers: delegated },
  )
/** Requests that the upstream saw meanwhile, without those of sweeps. */
async function forwardedBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = upstream.seen.length
  await work()
  return upstream.seen.slice(before).filter((one) => one.startsWith('POST') && !one.includes('oauth'))
}

describe('a loaded table', () => {
  test('of which every folder is its own has credentials', async () => {
    const response = await load('attack')
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(upstreamKeys)
    expect((await credentials('attack')).status).toBe(200)
    expect(await (await plan('attack')).text()).toMatch(upstreamKeys)
  })

  test.each([
    ['a location in another table’s territory', { location: 's3://lake/secrets/below' }],
    ['a location that is a whole bucket', { location: 's3://lake' }],
    [
      'a data path in another table’s territory',
      { location: 's3://lake/d', properties: { 'write.data.path': 's3://lake/secrets/data' } },
    ],
    [
      'a data path that several tables could share',
      { location: 's3://lake/e', properties: { 'write.data.path': 's3://lake/shared' } },
    ],
    [
      'a metadata path in another table’s territory',
      { location: 's3://lake/f', properties: { 'write.metadata.path': 's3://lake/secrets/metadata' } },
    ],
  ])('with %s has none, each time it is loaded', async (_, table) => {
    made.set('stray', table)
    for (let time = 0; time < 2; time++) {
      const response = await load('stray')
      expect(response.status).toBe(200)
      expect(await response.text()).not.toMatch(upstreamKeys)
    }
    const planned = await plan('stray')
    expect([planned.status, await planned.json()]).toEqual([200, { status: 'completed' }])
    const refused = await credentials('stray')
    expect(refused.status).toBe(403)
    const message = await messageOf(refused)
    expect(message).toContain('a folder of n.stray is outside of its territory')
    expect(message).not.toContain('secrets')
  })

  test('whose location has dots has none, and no plan: it is below no storage root', async () => {
    made.set('stray', { location: 's3://lake/secrets/..hidden/../secrets' })
    expect(await (await load('stray')).text()).not.toMatch(upstreamKeys)
    for (const response of [await plan('stray'), await credentials('stray')]) {
      expect(response.status).toBe(403)
      expect(await messageOf(response)).toContain('outside of the storage roots of its catalog')
    }
  })

  test('has them where another tenant owns the folder: territory is a tenant’s', async () => {
    made.set('mine', { location: 's3://lake/mine' })
    await load('mine')
    made.set('theirs', { location: 's3://lake/mine/below' })
    expect(await (await load('theirs', foreign)).text()).toMatch(upstreamKeys)
  })

  test('has them as soon as its folder was granted', async () => {
    made.set('shares', {
      location: 's3://lake/g',
      properties: { 'write.data.path': 's3://lake/common' },
    })
    expect(await passedOn('shares', tenant)).toEqual([false, false, false])
    await grant(tenant, 'shares', 's3://lake/common/')
    expect(await passedOn('shares', tenant)).toEqual([true, true, true])
  })

  test('has none once a folder that it was granted is released, and another table’s', async () => {
    const folder = 's3://lake/plain/'
    made.set('held', { location: 's3://lake/h', properties: { 'write.data.path': 's3://lake/plain' } })
    for (const of of [tenant, foreign]) {
      await grant(of, 'held', folder)
      expect(await passedOn('held', of)).toEqual([true, true, true])
    }
    await releaseTerritory(service.store, tenant.tenant, await tableOf(tenant, 'held'), folder, operator())
    expect(await passedOn('held', tenant)).toEqual([false, false, false])
    expect(await passedOn('held', foreign)).toEqual([true, true, true])
    await grant(tenant, 'takes', folder)
    expect(await passedOn('held', tenant)).toEqual([false, false, false])
  })

  test('is looked up again only where it would have them', async () => {
    const looked = async (headers: Readonly<Record<string, string>>) => {
      const before = lookUps
      await send(service, 'GET', '/namespaces/n/tables/attack', undefined, { tenant, headers })
      return lookUps - before
    }
    await load('attack')
    expect([await looked({}), await looked(delegated)]).toEqual([0, 1])
  })

  test('has them where it was dropped, released and registered again from the same file', async () => {
    made.set('returns', { location: 's3://lake/returns' })
    expect(await passedOn('returns', tenant)).toEqual([true, true, true])
    await service.store.tenantQuery(
      tenant.tenant,
      `update svc.territory set released_at = clock_timestamp() where tenant_id = $1 and table_name = 'returns'`,
      [tenant.tenant],
    )
    expect(await passedOn('returns', tenant)).toEqual([true, true, true])
  })

  test('has them where the tenant observes, and the conflict is listed', async () => {
    made.set('seen', { location: 's3://lake/secrets/seen' })
    await putTerritoryMode(service.store, tenant.tenant, 'observe', operator())
    expect(await (await load('seen')).text()).toMatch(upstreamKeys)
    await enforceTerritory(service.store, tenant.tenant)
    expect(await (await load('seen')).text()).not.toMatch(upstreamKeys)
  })
})

describe('Polaris’s advisory 42809: credentials for a place that was not judged', () => {
  const places = [
    ['a location', { location: 's3://lake/secrets/stolen' }],
    ['a data path', { properties: { 'write.data.path': 's3://lake/secrets/data' } }],
    ['a metadata path', { properties: { 'write.metadata.path': 's3://lake/secrets/metadata' } }],
  ] as const
  for (const staged of [true, false])
    test.each(places)(`${staged ? 'staged' : 'plain'}, by %s: nothing is forwarded`, async (_, more) => {
      let response: Response | undefined
      const forwarded = await forwardedBy(async () => {
        response = await creation('thief', { location: 's3://lake/thief', ...more, 'stage-create': staged })
      })
      expect([response?.status, forwarded]).toEqual([403, []])
    })

  test('where the upstream chooses another table’s place, its credentials are withheld', async () => {
    const response = await creation('placed')
    expect(response.status).toBe(200)
    expect(await response.text()).not.toMatch(upstreamKeys)
    expect((await creation('placed_2', { 'stage-create': true })).status).toBe(403)
  })

  test('a creation at a free place has them', async () => {
    expect(await (await creation('free', { location: 's3://lake/free' })).text()).toMatch(upstreamKeys)
  })
})

describe('Polaris’s advisories 42810 and 42811: names that mean something in a policy', () => {
  test.each(['*', 'a*', '?', '\u0024{aws:username}', "a'b", 'a"b', "') || resource.name.startsWith('"])(
    'no table, namespace or path is named %s',
    async (name) => {
      let statuses: readonly number[] = []
      const forwarded = await forwardedBy(async () => {
        const encoded = encodeURIComponent(name)
        statuses = [
          (await creation(name)).status,
          (await load(encoded)).status,
          (await credentials(encoded)).status,
          (await send(service, 'POST', `/namespaces/${encoded}/tables`, { name: 't' }, { tenant })).status,
        ]
      })
      expect([statuses, forwarded]).toEqual([[400, 400, 400, 400], []])
    },
  )
})

test('Polaris’s advisory 42812: a commit that changes write.metadata.path alone is judged', async () => {
  const forwarded = await forwardedBy(async () => {
    const response = await send(
      service,
      'POST',
      '/namespaces/n/tables/attack',
      {
        requirements: [],
        updates: [
          { action: 'set-properties', updates: { 'write.metadata.path': 's3://lake/secrets/metadata' } },
        ],
      },
      { tenant },
    )
    expect(response.status).toBe(403)
    expect(await messageOf(response)).toStartWith('policy denied: territory: the location ')
  })
  expect(forwarded).toEqual([])
})
