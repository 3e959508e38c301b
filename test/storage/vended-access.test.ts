/** Reads with credentials that the upstream vends: when and for what they are requested, and for how long used. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { OpenCatalogs } from '../../src/catalog/open-catalog.ts'
import type { CatalogCredential } from '../../src/core/catalog.ts'
import { newTenantId } from '../../src/core/tenant.ts'
import { scanSnapshot } from '../../src/detection/scan/scan-snapshot.ts'
import { limits } from '../../src/limits.ts'
import { openStorage, type S3Access } from '../../src/storage/storage.ts'
import { tableAccess } from '../../src/storage/vended-access.ts'
import { allowing } from '../support/address-rules.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../support/vending-upstream.ts'

const clock = { ms: 1_800_000_000_000, now: () => clock.ms }
const people = { namespace: ['sales'], name: 'people' }
const tenant = newTenantId()
const addressRules = allowing('127.0.0.1')
let upstream: VendingUpstream

beforeAll(async () => {
  upstream = await startVendingUpstream()
})
afterAll(() => upstream[Symbol.asyncDispose]())
beforeEach(() => {
  upstream.loads.length = 0
  upstream.keysSeen.length = 0
  upstream.answer = (token) => ({ config: vendedTo(token, upstream.s3Url) })
})

const credential = (
  config: Readonly<Record<string, unknown>> = {},
  more: Partial<CatalogCredential> = {},
): CatalogCredential => ({
  id: 'c1',
  version: 1,
  kind: 'alpha',
  nickname: 'lake',
  endpoint: upstream.url,
  config: {
    endpoint: upstream.url,
    warehouse: 'w',
    token: 'acme',
    storage_roots: ['s3://lake/sales'],
    ...config,
  },
  ...more,
})
const open = (rules = addressRules) =>
  tableAccess({ catalogs: new OpenCatalogs({ addressRules }), addressRules: rules, clock })
const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (thrown: Error) => thrown.message,
  )

test('a snapshot is scanned by what the upstream vends, asked for as vended-credentials', async () => {
  const access = await open()(tenant, credential(), people)
  const { findings, reason } = await scanSnapshot({ metadataLocation: upstream.metadataLocation, access })
  expect(reason).toBe('')
  expect(findings.map(({ finding }) => [finding.column, finding.class, finding.confidence])).toEqual([
    ['email', 'email', 0.92],
  ])
  expect(upstream.loads).toEqual([{ token: 'acme', delegation: 'vended-credentials' }])
  expect(new Set(upstream.keysSeen.map(({ key }) => key))).toEqual(new Set(['KEY-acme']))
})

test('nothing is read by credentials that come with restrictions', async () => {
  const access = () => open()(tenant, credential(), people)
  const answer = (restrictions: unknown) => (token: string) => ({
    config: vendedTo(token, upstream.s3Url),
    'read-restrictions': restrictions,
  })
  upstream.answer = answer({ 'required-column-projections': [{ 'field-id': 1, action: 'mask-alphanum' }] })
  expect(await failure(access())).toBe('the upstream catalog restricts reading the table')
  upstream.answer = answer({})
  expect((await access()).vended).toBeDefined()
})

test('what may be read stays below the storage roots, whatever is vended', async () => {
  const access = await open()(tenant, credential({ storage_roots: ['s3://lake/other'] }), people)
  expect(await failure(openStorage(access).open(upstream.metadataLocation))).toContain(
    'outside the storage_roots',
  )
  expect(upstream.keysSeen).toEqual([])
})

describe('nothing is asked of the upstream', () => {
  test.each([
    ['where the catalog credential holds keys', { 's3.access-key-id': 'A', 's3.secret-access-key': 'B' }, {}],
    ['where no root is on S3', { storage_roots: ['file:///srv/lake'] }, {}],
    ['where no root is registered', { storage_roots: undefined }, {}],
    ['of a kind that does not vend', {}, { kind: 'beta' as const }],
  ])('%s', async (_, config, more) => {
    const own = { 's3.endpoint': upstream.s3Url }
    const access = await open()(tenant, credential({ ...own, ...config }, more), people)
    expect(access.vended).toBeUndefined()
    expect(upstream.loads).toEqual([])
  })

  test('where the table is not known', async () => {
    expect((await open()(tenant, credential(), undefined)).vended).toBeUndefined()
    expect(upstream.loads).toEqual([])
  })
})

test('of storage-credentials the longest prefix above a location counts, then the table’s configuration', async () => {
  upstream.answer = (token) => ({
    config: vendedTo(token, upstream.s3Url),
    'storage-credentials': [
      { prefix: 's3', config: vendedTo('all', upstream.s3Url) },
      { prefix: 's3a://lake/sales/people', config: vendedTo('people', upstream.s3Url) },
      { prefix: 's3://lake/sales', config: vendedTo('sales', upstream.s3Url) },
      { prefix: 'gs://lake', config: { 'gcs.oauth2.token': 'x' } },
    ],
  })
  const access = await open()(tenant, credential({ storage_roots: ['s3://lake', 's3://pond'] }), people)
  const keyOf = async (location: string) => {
    await failure(openStorage(access).open(location))
    return upstream.keysSeen.at(-1)?.key
  }
  expect(await keyOf('s3://lake/sales/people/a')).toBe('KEY-people')
  expect(await keyOf('s3://lake/sales/orders/a')).toBe('KEY-sales')
  expect(await keyOf('s3://pond/a')).toBe('KEY-all')
  upstream.answer = (token) => ({
    config: vendedTo(token, upstream.s3Url),
    'storage-credentials': [{ prefix: 's3://lake/sales', config: vendedTo('sales', upstream.s3Url) }],
  })
  const other = await open()(tenant, credential({ storage_roots: ['s3://lake', 's3://pond'] }), people)
  await failure(openStorage(other).open('s3://pond/a'))
  expect(upstream.keysSeen.at(-1)?.key).toBe('KEY-acme')
})

describe('they are kept', () => {
  const ending = (inMs: number) => {
    upstream.answer = (token) => ({
      config: {
        ...vendedTo(token, upstream.s3Url),
        's3.session-token-expires-at-ms': String(clock.ms + inMs),
      },
    })
  }

  test('until shortly before they end, so that none ends while a scan runs', async () => {
    ending(limits.vendedMarginMs + 1_000)
    const access = open()
    await access(tenant, credential(), people)
    await access(tenant, credential(), people)
    expect(upstream.loads).toHaveLength(1)
    clock.ms += 1_000
    await access(tenant, credential(), people)
    expect(upstream.loads).toHaveLength(2)
  })

  test('no longer than five minutes, where no end is said or a far one', async () => {
    for (const answer of [upstream.answer, undefined]) {
      if (answer === undefined) ending(86_400_000)
      upstream.loads.length = 0
      const access = open()
      await access(tenant, credential(), people)
      clock.ms += limits.vendedCredentialsMs - 1
      await access(tenant, credential(), people)
      expect(upstream.loads).toHaveLength(1)
      clock.ms += 1
      await access(tenant, credential(), people)
      expect(upstream.loads).toHaveLength(2)
    }
  })

  test('not at all where their end cannot be read', async () => {
    upstream.answer = (token) => ({
      config: { ...vendedTo(token, upstream.s3Url), 's3.session-token-expires-at-ms': 'soon' },
    })
    const access = open()
    await access(tenant, credential(), people)
    await access(tenant, credential(), people)
    expect(upstream.loads).toHaveLength(2)
  })

  test('but asked for again where an attempt before may have been refused for them', async () => {
    const access = open()
    await access(tenant, credential(), people)
    await access(tenant, credential(), people, true)
    expect(upstream.loads).toHaveLength(2)
  })

  test('for one tenant, one version of its credential and one table', async () => {
    const access = open()
    await access(tenant, credential(), people)
    const foreign = await access(newTenantId(), credential({ token: 'other' }), people)
    expect(foreign.vended?.map(({ s3 }) => s3.accessKeyId)).toEqual(['KEY-other'])
    const rotated = await access(tenant, credential({ token: 'new' }, { version: 2 }), people)
    expect(rotated.vended?.map(({ s3 }) => s3.accessKeyId)).toEqual(['KEY-new'])
    expect(await failure(access(tenant, credential(), { namespace: ['sales'], name: 'none' }))).toContain(
      'does not load the table',
    )
  })
})

describe('the endpoint', () => {
  test('that is vended must be at an allowed address', async () => {
    // The catalog itself is allowed; its storage is elsewhere.
    for (const endpoint of ['http://169.254.169.254', 'http://10.0.0.1:9000', 'file:///etc', 'not a URL']) {
      upstream.answer = (token) => ({ config: vendedTo(token, endpoint) })
      expect(await failure(open()(tenant, credential(), people))).toContain(
        'the s3.endpoint that the upstream vends',
      )
    }
    expect(upstream.keysSeen).toEqual([])
  })

  test('is the administrator’s where one is registered', async () => {
    upstream.answer = (token) => ({ config: vendedTo(token, 'http://10.0.0.1:9000') })
    const access = await open()(tenant, credential({ 's3.endpoint': upstream.s3Url }), people)
    expect((await openStorage(access).open(upstream.metadataLocation)).size).toBeGreaterThan(0)
  })

  test('is connected to at the address that was checked, whatever its name is by then', async () => {
    const access = await open(allowing('localhost', '127.0.0.1', '::1'))(
      tenant,
      credential({ 's3.endpoint': upstream.s3Url.replace('127.0.0.1', 'localhost') }),
      people,
    )
    const [vended] = access.vended ?? []
    if (vended === undefined) throw new Error('nothing was vended')
    const { localhost = [] } = vended.s3.addresses ?? {}
    expect(localhost).toContain('127.0.0.1')
    const readAt = async (changes: Partial<S3Access>) => {
      const endpoint = upstream.s3Url.replace('127.0.0.1', 'moved.invalid')
      const moved = { prefix: '', s3: { ...vended.s3, endpoint, ...changes } }
      return await failure(openStorage({ ...access, vended: [moved] }).open(upstream.metadataLocation))
    }
    expect(await readAt({ addresses: { 'moved.invalid': localhost } })).toBe('none')
    // No host but those that were checked: not by another name, not by a bucket's.
    expect(await readAt({})).toBe('storage could not be reached')
    expect(await readAt({ addresses: { 'moved.invalid': localhost }, virtualHosted: true })).toBe(
      'storage could not be reached',
    )
  })

  test('with the bucket in its host name is checked by that name', async () => {
    const own = { 's3.access-key-id': 'A', 's3.secret-access-key': 'B', 's3.path-style-access': 'false' }
    const asked = open()(tenant, credential({ ...own, 's3.endpoint': 'http://storage.invalid' }), people)
    expect(await failure(asked)).toContain('does not resolve to an allowed address')
  })
})

test('an upstream that vends nothing usable is a reason that says so', async () => {
  upstream.answer = () => ({ config: {} })
  expect(await failure(open()(tenant, credential(), people))).toBe(
    'the catalog credential holds no storage credentials, and the upstream catalog vends none',
  )
  upstream.answer = () => ({ config: { 's3.region': 'evil.example/#' } })
  expect(await failure(open()(tenant, credential(), people))).toContain('vends none')
})
