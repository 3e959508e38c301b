/** Contracts, filters, masks and tags over HTTP, and their effect on credentials that a catalog vends. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { startUpstream, type TestUpstream } from '../catalog/upstream.ts'
import { commitColumns } from '../support/governed.ts'
import { call, session } from '../support/identity.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'
import { messageOf, send } from '../support/surface.ts'

setDefaultTimeout(300_000)

const base = '/api/v1/contracts/tables/n%1Fm/t'
let service: TestService
let upstream: TestUpstream
let owner: TestTenant
let steward: string
let foreign: string

beforeAll(async () => {
  service = await startTestService()
  const metadata = { 'format-version': 2, location: 's3://lake/t' }
  const config = { 's3.access-key-id': 'AK', 's3.secret-access-key': 'vended-key' }
  upstream = startUpstream(async (_, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'x' })
    if (!path.endsWith('/tables/t')) return new Response('{}', { status: 404 })
    return Response.json({ 'metadata-location': 's3://lake/t/1.json', metadata, config })
  })
  owner = await addTenant(service.store, 'vending', upstream.url.replace(/\/$/, ''), {
    storage_roots: ['s3://lake'],
  })
  const other = (await createTenant(service.store, { name: 'foreign' })).id
  const types = { id: 'long', 'e-mail/1': 'string' }
  const table = { namespace: ['n', 'm'], name: 't' }
  for (const tenant of [owner.tenant, other]) await commitColumns(service.store, tenant, table, types)
  steward = await session(service, owner.tenant, sessionScopes, ['steward'])
  foreign = await session(service, other, sessionScopes, ['steward'])
})
afterAll(async () => {
  await upstream.stop()
  await service[Symbol.asyncDispose]()
})

const request = (method: string, path: string, body?: unknown, secret = steward) =>
  call(service, method, path, { secret, body })
const status = async (method: string, path: string, body?: unknown, secret = steward) =>
  (await request(method, path, body, secret)).status
const shown = async (secret = steward) => (await request('GET', base, undefined, secret)).json()

test('a name that is none removes nothing, least of all what another table has', async () => {
  const filter = `${base}/row-filters/kept`
  expect(await status('PUT', filter, { expression: 'id > 1' })).toBe(204)
  const elsewhere = '/api/v1/contracts/tables/n/m'
  for (const path of [
    'row-filters/t%1Fkept',
    'columns/id/masks/a%1Fb',
    'columns/id/tags/a%1Fb',
    'row-filters/a%20b',
  ])
    expect([path, await status('DELETE', `${elsewhere}/${path}`)]).toEqual([path, 400])
  expect(JSON.stringify(await shown())).toContain('kept')
  expect(await status('DELETE', filter)).toBe(204)
})

test('what is put is shown to a steward, in part to a reader, and not to a foreign tenant', async () => {
  const mask = `${base}/columns/${encodeURIComponent('e-mail/1')}/masks/m`
  expect([
    await status('PUT', base, { id: 'people', version: 1 }),
    await status('PUT', `${base}/row-filters/f`, { expression: 'id > 1' }),
    await status('PUT', mask, { action: 'show-last-4', exempt_roles: ['hr'] }),
    await status('PUT', `${base}/columns/id/tags/key`),
    await status('PUT', '/api/v1/contracts/tags/key/masks/k', { action: 'replace-with-null' }),
  ]).toEqual([204, 204, 204, 204, 204])
  expect(await shown()).toEqual({
    table: { namespace: ['n', 'm'], name: 't' },
    contract: { id: 'people', version: 1, state: 'active', unverified: true },
    columns: [
      {
        ...{ name: 'id', type: 'long', required: false, tags: ['key'] },
        masks: [{ id: 'k', action: 'replace-with-null', exempt_roles: [], tag: 'key' }],
      },
      {
        ...{ name: 'e-mail/1', type: 'string', required: false, tags: [] },
        masks: [{ id: 'm', action: 'show-last-4', exempt_roles: ['hr'] }],
      },
    ],
    row_filters: [{ id: 'f', expression: 'id > 1', exempt_roles: [] }],
    applies_to_you: {
      masked: [
        { column: 'id', action: 'replace-with-null' },
        { column: 'e-mail/1', action: 'show-last-4' },
      ],
      filtered: [{ id: 'f', columns: ['id'] }],
    },
  })
  const reader = JSON.stringify(await shown(owner.secret))
  expect(reader).toContain('"tags":["key"]')
  expect(reader).not.toMatch(/masks|row_filters|id > 1/)
  expect(JSON.stringify(await shown(foreign))).not.toMatch(/people|key|id > 1/)
  expect(await status('DELETE', `${base}/row-filters/f`, undefined, foreign)).toBe(404)

  expect([
    await status('DELETE', `${base}/row-filters/f`),
    await status('DELETE', `${base}/row-filters/f`),
    await status('DELETE', mask),
    await status('DELETE', `${base}/columns/id/tags/key`),
    await status('DELETE', '/api/v1/contracts/tags/key/masks/k'),
    await status('DELETE', base),
  ]).toEqual([204, 404, 204, 204, 204, 204])
})

test('changes take the role of a steward besides the scope', async () => {
  expect(await status('PUT', base, { id: 'c', version: 1 }, owner.secret)).toBe(403)
  const narrow = await session(service, owner.tenant, ['read'], ['steward'])
  expect(await status('PUT', base, { id: 'c', version: 1 }, narrow)).toBe(403)
})

test('bad input is refused with its reason', async () => {
  const answers = [
    await request('PUT', base, { id: 'c', version: 1.5 }),
    await request('PUT', base, { id: 'c', version: '1' }),
    await request('PUT', base, '{"id":'),
    await request('PUT', `${base}/row-filters/f`, { expression: 'id > 1', exempt: ['x'] }),
    await request('PUT', '/api/v1/contracts/tables/a.b/t', { id: 'c', version: 1 }),
    await request('PUT', `${base}/row-filters/f`, { expression: 'x'.repeat(9_000) }),
    await request('PUT', `${base}/row-filters/f`, { expression: 'x'.repeat(2 ** 20) }),
    await request('PUT', `${base}/row-filters/f`, { expression: 'salary > 1' }),
    await request('PUT', `${base}/columns/none/tags/key`),
  ]
  expect(answers.map((answer) => answer.status)).toEqual([400, 400, 400, 400, 400, 400, 413, 422, 404])
  expect(await messageOf(answers[7] as Response)).toContain('salary')
})

test('a path segment that is no percent-encoded text names nothing, least of all "null"', async () => {
  const mask = { action: 'replace-with-null' }
  expect([
    await status('GET', '/api/v1/contracts/tables/%ff/t'),
    await status('GET', '/api/v1/contracts/tables/n/%ff'),
    await status('PUT', '/api/v1/contracts/tables/%ff/t', { id: 'people', version: 1 }),
    await status('PUT', '/api/v1/contracts/tags/%ff/masks/m', mask),
    await status('PUT', '/api/v1/contracts/tags/key/masks/%ff', mask),
    await status('PUT', `${base}/columns/%ff/masks/m`, mask),
  ]).toEqual([400, 400, 400, 400, 400, 404])
})

test('a table that is filtered for a client is loaded without the credentials that a catalog vends', async () => {
  const load = async () => {
    const headers = { 'x-iceberg-access-delegation': 'vended-credentials' }
    const path = '/namespaces/n%1Fm/tables/t'
    // The bearer of `send` is not verified: its roles exempt from nothing.
    const response = await send(service, 'GET', path, undefined, { tenant: owner, roles: ['hr'], headers })
    return [response.status, (await response.text()).includes('vended-key')]
  }
  expect(await load()).toEqual([200, true])
  await request('PUT', `${base}/row-filters/f`, { expression: 'id > 1', exempt_roles: ['hr'] })
  expect(await load()).toEqual([200, false])
  await request('DELETE', `${base}/row-filters/f`)
  expect(await load()).toEqual([200, true])
})

test('tables under contract are listed in pages, each tenant’s own', async () => {
  const put = async (name: string, secret: string) =>
    expect(
      await status('PUT', `/api/v1/contracts/tables/list/${name}`, { id: `c.${name}`, version: 2 }, secret),
    ).toBe(204)
  for (const name of ['a', 'b', 'c']) await put(name, steward)
  await put('theirs', foreign)
  const listed: unknown[] = []
  let token: string | undefined
  do {
    const page = `limit=2${token === undefined ? '' : `&page_token=${encodeURIComponent(token)}`}`
    const answer = await request('GET', `/api/v1/contracts/tables?${page}`, undefined, owner.secret)
    const { items, next_page_token } = (await answer.json()) as { items: object[]; next_page_token?: string }
    expect(items.length).toBeLessThanOrEqual(2)
    listed.push(...items)
    token = next_page_token
  } while (token !== undefined)
  const names = ['a', 'b', 'c'].map((name) => ({
    table: { namespace: ['list'], name },
    contract: { id: `c.${name}`, version: 2, state: 'active' },
  }))
  expect(listed).toEqual(expect.arrayContaining(names))
  expect(JSON.stringify(listed)).not.toContain('theirs')
  expect(await status('GET', '/api/v1/contracts/tables?page_token=%00', undefined, owner.secret)).toBe(200)
})

test('a filter or mask that is hardly what was meant is saved with a warning, another without a body', async () => {
  const filter = `${base}/row-filters/odd`
  const saved = async (path: string, body: object) => {
    const response = await request('PUT', path, body)
    const text = await response.text()
    return [response.status, text === '' ? undefined : (JSON.parse(text) as unknown)]
  }
  const warning = (about: string) => [200, { warnings: [expect.stringContaining(about)] }] as unknown[]
  expect(await saved(filter, { expression: 'id > 1' })).toEqual([204, undefined])
  expect(await saved(filter, { expression: 'random() < id' })).toEqual(warning('calls random'))
  expect(JSON.stringify(await shown())).toContain('random() < id')
  expect(JSON.stringify(await shown(foreign))).not.toContain('random')
  expect(await saved(filter, { expression: 'null' })).toEqual(warning('is NULL'))
  expect(await saved(`${base}/columns/id/row-filters/odd`, { expression: '1/0 = 1' })).toEqual(
    warning('divides by zero'),
  )
  const tag = '/api/v1/contracts/tags/odd'
  expect(await saved(`${tag}/row-filters/odd`, { expression: '1 = 1' })).toEqual(warning('reads no column'))
  const mask = (expression: string) => ({ action: 'apply-expression', expression })
  const ofColumn = `${base}/columns/id/masks/odd`
  expect(await saved(ofColumn, mask('this_column % 10'))).toEqual([204, undefined])
  expect(await saved(ofColumn, mask('(random() * 10)::bigint'))).toEqual(warning('calls random'))
})
