/** Storage roots bound what the service gives out: territory, keys, signatures and plans, in both modes of territory. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { catalogOf } from '../../../src/core/catalog.ts'
import { withinRoots } from '../../../src/storage/roots.ts'
import { findCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { listTerritory } from '../../../src/store/territory/list-territory.ts'
import { licenseFor } from '../../support/license.ts'
import {
  addTenant,
  prefix,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { startSts, stsKeys, type TestSts } from '../../support/sts.ts'
import { messageOf, send } from '../../support/surface.ts'
import { startTableUpstream, type TableUpstream } from '../../support/table-upstream.ts'
import { enforceTerritory, take } from '../../support/territory.ts'

setDefaultTimeout(300_000)

const roots = ['s3://lake/root', 's3a://team/']
let service: TestService
let upstream: TableUpstream
let sts: TestSts
let vends: TestTenant
let observes: TestTenant
let signs: TestTenant
let passes: TestTenant
let rootless: TestTenant
let all: readonly TestTenant[]
let administrator: TestTenant

beforeAll(async () => {
  sts = startSts(() => Date.now())
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } })
  upstream = startTableUpstream()
  const url = upstream.url.replace(/\/$/, '')
  const role = 'arn:aws:iam::123456789012:role/lake'
  const vending = {
    'vending.mode': 'vend',
    ...{ 'vending.role-arn': role, 'vending.deletes': 'true' },
    'vending.access-key-id': stsKeys.accessKeyId,
    'vending.secret-access-key': stsKeys.secretAccessKey,
    ...{ 'vending.sts-endpoint': sts.url, 's3.region': 'eu-central-1' },
  }
  const signing = {
    'vending.mode': 'sign',
    ...{ 's3.access-key-id': 'AKSIGN', 's3.secret-access-key': 'of-signatures' },
    ...{ 's3.endpoint': 'https://storage.example', 's3.region': 'eu-1' },
  }
  const add = (name: string, config: object) => addTenant(service.store, name, url, { ...config })
  vends = await add('vends', { ...vending, storage_roots: roots })
  observes = await add('observes', { ...vending, storage_roots: roots })
  signs = await add('signs', { ...signing, storage_roots: roots })
  passes = await add('passes', { storage_roots: roots })
  rootless = await add('rootless', vending)
  for (const { tenant } of [vends, signs, passes, rootless]) await enforceTerritory(service.store, tenant)
  all = [vends, observes, signs, passes]
  const made = await createServiceSession(service.store, vends.tenant, {
    name: 'ada',
    principal: { sub: 'ada', roles: ['administrator'] },
    scopes: ['commit', 'admin'],
  })
  administrator = { tenant: vends.tenant, ...made }
  upstream.tables.set('mine', { location: 's3://lake/root/mine' })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
  await sts[Symbol.asyncDispose]()
})

const delegated = { 'x-iceberg-access-delegation': 'vended-credentials,remote-signing' }
const schema = { type: 'struct', fields: [] }
const create = (as: TestTenant, more: object, headers: Readonly<Record<string, string>> = {}) =>
  send(
    service,
    'POST',
    '/namespaces/n/tables',
    { name: 'new', schema, ...more },
    { tenant: as, headers: { ...delegated, ...headers } },
  )
const load = (as: TestTenant, name: string) =>
  send(service, 'GET', `/namespaces/n/tables/${name}`, undefined, { tenant: as, headers: delegated })
const credentials = (as: TestTenant, name: string) =>
  send(service, 'GET', `/namespaces/n/tables/${name}/credentials`, undefined, {
    tenant: as,
    headers: delegated,
  })
const plan = (as: TestTenant, name: string) =>
  send(service, 'POST', `/namespaces/n/tables/${name}/plan`, {}, { tenant: as })
const commit = (as: TestTenant, update: object) =>
  send(service, 'POST', '/namespaces/n/tables/mine', { requirements: [], updates: [update] }, { tenant: as })

const outside = [
  's3://other-bucket/x',
  's3://lake/root-x/t',
  's3://lake/t',
  's3a://lake/rootx',
  's3://lake/Root/t',
  'gs://lake/root/t',
  'file:///lake/root/t',
]
/** Those that readers would open as different objects are below no root. */
const unclear = [
  's3://lake/root/../t',
  's3://lake/root/%2e%2e/t',
  's3://lake/root//t',
  's3://lake@other/root/t',
  's3://lake:443/root/t',
]

/** Everything that leads to files: keys of ours or of the upstream, and signers. */
const leadsToFiles = /ASIA|"AK-up"|"SK-up"|"ST-up"|signer|storage-credentials/

describe('a location outside of the storage roots', () => {
  test.each([...outside, ...unclear])(
    '%s: nothing is made there by a creation, staged or not, and STS is not asked',
    async (location) => {
      const before = [sts.asked.length, upstream.delegations.length]
      for (const tenant of all)
        for (const staged of [true, false]) {
          const response = await create(tenant, { location, 'stage-create': staged })
          expect(response.status).toBe(403)
          const message = await messageOf(response)
          expect(message).toMatch(
            unclear.includes(location) ? /territory: the location/ : /outside of the storage roots of/,
          )
          expect(message).not.toContain('s3://lake/root,')
        }
      expect([sts.asked.length, upstream.delegations.length]).toEqual(before)
    },
  )

  test.each([
    ...['write.data.path', 'write.metadata.path', 'write.object-storage.path', 'write.folder-storage.path'],
  ])('is refused as %s of a creation and of a commit', async (property) => {
    const properties = { [property]: 's3://other-bucket/new' }
    for (const tenant of all) {
      const made = await create(tenant, { location: 's3://lake/root/new', properties })
      expect([made.status, await messageOf(made)]).toEqual([
        403,
        expect.stringContaining('the location s3://other-bucket/new/ lies outside of the storage roots'),
      ])
      const set = await commit(tenant, { action: 'set-properties', updates: properties })
      expect([set.status, await messageOf(set)]).toEqual([403, expect.stringContaining('storage roots')])
    }
  })

  test('is refused to a commit that moves its table there, and to a registration of a file there', async () => {
    for (const tenant of all) {
      const moved = await commit(tenant, { action: 'set-location', location: 's3://other-bucket/mine' })
      expect([moved.status, await messageOf(moved)]).toEqual([403, expect.stringContaining('storage roots')])
      const file = { name: 'new', 'metadata-location': 's3://other-bucket/new/metadata/1.json' }
      const registered = await send(service, 'POST', '/namespaces/n/register', file, { tenant })
      expect([registered.status, await messageOf(registered)]).toEqual([
        403,
        expect.stringContaining('storage roots'),
      ])
    }
  })

  test('is refused on the literal path as a policy denies there', async () => {
    const response = await fetch(new URL(`/v1/iceberg/${prefix}/namespaces/n/tables/mine`, service.app.url), {
      method: 'POST',
      headers: { 'x-svc-session': vends.secret },
      body: JSON.stringify({
        requirements: [],
        updates: [{ action: 'set-location', location: 's3://other-bucket/mine' }],
      }),
    })
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringMatching(
        /^policy denied: territory: the location s3:\/\/other-bucket\/mine\/ lies outside/,
      ),
    ])
  })

  test('is refused to an administrator with the names of the roots', async () => {
    const location = 's3://other-bucket/x'
    const own = await create(administrator, { location }, { authorization: 'None' })
    expect(await messageOf(own)).toContain('which are s3://lake/root, s3a://team/')
    const claimed = await create(vends, { location }, { authorization: 'None' })
    expect(await messageOf(claimed)).not.toContain('s3a://team')
  })

  test('becomes the territory of no table that is loaded, and none of its files is given out', async () => {
    const before = sts.asked.length
    upstream.tables.set('far', { location: 's3://other-bucket/far' })
    for (const { tenant, ...session } of all) {
      const as = { tenant, ...session }
      const response = await load(as, 'far')
      expect(response.status).toBe(200)
      expect(await response.text()).not.toMatch(leadsToFiles)
      for (const refused of [await credentials(as, 'far'), await plan(as, 'far')])
        expect([403, 406]).toContain(refused.status)
      const { items } = await listTerritory(service.store, tenant, { limit: 1000 })
      expect(items.filter(({ prefix: held }) => !withinRoots(held, roots))).toEqual([])
    }
    expect(sts.asked.length).toBe(before)
  })

  test('that the catalog chose, or that a registered file names, is answered without access', async () => {
    // The upstream places a creation without a location below `s3://lake/secrets`.
    for (const tenant of all) {
      const made = await create(tenant, { name: `chosen_${tenant.tenant.slice(0, 8)}` })
      expect(await made.text()).not.toMatch(leadsToFiles)
      const staged = await create(tenant, { name: 'staged', 'stage-create': true })
      expect([staged.status, await messageOf(staged)]).toEqual([
        403,
        expect.stringContaining('which the catalog chose'),
      ])
    }
  })
})

test('what was taken before the roots were registered is left out of what is given out', async () => {
  const { tenant } = vends
  const credential = await findCatalogCredential(service.store, tenant, prefix)
  if (credential === undefined) throw new Error('no credential')
  upstream.tables.set('wide', { location: 's3://lake/root/wide' })
  for (const folder of ['s3://lake/root/wide/', 's3://other-bucket/wide/'])
    await take(service.store, tenant, 'wide', folder, { catalog: catalogOf(credential) })
  const before = sts.asked.length
  const path = '/namespaces/sales/tables/wide/credentials'
  const response = await send(service, 'GET', path, undefined, { tenant: vends, headers: delegated })
  expect([response.status, (await response.text()).includes('other-bucket')]).toEqual([200, false])
  const [asked] = sts.asked.slice(before)
  expect(asked?.policy.Statement[0]?.Resource).toEqual(['arn:aws:s3:::lake/root/wide/*'])
})

test('a catalog without storage roots gives out nothing, and says so', async () => {
  const before = sts.asked.length
  const response = await load(rootless, 'mine')
  expect([response.status, leadsToFiles.test(await response.text())]).toEqual([200, false])
  const refused = await credentials(rootless, 'mine')
  expect([refused.status, await messageOf(refused)]).toEqual([
    403,
    expect.stringContaining('its catalog credential registers no storage_roots'),
  ])
  expect(sts.asked.length).toBe(before)
})

test('no policy that STS was given names a resource outside of the roots', async () => {
  for (const [at, location] of [
    's3://lake/root/a',
    's3a://lake/root/b/',
    's3n://team/c',
    's3://team/d/e',
  ].entries())
    expect((await create(vends, { name: `t${at}`, location })).status).toBe(200)
  expect(sts.asked.length).toBeGreaterThan(4)
  const resources = sts.asked.flatMap(({ policy }) => policy.Statement.flatMap(({ Resource }) => Resource))
  const objects = resources
    .filter((one) => one.endsWith('*'))
    .map((one) => one.replace('arn:aws:s3:::', 's3://').slice(0, -1))
  expect(objects.filter((one) => !withinRoots(one, roots))).toEqual([])
})
