/** Contract documents over HTTP: import, export, edit, and what governs the tables afterwards. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { commitColumns } from '../support/governed.ts'
import { session } from '../support/identity.ts'
import { licenseFor } from '../support/license.ts'
import { addTenant, startTestService, type TestService } from '../support/service.ts'
import { orders, ordersJson } from '../wire/odcs/fixtures.ts'

setDefaultTimeout(120_000)

const documents = '/api/v1/contracts/documents'
const table = '/api/v1/contracts/tables/sales/orders'
let service: TestService
let steward: string
let reader: string
let foreign: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('contracts') } })
  const { tenant } = service.owner
  const other = await addTenant(service.store, 'foreign', service.catalog.url)
  const types = { id: 'long', email: 'string', region: 'string', amount: 'double' }
  for (const one of [tenant, other.tenant])
    await commitColumns(service.store, one, { namespace: ['sales'], name: 'orders' }, types)
  steward = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  reader = await session(service, tenant, ['read'], [], 'rita')
  foreign = await session(service, other.tenant, sessionScopes, ['steward'], 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

interface Asked {
  readonly body?: string
  readonly secret?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

function ask(method: string, path: string, { body, secret = steward, type, headers }: Asked = {}) {
  return fetch(new URL(path, service.app.url), {
    method,
    headers: {
      'x-svc-session': secret,
      ...(type !== undefined && { 'content-type': type }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
}

const put = (body: string, asked: Asked = {}) =>
  ask('PUT', `${documents}/orders`, { body, type: 'application/yaml', ...asked })
const json = async (response: Promise<Response>) => (await response).json() as Promise<Record<string, never>>
const shown = () => json(ask('GET', table))

test('a document is put in force: contract, row filter and mask, and comes back unchanged', async () => {
  const answer = await json(put(orders))
  expect(answer).toMatchObject({
    ...{ id: 'orders', number: 1, version: '1.10', api_version: 'v3.2.0', state: 'active', unverified: true },
    sha256: new Bun.CryptoHasher('sha256').update(orders).digest('hex'),
  })
  expect(answer.fields as unknown).toContainEqual({
    ...{ path: 'schema[0].properties[].customProperties.covenant.masks', outcome: 'enforced', count: 1 },
  })
  expect(await shown()).toMatchObject({
    contract: {
      id: 'orders',
      version: 1,
      state: 'active',
      properties: [{ name: 'id', primaryKey: true }, {}, {}, {}],
    },
    columns: [{ name: 'id' }, { name: 'email', masks: [{ id: 'hide', action: 'mask-alphanum' }] }, {}, {}],
    row_filters: [{ id: 'europe', expression: "region = 'eu'", exempt_roles: ['officer'] }],
  })
  const exported = await ask('GET', `${documents}/orders`)
  expect(exported.headers.get('content-type')).toBe('application/yaml')
  expect(exported.headers.get('etag')).toBe(`"${String(answer.sha256)}"`)
  expect(await exported.text()).toBe(orders)
})

test('the same bytes again change nothing', async () => {
  expect(await json(put(orders))).toMatchObject({ number: 1 })
})

test('it is exported in another format or version where that can say it', async () => {
  const asJson = await ask('GET', `${documents}/orders`, { headers: { accept: 'application/json' } })
  expect(asJson.headers.get('content-type')).toBe('application/json')
  expect(await asJson.text()).toContain('"depth": 9007199254740993')
  const older = await ask('GET', `${documents}/orders?apiVersion=v3.1.0`)
  expect(older.status).toBe(422)
  expect(await older.json()).toMatchObject({
    error: {
      problems: [{ path: '/schema/0/customProperties/1', message: expect.stringContaining('vendor') }],
    },
  })
  const refused = [
    (await ask('GET', `${documents}/orders`, { headers: { accept: 'text/html' } })).status,
    (await ask('GET', `${documents}/orders?apiVersion=v1`)).status,
    (await ask('GET', `${documents}/none`)).status,
  ]
  expect(refused).toEqual([406, 400, 404])
})

test('the same bytes again repair what single changes have taken away, under the same version', async () => {
  const changes = async () =>
    ((await json(ask('GET', '/api/v1/contracts/changes'))).items as unknown as { action: string }[]).map(
      ({ action }) => action,
    )
  const put = () => json(ask('PUT', `${documents}/orders`, { body: orders, type: 'application/yaml' }))
  const { number } = await put()
  const masks = '/api/v1/contracts/tables/sales/orders/columns/email/masks'
  expect((await ask('DELETE', `${masks}/hide`)).status).toBe(204)
  const extra = { body: JSON.stringify({ action: 'replace-with-null' }), type: 'application/json' }
  expect((await ask('PUT', `${masks}/extra`, extra)).status).toBe(204)
  expect(await put()).toMatchObject({ number })
  expect((await shown()).columns as unknown).toMatchObject([
    {},
    { masks: [{ id: 'extra' }, { id: 'hide' }] },
    {},
    {},
  ])
  const before = await changes()
  expect(before[0]).toBe('put-contract-document')
  await put()
  expect(await changes()).toEqual(before)
  expect((await ask('DELETE', `${masks}/extra`)).status).toBe(204)
})

test('a patch changes its own path, and what it takes away is no longer in force', async () => {
  const patch = (edits: object[], etag: string) =>
    ask('PATCH', `${documents}/orders`, {
      body: JSON.stringify(edits),
      type: 'application/json-patch+json',
      headers: { 'if-match': etag },
    })
  const etag = (await ask('GET', `${documents}/orders`)).headers.get('etag') ?? ''
  const path = '/schema/0/properties/1/customProperties/0/value/masks'
  const edits = [
    { op: 'replace', path: `${path}/0/id`, value: 'cover' },
    { op: 'replace', path: '/version', value: '1.11' },
  ]
  expect((await patch(edits, '"x"')).status).toBe(400)
  expect((await patch(edits, `"${'0'.repeat(64)}"`)).status).toBe(409)
  expect(await json(patch(edits, etag))).toMatchObject({ number: 2, version: '1.11' })
  expect((await patch(edits, etag)).status).toBe(409)
  expect((await shown()).columns as unknown).toMatchObject([{}, { masks: [{ id: 'cover' }] }, {}, {}])
  const text = await (await ask('GET', `${documents}/orders`)).text()
  expect(text).toContain('# a comment between items')
  expect(text).toContain('version: "1.11" # quoted, or it would be a number')
})

test('a document is compared with the one in force before it is put there', async () => {
  const compare = (body: string, secret = steward) =>
    ask('POST', `${documents}/orders/compare`, { body, type: 'application/yaml', secret })
  const lax = orders
    .replace('[officer]', '[officer, everyone]')
    .replace('    - name: region\n      logicalType: string\n', '    - name: region\n')
  expect(await json(compare(lax))).toMatchObject({
    breaking: true,
    loosens_access: true,
    step_needed: 'major',
  })
  expect(await json(compare(orders, foreign))).toMatchObject({
    breaking: false,
    loosens_access: true,
    step_needed: 'none',
  })
  expect((await compare(orders, reader)).status).toBe(403)
})

test('the short way by table is refused for a contract that has a document', async () => {
  const body = JSON.stringify({ id: 'orders', version: 9 })
  const response = await ask('PUT', table, { body, type: 'application/json' })
  expect([response.status, await response.text()]).toEqual([409, expect.stringContaining('has a document')])
  const another = JSON.stringify({ id: 'another', version: 1 })
  expect((await ask('PUT', table, { body: another, type: 'application/json' })).status).toBe(409)
  expect((await ask('DELETE', table)).status).toBe(409)
})

test('a document may not take a table from another contract', async () => {
  const response = await ask('PUT', `${documents}/thief`, {
    body: orders.replace('id: orders', 'id: thief'),
    type: 'application/yaml',
  })
  expect([response.status, await response.text()]).toEqual([
    409,
    expect.stringContaining('under the contract orders'),
  ])
  expect((await ask('GET', `${documents}/thief`)).status).toBe(404)
})

test('a document that cannot be put in force changes nothing', async () => {
  const before = [await shown(), await (await ask('GET', `${documents}/orders`)).text()]
  const bodies = [
    orders.replace("region = 'eu'", 'none = 1'),
    orders.replace('name: email', 'name: e_mail'),
    orders.replace('mask-alphanum', 'truncate-to-year'),
    orders.replace('kind: DataContract', 'kind: DataContract\nkind: DataContract'),
    orders.replace('id: orders', 'id: other'),
  ]
  const statuses: number[] = []
  for (const body of bodies) statuses.push((await put(body)).status)
  expect(statuses).toEqual([422, 422, 422, 422, 422])
  expect([await shown(), await (await ask('GET', `${documents}/orders`)).text()]).toEqual(before)
})

test('the size, the content type and the encoding are checked', async () => {
  const large = `${orders}# ${'x'.repeat(2 ** 20)}\n`
  expect([
    (await put(large)).status,
    (await put(orders, { type: 'text/plain' })).status,
    (await put(orders, { headers: { 'content-encoding': 'gzip' } })).status,
    (await ask('PUT', `${documents}/a%20b`, { body: orders, type: 'application/yaml' })).status,
  ]).toEqual([413, 400, 400, 400])
})

test('a document takes the role of a steward, and belongs to its tenant', async () => {
  expect((await put(orders, { secret: reader })).status).toBe(403)
  expect((await ask('GET', `${documents}/orders`, { secret: reader })).status).toBe(403)
  expect((await ask('GET', `${documents}/orders`, { secret: foreign })).status).toBe(404)
  const own = await put(orders.replace('europe', 'theirs'), { secret: foreign })
  expect(await own.json()).toMatchObject({ number: 1 })
  expect(JSON.stringify(await shown())).not.toContain('theirs')
})

test('a JSON document without a table governs nothing', async () => {
  const body = ordersJson.replace('"id": "orders"', '"id": "paper"')
  const answer = await json(ask('PUT', `${documents}/paper`, { body, type: 'application/json' }))
  expect(
    (answer.fields as unknown as { outcome: string }[]).filter(({ outcome }) => outcome === 'enforced'),
  ).toEqual([])
  expect(await (await ask('GET', `${documents}/paper`)).text()).toBe(body)
  const edited = await ask('GET', `${documents}/paper`, { headers: { accept: 'application/yaml' } })
  expect(await edited.text()).toContain('value: 9007199254740993')
})

test('a document that is ended governs no longer; row filters and masks stay', async () => {
  expect((await ask('DELETE', `${documents}/orders`, { secret: reader })).status).toBe(403)
  expect((await ask('DELETE', `${documents}/orders`)).status).toBe(204)
  const ended = await shown()
  expect(ended.contract).toBeUndefined()
  expect(ended).toMatchObject({
    columns: [{}, { masks: [{ id: 'cover' }] }, {}, {}],
    row_filters: [{ id: 'europe' }],
  })
  expect([
    (await ask('GET', `${documents}/orders`)).status,
    (await ask('DELETE', `${documents}/orders`)).status,
  ]).toEqual([404, 404])
  const body = JSON.stringify({ id: 'orders', version: 9 })
  expect((await ask('PUT', table, { body, type: 'application/json' })).status).toBe(204)
})

test('the extension is served as JSON Schema', async () => {
  expect(await json(ask('GET', '/api/v1/contracts/document-extension', { secret: reader }))).toMatchObject({
    $id: 'urn:covenant:odcs-extension:1',
  })
})

test('row filters and masks in a document that are hardly meant are saved with warnings, in a draft too', async () => {
  const withFilter = (expression: string) => orders.replace("region = 'eu'", expression)
  const saved = async (expression: string) => {
    const answer = await json(put(withFilter(expression)))
    return (answer.warnings ?? answer) as unknown
  }
  const everyOne = expect.stringMatching(/^`europe`: The row filter reads no column/)
  expect(await saved("region = 'eu'")).toEqual([])
  expect(await saved('1 = 1')).toEqual([everyOne])
  expect(await saved('amount > 10 * random()')).toEqual([expect.stringContaining('calls random')])
  expect(await saved('amount / 0 > 1')).toEqual([expect.stringContaining('divides by zero')])
  const draft = await ask('POST', `${documents}/orders/versions`, {
    ...{ body: withFilter('2 = 2'), type: 'application/yaml' },
  })
  expect([draft.status, (await draft.json()) as unknown]).toMatchObject([201, { warnings: [everyOne] }])
})

test('a comparison warns of what is hardly meant in the document, and stores nothing', async () => {
  const compared = async (expression: string) => {
    const body = orders.replace("region = 'eu'", expression)
    const request = { body, type: 'application/yaml' }
    return (await json(ask('POST', `${documents}/orders/compare`, request))).warnings as unknown
  }
  expect(await compared("region = 'eu'")).toEqual([])
  expect(await compared('null')).toEqual([expect.stringMatching(/^`europe`: The row filter is NULL/)])
  expect(await compared('1 / 0 = 1')).toEqual([expect.stringContaining('divides by zero')])
  expect(await compared('random() < 0.5')).toEqual([expect.stringContaining('calls random')])
})
