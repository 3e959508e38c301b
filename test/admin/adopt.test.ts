/** `covenant adopt`: documents for the tables that a catalog has and that no contract governs yet. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adopt } from '../../src/admin/adopt-verb.ts'
import { performContractTask } from '../../src/contract/policy-tests/perform-task.ts'
import { sessionScopes } from '../../src/core/session.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { startUpstream, type TestUpstream } from '../catalog/upstream.ts'
import { call, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService } from '../support/service.ts'
import { messageOf } from '../support/surface.ts'

setDefaultTimeout(300_000)

const contracts = '/api/v1/contracts'
let service: TestService
let upstream: TestUpstream
let steward: string
let mallory: string
let root: string

/** The names of each namespace, by its levels joined by dots. */
const names = new Map<string, readonly string[]>()
/** What the catalog gives on a page where it is asked for more; undefined: all that it has, whatever is asked. */
let catalogPage: number | undefined
/** Tables of which the catalog gives no metadata. */
const broken = new Set<string>()

const fields = [
  { id: 1, name: 'id', type: 'long', required: true, doc: 'Number of the person' },
  { id: 2, name: 'email', type: 'string', required: false },
  {
    ...{ id: 3, name: 'home', required: false },
    type: { type: 'struct', fields: [{ id: 4, name: 'city', type: 'string', required: true, doc: 'Town' }] },
  },
  {
    ...{ id: 5, name: 'labels', required: false },
    type: { type: 'list', 'element-id': 6, element: 'string', 'element-required': false },
  },
  {
    ...{ id: 7, name: 'scores', required: false },
    type: {
      ...{ type: 'map', 'key-id': 8, key: 'string', 'value-id': 9 },
      ...{ value: 'decimal(10, 2)', 'value-required': false },
    },
  },
]

function metadataOf(namespace: string, name: string): Response {
  const location = `s3://lake/${namespace}/${name}`
  const digest = new Bun.CryptoHasher('md5').update(location).digest('hex').slice(0, 12)
  return Response.json({
    'metadata-location': `${location}/metadata/1.json`,
    metadata: {
      ...{ 'format-version': 2, 'table-uuid': `9c12d441-03fe-4693-9a96-${digest}`, location },
      ...{ 'last-sequence-number': 0, 'last-updated-ms': 1, 'last-column-id': 9 },
      schemas: [{ 'schema-id': 0, type: 'struct', fields, 'identifier-field-ids': [1] }],
      ...{ 'current-schema-id': 0, 'partition-specs': [{ 'spec-id': 0, fields: [] }], 'default-spec-id': 0 },
      ...{ 'last-partition-id': 999, 'sort-orders': [{ 'order-id': 0, fields: [] }] },
      ...{ 'default-sort-order-id': 0, properties: { comment: `All of ${name}` }, snapshots: [] },
    },
  })
}

function pageOf(all: readonly unknown[], asked: URLSearchParams, member: string): Response {
  const from = Number(asked.get('pageToken') || 0)
  const size = asked.has('pageToken')
    ? Math.min(Number(asked.get('pageSize')), catalogPage ?? all.length)
    : all.length
  const end = from + size
  return Response.json({
    [member]: all.slice(from, end),
    'next-page-token': end < all.length ? String(end) : null,
  })
}

function reply(request: Request, path: string): Response {
  if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'x' })
  const { searchParams } = new URL(request.url)
  const [, given, tables, name] = /\/namespaces(?:\/([^/]+)(\/tables)(?:\/([^/]+))?)?$/.exec(path) ?? []
  const levels = (text: string) => decodeURIComponent(text).split('\u001f')
  if (given === undefined) {
    const parent = searchParams.has('parent') ? levels(searchParams.get('parent') ?? '') : []
    const below = [...names.keys()].map((key) => key.split('.'))
    const listed = below.filter(
      (one) => one.length === parent.length + 1 && parent.every((level, place) => one[place] === level),
    )
    return pageOf(listed, searchParams, 'namespaces')
  }
  const namespace = levels(given).join('.')
  const all = names.get(namespace)
  if (all === undefined || tables === undefined) return new Response('{}', { status: 404 })
  if (name === undefined)
    return pageOf(
      all.map((one) => ({ namespace: namespace.split('.'), name: one })),
      searchParams,
      'identifiers',
    )
  if (broken.has(name)) return new Response('{}', { status: 500 })
  return all.includes(name) ? metadataOf(namespace, name) : new Response('{}', { status: 404 })
}

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  upstream = startUpstream(reply)
  const endpoint = upstream.url.replace(/\/$/, '')
  const { tenant } = service.owner
  const config = { endpoint, warehouse: 'w', credential: 'a:b', storage_roots: ['s3://lake'] }
  await putCatalogCredential(service.store, tenant, { nickname: 'lake', kind: 'alpha', endpoint, config })
  steward = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  const other = await addTenant(service.store, 'foreign', service.catalog.url)
  mallory = await session(service, other.tenant, sessionScopes, ['steward'], 'mallory')
  root = mkdtempSync(join(tmpdir(), 'covenant-adopt-'))
})
afterAll(async () => {
  rmSync(root, { recursive: true, force: true })
  await upstream.stop()
  await service[Symbol.asyncDispose]()
})
beforeEach(() => {
  names.clear()
  broken.clear()
  catalogPage = undefined
})

async function run(words: readonly string[], as = steward, interrupted?: () => AbortSignal) {
  const [out, err]: [string[], string[]] = [[], []]
  const status = await adopt(words, {
    env: { COVENANT_URL: service.app.url.origin, COVENANT_SESSION: as },
    stdin: async () => '',
    print: (text) => out.push(text),
    complain: (text) => err.push(text),
    ...(interrupted && { interrupted }),
  })
  return { status, out, err }
}
const request = (method: string, path: string, body?: unknown, secret = steward) =>
  call(service, method, `${contracts}${path}`, { secret, body })
const folder = (name: string) => join(root, name)
const filesIn = (place: string) =>
  readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((one) => one.includes('.odcs.'))
    .toSorted()

describe('a document that is proposed', () => {
  test('has types, comments, keys, tags and the masks that the tenant has for the tags', async () => {
    names.set('crm', ['people'])
    const people = '/tables/crm/people'
    expect((await request('PUT', people, { id: 'first', version: 1, catalog: 'lake' })).status).toBe(204)
    expect((await request('PUT', `${people}/columns/email/tags/pii`)).status).toBe(204)
    expect((await request('PUT', `${people}/columns/home.city/tags/place`)).status).toBe(204)
    const mask = { action: 'show-last-4', exempt_roles: ['hr'] }
    expect((await request('PUT', '/tags/pii/masks/hide', mask)).status).toBe(204)
    expect((await request('DELETE', people)).status).toBe(204)

    const { status, out, err } = await run(['lake', '--to', folder('proposed')])
    expect(err.filter((text) => !text.includes('so far'))).toEqual([])
    expect([status, out]).toEqual([
      0,
      [
        '1 table(s): 0 under contract, 0 with a document already, 1 proposed, 0 failed.',
        'The documents hold 1 mask(s) by tag. Look at each before you apply them.',
      ],
    ])
    const text = readFileSync(join(folder('proposed'), 'crm/people.odcs.yaml'), 'utf8')
    expect(text).toBe(`apiVersion: v3.2.0
kind: DataContract
id: crm.people
version: 1.0.0
status: draft
schema:
  - name: people
    description: All of people
    customProperties:
      - property: covenant
        vendor: covenant
        value:
          table:
            namespace:
              - crm
            name: people
    properties:
      - name: id
        logicalType: integer
        physicalType: long
        required: true
        primaryKey: true
        primaryKeyPosition: 1
        description: Number of the person
      - name: email
        logicalType: string
        physicalType: string
        tags:
          - pii
        customProperties:
          - property: covenant
            vendor: covenant
            value:
              masks:
                - id: hide
                  action: show-last-4
                  exemptRoles:
                    - hr
      - name: home
        logicalType: object
        physicalType: struct
        properties:
          - name: city
            logicalType: string
            physicalType: string
            required: true
            description: Town
            tags:
              - place
      - name: labels
        logicalType: array
        physicalType: list
        items:
          logicalType: string
          physicalType: string
      - name: scores
        logicalType: map
        physicalType: map
        map:
          key:
            name: key
            logicalType: string
            physicalType: string
          value:
            name: value
            logicalType: number
            physicalType: decimal(10, 2)
`)
    const bytes = new TextEncoder().encode(text)
    expect(performContractTask({ kind: 'read', bytes, format: 'yaml' }).kind).toBe('read')
    // It can be put in force as it is, with the mask beside that of the tag.
    const put = await call(service, 'PUT', `${contracts}/documents/crm.people`, {
      ...{ secret: steward, body: text, headers: { 'content-type': 'application/yaml' } },
    })
    expect([put.status, put.ok ? '' : await messageOf(put)]).toEqual([200, ''])
  })

  test('becomes a draft that governs nothing, once', async () => {
    names.set('drafts', ['one', 'two'])
    const { status, out } = await run(['lake', '--namespace', 'drafts', '--drafts'])
    expect([status, out]).toEqual([
      0,
      ['2 table(s): 0 under contract, 0 with a document already, 2 proposed, 0 failed.'],
    ])
    const listed = (await (await request('GET', '/documents?limit=1000')).json()) as {
      items: { id: string; tables: unknown[]; versions: { state: string }[] }[]
    }
    expect(listed.items.filter(({ id }) => id.startsWith('drafts.'))).toMatchObject([
      { id: 'drafts.one', tables: [], versions: [{ state: 'draft' }] },
      { id: 'drafts.two', tables: [], versions: [{ state: 'draft' }] },
    ])
    expect((await run(['lake', '--namespace', 'drafts', '--drafts'])).out).toEqual([
      '2 table(s): 0 under contract, 2 with a document already, 0 proposed, 0 failed.',
    ])
  })
})

describe('a run', () => {
  test('walks namespaces at every depth, and leaves out what is under a contract or has a file', async () => {
    names.set('sales', ['orders', 'lines'])
    names.set('sales.eu', ['orders'])
    names.set('ops', ['log'])
    expect((await request('PUT', '/tables/ops/log', { id: 'log', version: 1, catalog: 'lake' })).status).toBe(
      204,
    )
    const place = folder('walk')
    const dry = await run(['lake', '--to', place, '--dry-run'])
    expect(dry.out).toEqual([
      'sales.orders',
      'sales.lines',
      'sales.eu.orders',
      '4 table(s): 1 under contract, 0 with a document already, 3 would be proposed, 0 failed.',
    ])
    expect(dry.err.at(-1)).toBe('ops: 4 table(s) so far, 3 proposed, 0 failed')
    await run(['lake', '--to', place, '--namespace', 'sales.eu'])
    expect(filesIn(place)).toEqual(['sales/eu/orders.odcs.yaml'])
    writeFileSync(join(place, 'sales/eu/orders.odcs.yaml'), 'mine')
    const rest = await run(['lake', '--to', place])
    expect(rest.out).toEqual([
      '4 table(s): 1 under contract, 1 with a document already, 2 proposed, 0 failed.',
    ])
    expect(filesIn(place)).toEqual([
      'sales/eu/orders.odcs.yaml',
      'sales/lines.odcs.yaml',
      'sales/orders.odcs.yaml',
    ])
    expect(readFileSync(join(place, 'sales/eu/orders.odcs.yaml'), 'utf8')).toBe('mine')
  })

  test('goes on behind a table that the catalog cannot load, says which, and ends with 1', async () => {
    names.set('half', ['good', 'bad', 'fine'])
    broken.add('bad')
    const { status, out, err } = await run(['lake', '--to', folder('half')])
    expect([status, out]).toEqual([
      1,
      ['3 table(s): 0 under contract, 0 with a document already, 2 proposed, 1 failed.'],
    ])
    expect(err.filter((text) => text.startsWith('half.bad: '))).toHaveLength(1)
    broken.clear()
    expect((await run(['lake', '--to', folder('half')])).out).toEqual([
      '3 table(s): 0 under contract, 2 with a document already, 1 proposed, 0 failed.',
    ])
  })

  test('names what the service cannot address, and leaves it out', async () => {
    names.set('odd', ['plain', 'with space'])
    names.set('no good', ['t'])
    const { status, out, err } = await run(['lake', '--to', folder('odd'), '--dry-run'])
    expect(status).toBe(0)
    expect(out).toEqual([
      'odd.plain',
      '1 table(s): 0 under contract, 0 with a document already, 1 would be proposed, 0 failed.',
      '2 name(s) were left out, because the service cannot address them.',
    ])
    expect(err).toContain('left out: odd.with space')
    expect(err).toContain('left out: no good')
  })

  test.each([200, undefined])(
    'asks a catalog of 5,000 tables for pages, also where it gives %p a page, and sees each table once',
    async (size) => {
      catalogPage = size
      names.set(
        'many',
        Array.from({ length: 5_000 }, (_, index) => `t${index}`),
      )
      const { status, out, err } = await run(['lake', '--dry-run', '--to', folder('many')])
      expect(status).toBe(0)
      expect(new Set(out.slice(0, -1)).size).toBe(5_000)
      expect(out.at(-1)).toBe(
        '5000 table(s): 0 under contract, 0 with a document already, 5000 would be proposed, 0 failed.',
      )
      expect(err).toHaveLength(size === undefined ? 10 : 25)
    },
  )

  test('that is interrupted keeps what it has written', async () => {
    names.set('stop', ['a', 'b'])
    const stop = new AbortController()
    stop.abort(new Error('interrupted'))
    const { status, err } = await run(['lake', '--to', folder('stop')], steward, () => stop.signal)
    expect([status, err]).toEqual([130, ['Interrupted. What was proposed stays; run it again to go on.']])
  })
})

describe('who may', () => {
  test('neither a foreign tenant nor a principal without a role learns what the catalog has', async () => {
    names.set('crm', ['people'])
    const paths = [
      '/catalogs/lake/namespaces',
      '/catalogs/lake/namespaces/crm/tables',
      '/catalogs/lake/tables/crm/people/proposal',
    ]
    const statuses = async (secret: string) => {
      const found: number[] = []
      for (const path of paths) found.push((await request('GET', path, undefined, secret)).status)
      return found
    }
    expect(await statuses(steward)).toEqual([200, 200, 200])
    expect(await statuses(mallory)).toEqual([404, 404, 404])
    expect(await statuses(service.owner.secret)).toEqual([403, 403, 403])
    const { status, err } = await run(['lake', '--dry-run'], mallory)
    expect([status, err]).toEqual([1, ['There is no such catalog.']])
    expect((await run(['lake', '--dry-run'], service.owner.secret)).status).toBe(1)
  })

  test('wrong words end with 64', async () => {
    for (const words of [
      [],
      ['a', 'b'],
      ['lake', '--to', 'x', '--drafts'],
      ['lake', '--to='],
      ['lake', '--all'],
    ])
      expect((await run(words)).status).toBe(64)
  })

  test('a page token of another listing is refused', async () => {
    names.set('crm', ['people'])
    const answered = await request('GET', '/catalogs/lake/namespaces/crm/tables?page_token=abc')
    expect([answered.status, await messageOf(answered)]).toEqual([
      400,
      '`page_token` is none that a page of this listing gave.',
    ])
  })

  test('a catalog without the namespace, or without the table, says so', async () => {
    expect((await request('GET', '/catalogs/lake/namespaces/none/tables')).status).toBe(404)
    expect((await request('GET', '/catalogs/lake/tables/none/t/proposal')).status).toBe(404)
  })
})
