/** How much of a view and of a list of views one request looks at, so that other requests never wait for all of it. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putContract } from '../../../src/contract/put-contract.ts'
import type { SurfaceRequest } from '../../../src/gateway/client-surface/surface-request.ts'
import { tablesRead, viewBounds } from '../../../src/gateway/client-surface/views.ts'
import { tablesOfView } from '../../../src/query/compile/parse/view-tables.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import { actorOf } from '../../support/actor.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

interface Version {
  readonly sql: string
  readonly namespace?: readonly string[]
}

function viewOf(texts: readonly Version[]) {
  const versions = texts.map(({ sql, namespace = ['n'] }, index) => ({
    ...{ 'version-id': index + 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {} },
    ...{ 'default-namespace': namespace, representations: [{ type: 'sql', sql, dialect: 'spark' }] },
  }))
  const metadata = { 'view-uuid': crypto.randomUUID(), 'current-version-id': 1, versions }
  return { 'metadata-location': 's3://lake/v/1.json', metadata }
}

describe('the tables of a view', () => {
  /** With the texts that were parsed, and the turns of the event loop between them. */
  async function readOf(texts: readonly Version[], signal = new AbortController().signal) {
    const order: string[] = []
    const surface = {
      parts: {
        tablesOfView(text: string, place: Parameters<typeof tablesOfView>[1]) {
          order.push('text')
          setImmediate(() => order.push('turn'))
          return tablesOfView(text, place)
        },
      },
      path: { prefix: 'main' },
      request: { signal },
    } as unknown as SurfaceRequest
    const loaded = new TextEncoder().encode(JSON.stringify(viewOf(texts)))
    const tables = await tablesRead(surface, loaded)
    return { names: tables?.map(({ namespace, name }) => [...namespace, name].join('.')), order }
  }
  const many = (count: number, sqlOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({ sql: sqlOf(index) }))

  test('are each found once, and a text that many versions have is parsed once', async () => {
    const same = many(1_000, () => `SELECT a, '${'x'.repeat(1_000)}' FROM t JOIN t AS u ON true`)
    const { names, order } = await readOf([...same, { sql: 'SELECT b FROM t JOIN u ON true' }])
    expect(names).toEqual(['n.t', 'n.u'])
    expect(order.filter((one) => one === 'text')).toHaveLength(2)
  })

  test('are those of every namespace in which the same text stands', async () => {
    const sql = 'SELECT a FROM t'
    const { names } = await readOf([{ sql }, { sql, namespace: ['m'] }])
    expect(names).toEqual(['n.t', 'm.t'])
  })

  test('are found in turns of the event loop, a text in each', async () => {
    const { order } = await readOf(many(3, (index) => `SELECT ${index} FROM t`))
    expect(order).toEqual(['text', 'turn', 'text', 'turn', 'text'])
  })

  test('are no longer looked for once the caller is gone', async () => {
    const gone = new AbortController()
    gone.abort(new Error('the caller is gone'))
    const read = readOf(
      many(1, () => 'SELECT a FROM t'),
      gone.signal,
    )
    await expect(read).rejects.toThrow('the caller is gone')
  })

  const { textsMax, charsMax, tablesMax, namespaceCharsMax } = viewBounds
  const padded = (chars: number) =>
    [Math.floor(chars / 2), Math.ceil(chars / 2)].map((each, index) => {
      const text = `SELECT '', ${index} FROM t`
      return { sql: text.replace("''", `'${'x'.repeat(each - text.length)}'`) }
    })
  const wide = (count: number) => [
    { sql: `SELECT 1 FROM ${Array.from({ length: count }, (_, index) => `t${index}`).join(', ')}` },
  ]
  const placed = (chars: number) => [{ sql: 'SELECT a FROM t', namespace: ['x'.repeat(chars)] }]
  test.each([
    ['texts', textsMax, (count: number) => many(count, (index) => `SELECT ${index} FROM t`)],
    ['characters', charsMax, padded],
    ['tables', tablesMax, wide],
    ['characters of a namespace', namespaceCharsMax, placed],
  ])('are found up to a number of %s, and none of more than that is parsed on', async (_, max, texts) => {
    expect((await readOf(texts(max))).names).toBeDefined()
    expect((await readOf(texts(max + 1))).names).toBeUndefined()
  })

  test('are those of no text where one of many is not understood', async () => {
    expect((await readOf([{ sql: 'SELECT a FROM t' }, { sql: 'SELECT a FROM' }])).names).toBeUndefined()
  })
})

describe('a list of views', () => {
  let service: TestService
  let upstream: TestUpstream
  let reader: TestTenant
  /** Views that the upstream lists, of which some are over a table of the reader's. */
  let views: readonly string[] = []
  /** Entries of a page of the upstream; undefined where it knows no pages. */
  let pageEntries: number | undefined
  let tokenOf = (from: number) => String(from)
  let loads = 0
  let loading = 0
  let loadingMost = 0
  const isOpen = (name: string) => name.startsWith('open')

  async function load(name: string): Promise<Response> {
    loads++
    loading++
    loadingMost = Math.max(loadingMost, loading)
    // Others that are loaded with it come in meanwhile.
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    loading--
    if (name === 'open_broken') return new Response('{', { status: 200 })
    const texts = name === 'open_long' ? viewBounds.textsMax + 1 : 1
    const sql = (index: number) => `SELECT a, ${index} FROM ${isOpen(name) ? 'open_1' : 'closed'}`
    return Response.json(viewOf(Array.from({ length: texts }, (_, index) => ({ sql: sql(index) }))))
  }

  function list(asked: URLSearchParams): Response {
    const token = asked.get('pageToken')
    const isPaged = pageEntries !== undefined && token !== null
    const from = isPaged ? Number(/\d*$/.exec(token)?.[0] ?? 0) : 0
    const end = isPaged ? from + (pageEntries ?? 0) : views.length
    return Response.json({
      'next-page-token': end < views.length ? tokenOf(end) : null,
      identifiers: views.slice(from, end).map((name) => ({ namespace: ['n'], name })),
    })
  }

  beforeAll(async () => {
    service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending', 'contracts') } })
    upstream = startUpstream(async (request, path) => {
      if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
      if (path.endsWith('/views')) return list(new URL(request.url).searchParams)
      return await load(path.split('/').at(-1) ?? '')
    })
    const url = upstream.url.replace(/\/$/, '')
    const writer = await addTenant(service.store, 'lake', url, { storage_roots: ['s3://lake'] })
    const foreign = await addTenant(service.store, 'other', url, { storage_roots: ['s3://lake'] })
    const session = { name: 'rita', principal: { sub: 'rita', roles: [] }, scopes: ['read'] as const }
    const { secret } = await createServiceSession(service.store, writer.tenant, session)
    reader = { tenant: writer.tenant, secret }
    const on = { store: service.store, actor: actorOf('stella'), checkPolicies: () => [] }
    const contract = ({ tenant }: TestTenant, name: string) =>
      putContract({ ...on, tenant }, { namespace: ['n'], name }, { id: name, version: 1 })
    await contract(writer, 'open_1')
    // Of another tenant, whose contracts open nothing here.
    await contract(foreign, 'closed')
  })
  afterAll(async () => {
    await service[Symbol.asyncDispose]()
    await upstream.stop()
  })

  interface Page {
    readonly names: readonly string[]
    readonly next: string | undefined
    readonly loads: number
  }
  async function pageOf(query: string): Promise<Page> {
    loads = 0
    const path = `/namespaces/n/views${query}`
    const response = await send(service, 'GET', path, undefined, { tenant: reader })
    expect(response.status).toBe(200)
    const body = (await response.json()) as {
      readonly identifiers: readonly { readonly name: string }[]
      readonly 'next-page-token': string | null
    }
    const names = body.identifiers.map(({ name }) => name)
    return { names, next: body['next-page-token'] ?? undefined, loads }
  }
  /** All pages, up to more than there can be. */
  async function pagesOf(first: string, more = ''): Promise<readonly Page[]> {
    const found = [await pageOf(first)]
    for (let next = found[0]?.next; next !== undefined && found.length < 1_000; next = found.at(-1)?.next)
      found.push(await pageOf(`?pageToken=${encodeURIComponent(next)}${more}`))
    return found
  }
  const numbered = (count: number, nameOf: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `${nameOf(index)}_${index}`)

  test.each([
    ['pages', '?pageToken=', 150],
    ['all at once', '?pageToken=', undefined],
    ['pages, to a client that asks for none', '', 150],
    ['all at once, to a client that asks for no pages', '', undefined],
  ])(
    'loads 200 views for a request and gives a short page where the upstream lists %s',
    async (_, first, size) => {
      pageEntries = size
      views = numbered(450, (index) => (index % 90 === 0 ? 'open' : 'closed'))
      const found = await pagesOf(first)
      expect(found.map((page) => page.loads)).toEqual([200, 200, 50])
      expect(found.flatMap((page) => page.names)).toEqual(views.filter(isOpen))
    },
  )

  test('gives an empty page with a place to go on where none of 200 views is open', async () => {
    pageEntries = 100
    views = [...numbered(250, () => 'closed'), 'open_last']
    const [empty, last] = await pagesOf('?pageToken=')
    expect(empty?.names).toEqual([])
    expect(last).toMatchObject({ names: ['open_last'], next: undefined })
  })

  test('loads at most four views at a time', async () => {
    pageEntries = undefined
    views = numbered(40, () => 'open')
    loadingMost = 0
    await pageOf('')
    expect(loadingMost).toBe(4)
  })

  test('loads little more than what a small page shows', async () => {
    pageEntries = undefined
    views = numbered(30, () => 'open')
    const found = await pagesOf('?pageSize=3&pageToken=', '&pageSize=3')
    expect(found.flatMap((page) => page.names)).toEqual([...views])
    for (const page of found) expect(page.loads).toBeLessThanOrEqual(8)
  })

  test('leaves out a view that cannot be read or has more than is looked at, and shows those behind it', async () => {
    pageEntries = undefined
    views = ['open_broken', 'open_long', 'open_fine']
    expect((await pageOf('')).names).toEqual(['open_fine'])
    const one = await send(service, 'GET', '/namespaces/n/views/open_long', undefined, { tenant: reader })
    expect(one.status).toBe(403)
  })

  describe('whose upstream has long page tokens', () => {
    const long = (chars: number) => (from: number) => `${'"'.repeat(chars - String(from).length)}${from}`

    test('gives none that it refuses, up to the longest that is forwarded', async () => {
      pageEntries = 150
      views = numbered(450, (index) => (index % 90 === 0 ? 'open' : 'closed'))
      tokenOf = long(4_096)
      const found = await pagesOf('?pageToken=')
      expect(found.flatMap((page) => page.names)).toEqual(views.filter(isOpen))
    })

    test('fails where it would have to give a longer one', async () => {
      tokenOf = long(4_097)
      const response = await send(service, 'GET', '/namespaces/n/views', undefined, { tenant: reader })
      expect(response.status).toBe(502)
    })

    test('refuses a token of its form in which there is a longer one', async () => {
      const token = Buffer.from(JSON.stringify([long(4_097)(1), 0])).toString('base64url')
      const path = `/namespaces/n/views?pageToken=${token}`
      const response = await send(service, 'GET', path, undefined, { tenant: reader })
      expect(response.status).toBe(400)
    })
  })
})
