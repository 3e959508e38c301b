/** Contracts that are kept in a repository, over HTTP: the list, proposals of several, and documents that are made. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../../src/core/session.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(120_000)

const root = '/api/v1/contracts'
type Json = Record<string, never>
interface Listed {
  readonly id: string
  readonly revision?: string
  readonly managed_by?: string
  readonly versions: readonly { number: number; version: string; state: string; sha256: string }[]
  readonly tables: readonly object[]
  readonly outside_changes: readonly string[]
}
let service: TestService
let author: string
let stella: string
let sten: string
let foreign: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const other = await addTenant(service.store, 'foreign', service.catalog.url)
  const types = { id: 'long', email: 'string', region: 'string' }
  for (const owner of [tenant, other.tenant])
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await commitColumns(service.store, owner, { namespace: ['sales'], name }, types)
  author = await session(service, tenant, ['admin', 'read'], [], 'ann')
  stella = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  sten = await session(service, tenant, sessionScopes, ['steward'], 'sten')
  foreign = await session(service, other.tenant, sessionScopes, ['steward'], 'mallory')
  expect((await ask('PUT', `${root}/life-cycle-settings`, stella, { deploy_unverified: true }))[0]).toBe(204)
})
afterAll(() => service[Symbol.asyncDispose]())

async function ask(method: string, to: string, secret: string, body?: unknown): Promise<[number, Json]> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(service, method, to, { secret, headers, body })
  const text = await response.text()
  return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Json]
}

const document = (id: string, version = '1.0.0', more = '') => `apiVersion: v3.2.0
kind: DataContract
id: ${id}
version: ${version}
customProperties:
- {property: covenant, vendor: covenant, value: {consumers: [{name: sales reports, contact: reports@acme.example}]}}
schema:
- name: ${id}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${id}}}}
  properties:
  - {name: id, logicalType: integer}
${more}`
const email = `  - name: email
    customProperties:
    - {property: covenant, vendor: covenant, value: {masks: [{id: m, action: replace-with-null}]}}
`
const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
const wanted = (id: string, text: string, revision?: string) => ({
  ...{ id, format: 'yaml', document: text, sha256: sha256(text) },
  ...(revision !== undefined && { revision }),
})
const propose = (secret: string, documents: readonly object[], more: object = {}) =>
  ask('POST', `${root}/proposals`, secret, { managed_by: 'acme/contracts', documents, ...more })
const listed = async (secret = stella) =>
  ((await ask('GET', `${root}/documents`, secret))[1] as unknown as { items: Listed[] }).items
const one = async (id: string) => (await listed()).find((each) => each.id === id)
async function bring(id: string, number: number, text: string) {
  const at = `${root}/documents/${id}/versions/${number}`
  await ask('POST', `${at}/sign-offs`, stella, { sha256: sha256(text) })
  expect(await ask('POST', `${at}/moves`, sten, { move: 'deploy' })).toMatchObject([200, { state: 'active' }])
}

test('several documents are proposed at once, and the list says who keeps them', async () => {
  const [status, answer] = await propose(author, [
    wanted('a', document('a', '1.0.0', email)),
    wanted('b', document('b')),
  ])
  expect([status, answer]).toMatchObject([
    200,
    {
      versions: [
        { id: 'a', number: 1, state: 'proposed', waits_for: ['first'], managed_by: 'acme/contracts' },
        { id: 'b', number: 1, state: 'proposed', waits_for: ['first'] },
      ],
    },
  ])
  await bring('a', 1, document('a', '1.0.0', email))
  await bring('b', 1, document('b'))
  expect(await one('a')).toMatchObject({
    managed_by: 'acme/contracts',
    versions: [{ number: 1, state: 'active' }],
    tables: [{ namespace: ['sales'], name: 'a' }],
    outside_changes: [],
  })
})

test('where one document is refused, none is proposed, and the answer names the contract', async () => {
  const before = await listed()
  const documents = (b: string) => [
    wanted('a', document('a', '1.1.0', `${email}  - {name: region}\n`), before[0]?.revision),
    wanted('b', b, before[1]?.revision),
  ]
  const refused = [
    await propose(author, documents(document('b', '1.0.0', '  - {name: region}\n'))),
    await propose(author, documents(document('b', '2.0.0').replace('name: b}', 'name: a}'))),
    await propose(author, documents('kind: DataContract\n')),
    await propose(author, [wanted('a', document('a'), before[0]?.revision)], {
      deprecate: [{ id: 'b', reason: 'gone', revision: before[1]?.revision }],
    }),
  ]
  expect(refused.map(([status]) => status)).toEqual([422, 409, 422, 422])
  expect(refused.map(([, answer]) => (answer.error as unknown as { contract: string }).contract)).toEqual([
    'b',
    'b',
    'b',
    'a',
  ])
  expect(await listed()).toEqual(before)
  const [status, answer] = await propose(author, [], {
    deprecate: [{ id: 'b', reason: 'gone', revision: before[1]?.revision }],
  })
  expect([status, (answer.error as unknown as { message: string }).message]).toEqual([
    403,
    'b: The move deprecate takes the role steward.',
  ])
})

test('of two who propose at once, one is told that the contract has moved, and leaves nothing', async () => {
  const revision = (await one('a'))?.revision
  const texts = [document('a', '1.1.0', `${email}  - {name: region}\n`), document('a', '1.0.1', email)]
  const answers = await Promise.all(
    texts.map((text) => propose(author, [wanted('c', document('c')), wanted('a', text, revision)])),
  )
  expect(answers.map(([status]) => status).toSorted()).toEqual([200, 409])
  const lost = answers.find(([status]) => status === 409)
  expect((lost?.[1].error as { message: string } | undefined)?.message).toMatch(
    /^The contract [ac] has moved since the plan was made: its newest version is 1\.\d\.\d \((proposed|approved)\), by ann\. Plan again\.$/,
  )
  expect((await one('a'))?.versions).toHaveLength(2)
  expect((await one('c'))?.versions).toHaveLength(1)
})

test('a document takes the place of what was on its way from the same keeper, and of nothing else', async () => {
  await ask('POST', `${root}/documents/a/versions`, author, document('a', '3.0.0', email))
  const text = document('a', '2.0.0')
  const [, answer] = await propose(author, [wanted('a', text, (await one('a'))?.revision)])
  expect(answer.versions as unknown).toMatchObject([{ state: 'proposed', verdict: { breaking: true } }])
  expect((await one('a'))?.versions.map(({ version, state }) => `${version} ${state}`)).toEqual([
    '2.0.0 proposed',
    '3.0.0 draft',
    '1.0.0 active',
  ])
  const [, again] = await propose(author, [wanted('a', text, (await one('a'))?.revision)])
  expect(again.versions as unknown).toMatchObject([{ number: 4, state: 'proposed' }])
})

test('comparing says whom a document breaks, which sign-offs it needs, and what is wrong with its number', async () => {
  const compare = (text: string) => ask('POST', `${root}/documents/a/compare`, stella, text)
  expect(await compare(document('a', '1.0.1'))).toMatchObject([
    200,
    {
      breaking: true,
      breaks: [{ name: 'sales reports', contact: 'reports@acme.example' }],
      waits_for: ['first'],
      problem: expect.stringContaining('must take a major step'),
    },
  ])
  const harmless = document('a', '1.0.1', email).replace('name: id,', 'name: id, description: key,')
  expect(await compare(harmless)).toMatchObject([200, { breaking: false, breaks: [], waits_for: [] }])
})

test('what is changed by the operations on tables is shown as a change outside the document', async () => {
  const table = `${root}/tables/sales/e`
  expect((await ask('PUT', `${root}/documents/e`, stella, document('e', '1.0.0', email)))[0]).toBe(200)
  expect((await one('e'))?.outside_changes).toEqual([])
  expect((await ask('DELETE', `${table}/columns/email/masks/m`, stella))[0]).toBe(204)
  expect((await ask('PUT', `${table}/row-filters/f`, stella, { expression: 'id > 1' }))[0]).toBe(204)
  expect((await one('e'))?.outside_changes).toEqual([
    'The row filter f on sales.e is in force, and the document does not say so',
    'The mask m on sales.e.email is not in force',
  ])
  const mask = { action: 'mask-alphanum' }
  expect((await ask('PUT', `${table}/columns/email/masks/m`, stella, mask))[0]).toBe(204)
  expect((await one('e'))?.outside_changes).toContain(
    'The mask m on sales.e.email is not as the document says',
  )
})

test('a version whose document is gone is deprecated by a steward, and still governs', async () => {
  const [status] = await propose(stella, [], {
    deprecate: [{ id: 'b', reason: 'gone from the repository', revision: (await one('b'))?.revision }],
  })
  expect(status).toBe(200)
  expect(await one('b')).toMatchObject({ versions: [{ state: 'deprecated' }], tables: [{ name: 'b' }] })
})

test('a contract that was put on a table without a document is exported as one, and comes back the same', async () => {
  const table = `${root}/tables/sales/d`
  const put = {
    ...{ id: 'd', version: 7, description: 'Orders, one a row' },
    properties: [
      { name: 'id', description: 'Number: of the order', primaryKey: true, primaryKeyPosition: 1 },
      { name: 'region', relationships: [{ to: 'crm.regions.id' }] },
    ],
    relationships: [{ from: ['d.id', 'd.region'], to: ['crm.t.a', 'crm.t.b'] }],
  }
  expect((await ask('PUT', table, stella, put))[0]).toBe(204)
  const filter = { expression: "region = 'eu'", exempt_roles: ['officer'] }
  expect((await ask('PUT', `${table}/row-filters/europe`, stella, filter))[0]).toBe(204)
  const mask = { action: 'apply-expression', expression: "left(email, 1) || '#'" }
  expect((await ask('PUT', `${table}/columns/email/masks/short`, stella, mask))[0]).toBe(204)
  const small = { expression: 'this_column < 10' }
  expect((await ask('PUT', `${table}/columns/id/row-filters/small`, stella, small))[0]).toBe(204)
  expect(await one('d')).toMatchObject({ versions: [], tables: [{ name: 'd' }] })
  const before = (await ask('GET', table, stella))[1] as Json & { contract: object }

  const response = await call(service, 'GET', `${root}/documents/d`, { secret: stella })
  const text = await response.text()
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/yaml'])
  expect(text).toContain('version: 7.0.0')
  expect((await ask('GET', `${root}/documents/d`, foreign))[0]).toBe(404)
  const accept = { accept: 'application/json' }
  const json = await call(service, 'GET', `${root}/documents/d`, { secret: stella, headers: accept })
  expect(await json.json()).toMatchObject({ apiVersion: 'v3.2.0', id: 'd', status: 'active' })

  expect((await ask('PUT', `${root}/documents/d`, stella, text))[0]).toBe(200)
  const after = (await ask('GET', table, stella))[1] as Json & { contract: object }
  const { properties, relationships, description } = after.contract as typeof put
  expect({ ...after, contract: { description, properties, relationships } }).toEqual({
    ...before,
    contract: {
      description: put.description,
      properties: [
        put.properties[0],
        { name: 'region', relationships: [{ type: 'foreignKey', to: 'crm.regions.id' }] },
        { name: 'email' },
      ],
      relationships: [
        { type: 'foreignKey', from: ['sales.d.id', 'sales.d.region'], to: ['crm.t.a', 'crm.t.b'] },
      ],
    },
  } as never)
})

test('a document whose policy test fails is kept as a draft, and neither proposed nor put in force', async () => {
  const tested = (decision: string) =>
    document('f').replace(
      'name: f}}',
      `name: f}, tests: [{name: kept, given: {commit: [{dropColumn: id}]}, expect: {decision: ${decision}}}]}`,
    )
  const message = expect.stringContaining(
    'A policy test fails: f, kept: it must be allowed, and columns denied it',
  )
  const at = `${root}/documents/f`
  expect(await ask('POST', `${at}/compare`, stella, tested('allow'))).toMatchObject([
    200,
    { problem: message },
  ])
  expect(await ask('PUT', at, stella, tested('allow'))).toMatchObject([422, { error: { message } }])
  expect(await propose(author, [wanted('f', tested('allow'))])).toMatchObject([422, { error: { message } }])
  expect(await one('f')).toBeUndefined()
  expect(await ask('POST', `${at}/versions`, author, tested('allow'))).toMatchObject([
    201,
    { state: 'draft' },
  ])
  const refused = await ask('POST', `${at}/versions/1/moves`, author, { move: 'propose' })
  expect(refused).toMatchObject([422, { error: { message } }])
  const { revision } = (await one('f')) ?? {}
  const [status] = await propose(author, [wanted('f', tested('deny'), revision)])
  expect(status).toBe(200)
})

test('contracts belong to their tenant', async () => {
  expect(await listed(foreign)).toEqual([])
  const [status] = await propose(foreign, [wanted('a', document('a'))])
  expect(status).toBe(200)
  expect((await listed(foreign)).map(({ id, versions }) => [id, versions.length])).toEqual([['a', 1]])
})

test('the list comes in pages', async () => {
  const ids: string[] = []
  let token = ''
  do {
    const [, page] = await ask('GET', `${root}/documents?limit=2${token}`, stella)
    const { items, next_page_token: next } = page as unknown as { items: Listed[]; next_page_token?: string }
    ids.push(...items.map(({ id }) => id))
    token = next === undefined ? '' : `&page_token=${encodeURIComponent(next)}`
  } while (token !== '')
  expect(ids).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})

test('a request that says other than it sends is refused', async () => {
  const { revision } = (await one('c')) ?? {}
  const answers = [
    await propose(author, [{ ...wanted('c', document('c'), revision), sha256: sha256('x') }]),
    await propose(author, [wanted('c', document('c'), revision), wanted('c', document('c'), revision)]),
    await propose(author, [{ id: 'c' }]),
    await propose(author, [wanted('c', document('a'), revision)]),
    await propose(author, [wanted('c', document('c', '9.0.0'))]),
  ]
  expect(answers.map(([status]) => status)).toEqual([400, 400, 400, 422, 409])
})
