/** Which version of a contract was in force at a time: `as_of` of documents, and the list of times, never a foreign tenant’s. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { listTerms, termAt } from '../../src/store/contract/in-force.ts'
import type { RunQuery } from '../../src/store/contract/versions.ts'
import { commitColumns } from '../support/governed.ts'
import { call, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService } from '../support/service.ts'

setDefaultTimeout(120_000)

const documents = '/api/v1/contracts/documents'
let service: TestService
let owner: TenantId
let other: TenantId
let stella: string
let sten: string
let auditor: string
let reader: string
let foreign: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  owner = service.owner.tenant
  other = (await addTenant(service.store, 'foreign', service.catalog.url)).tenant
  for (const tenant of [owner, other])
    for (const name of ['orders', 'people'])
      await commitColumns(service.store, tenant, { namespace: ['sales'], name }, { id: 'long' })
  stella = await session(service, owner, sessionScopes, ['steward'], 'stella')
  sten = await session(service, owner, sessionScopes, ['steward'], 'sten')
  auditor = await session(service, owner, ['read'], ['auditor'], 'otto')
  reader = await session(service, owner, ['read'], ['analyst'], 'rita')
  foreign = await session(service, other, sessionScopes, ['steward'], 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

const document = (version: string, table: string, id = table) => `apiVersion: v3.2.0
kind: DataContract
id: ${id}
version: ${version}
schema:
- name: ${table}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${table}}}}
  properties:
  - {name: id, logicalType: integer}
`

async function ask(method: string, path: string, secret = stella, body?: unknown) {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(service, method, path, { secret, headers, body })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, text, value: isJson ? JSON.parse(text) : undefined }
}
const put = (id: string, body: string, secret = stella) => ask('PUT', `${documents}/${id}`, secret, body)
const at = (id: string, asOf: string, secret = stella, more = '') =>
  ask('GET', `${documents}/${id}?as_of=${encodeURIComponent(asOf)}${more}`, secret)

interface Term {
  readonly id: string
  readonly number: number
  readonly state?: string
  readonly in_force_from: string
  readonly in_force_until?: string
  readonly deprecated_at?: string
}
async function termsOf(query: string, secret = stella): Promise<readonly Term[]> {
  const { status, value } = await ask('GET', `/api/v1/contracts/in-force?${query}`, secret)
  expect(status).toBe(200)
  return value.items
}
/** The last millisecond before a time. */
const before = (time: string) => new Date(Date.parse(time) - 1).toISOString()

/** Waits until the store’s clock shows a later millisecond, so that two times differ. */
async function nextMillisecond(): Promise<void> {
  const run: RunQuery = (text, params) => service.store.tenantQuery(owner, text, params)
  const now = async () =>
    (await run<{ ms: string }>("select date_trunc('milliseconds', clock_timestamp())::text as ms"))[0]?.ms
  const first = await now()
  while ((await now()) === first);
}

test('documents that are put directly are in force from their import until the next one or their deletion', async () => {
  const [one, two, three] = ['1.0.0', '1.0.1', '1.0.2'].map((version) => document(version, 'orders'))
  for (const body of [one, two]) {
    expect((await put('orders', body ?? '')).status).toBe(200)
    await nextMillisecond()
  }
  expect((await ask('DELETE', `${documents}/orders`)).status).toBe(204)
  await nextMillisecond()
  expect((await put('orders', three ?? '')).status).toBe(200)
  const [first, second, third] = await termsOf('contract=orders')
  if (first === undefined || second === undefined || third === undefined) throw new Error('no terms')
  expect([first.number, second.number, third.number]).toEqual([1, 2, 3])
  expect(first.in_force_until).toBe(second.in_force_from)
  expect(third.in_force_until).toBeUndefined()
  expect((await at('orders', first.in_force_from)).text).toBe(one ?? '')
  expect((await at('orders', before(second.in_force_from))).text).toBe(one ?? '')
  expect((await at('orders', second.in_force_from)).text).toBe(two ?? '')
  const deleted = second.in_force_until ?? ''
  expect(Date.parse(deleted)).toBeLessThan(Date.parse(third.in_force_from))
  expect((await at('orders', before(deleted))).text).toBe(two ?? '')
  const none = await at('orders', deleted)
  expect([none.status, none.value.error.message]).toEqual([
    404,
    `No document of the contract was in force at ${deleted}. What was put on tables without a document is in the list of changes.`,
  ])
  expect((await at('orders', before(first.in_force_from))).status).toBe(404)
  expect((await at('orders', third.in_force_from)).text).toBe(three ?? '')
})

test('versions of the life cycle are in force from activation until they are replaced or retired', async () => {
  const path = `${documents}/people`
  expect((await put('people', document('1.0.0', 'people'))).status).toBe(200)
  expect(
    (await ask('PUT', '/api/v1/contracts/life-cycle-settings', stella, { deploy_unverified: true })).status,
  ).toBe(204)
  await nextMillisecond()
  const added = await ask('POST', `${path}/versions`, sten, document('1.0.1', 'people'))
  const version = `${path}/versions/${added.value.number}`
  const moves = async (move: string, reason?: string) => {
    const moved = await ask('POST', `${version}/moves`, stella, {
      move,
      reason,
      ...(reason && { override: move === 'retire' }),
    })
    expect([move, moved.status, moved.text]).toEqual([move, 200, moved.text])
    await nextMillisecond()
  }
  await moves('propose')
  const proposed = await ask('GET', version)
  if (proposed.value.state === 'proposed')
    expect(
      (await ask('POST', `${version}/sign-offs`, stella, { sha256: proposed.value.sha256 })).status,
    ).toBe(200)
  await nextMillisecond()
  await moves('deploy')
  await moves('deprecate', 'it ends')
  await moves('retire', 'it ended')
  const recorded = (await ask('GET', `${path}/moves`)).value.items as {
    move: string
    number: number
    at: string
  }[]
  const moveAt = (move: string) => recorded.find((one) => one.move === move && one.number === 2)?.at ?? ''
  expect(await termsOf('contract=people')).toMatchObject([
    { number: 1, in_force_until: moveAt('activate') },
    {
      ...{ number: 2, in_force_from: moveAt('activate'), deprecated_at: moveAt('deprecate') },
      in_force_until: moveAt('retire'),
    },
  ])
  expect((await at('people', before(moveAt('activate')))).text).toContain('version: 1.0.0')
  expect((await at('people', moveAt('activate'))).text).toContain('version: 1.0.1')
  const notice = await termsOf(`contract=people&as_of=${moveAt('deprecate')}`)
  expect(notice).toMatchObject([{ number: 2, state: 'deprecated' }])
  expect(await termsOf(`contract=people&as_of=${before(moveAt('deprecate'))}`)).toMatchObject([
    { number: 2, state: 'active' },
  ])
  expect((await at('people', moveAt('deprecate'), stella, '&apiVersion=v3.1.0')).text).toContain(
    'status: deprecated',
  )
  expect(await termsOf(`contract=people&as_of=${moveAt('retire')}`)).toEqual([])
})

test('the list takes a time, two times, a contract or a table, in pages', async () => {
  const all = await termsOf('')
  expect(all.map(({ id, number }) => [id, number])).toEqual([
    ['orders', 1],
    ['orders', 2],
    ['orders', 3],
    ['people', 1],
    ['people', 2],
  ])
  const second = all[1]
  const span = `from=${second?.in_force_from}&to=${second?.in_force_until}`
  expect((await termsOf(`${span}&namespace=sales&table=orders`)).map(({ number }) => number)).toEqual([2])
  expect(await termsOf('namespace=sales&table=nothing')).toEqual([])
  const page = (await ask('GET', '/api/v1/contracts/in-force?limit=3')).value
  const rest = await termsOf(`limit=3&page_token=${encodeURIComponent(page.next_page_token)}`)
  expect([...page.items, ...rest]).toEqual([...all])
  expect((await termsOf('contract=orders', auditor)).length).toBe(3)
})

test('a time that is to come, is none, or goes with others is refused', async () => {
  const refused = async (query: string) => (await ask('GET', `/api/v1/contracts/in-force?${query}`)).status
  expect(await refused('as_of=2999-01-01T00:00:00Z')).toBe(400)
  expect(await refused('as_of=yesterday')).toBe(400)
  expect(await refused('as_of=2026-01-01T00:00:00Z&from=2026-01-01T00:00:00Z')).toBe(400)
  expect(await refused('from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z')).toBe(400)
  expect(await refused('table=orders')).toBe(400)
  expect((await at('orders', '2999-01-01T00:00:00Z')).status).toBe(400)
  expect((await at('orders', 'yesterday')).status).toBe(400)
})

test('another tenant and a reader see none of it', async () => {
  expect(await termsOf('', foreign)).toEqual([])
  const [first] = await termsOf('contract=orders')
  expect((await at('orders', first?.in_force_from ?? '', foreign)).status).toBe(404)
  expect((await ask('GET', '/api/v1/contracts/in-force', reader)).status).toBe(403)
  expect((await at('orders', first?.in_force_from ?? '', reader)).status).toBe(403)
  expect((await at('orders', first?.in_force_from ?? '', auditor)).status).toBe(403)
  expect((await put('orders', document('9.0.0', 'orders'), foreign)).status).toBe(200)
  expect((await termsOf('contract=orders', foreign)).map(({ number }) => number)).toEqual([1])
  expect((await termsOf('contract=orders')).map(({ number }) => number)).toEqual([1, 2, 3])
  const run: RunQuery = (text, params) => service.store.tenantQuery(other, text, params)
  const mine = first?.in_force_from ?? ''
  expect(await termAt(run, owner, 'orders', new Date(mine))).toBeUndefined()
  expect((await listTerms(run, owner, {}, {})).items).toEqual([])
})
