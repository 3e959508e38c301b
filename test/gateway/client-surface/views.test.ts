/** What a reader who may not have every table sees of views, functions and namespaces on the Iceberg surface. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { putContract } from '../../../src/contract/put-contract.ts'
import type { Uncontracted } from '../../../src/core/uncontracted.ts'
import { putReadSettings } from '../../../src/store/contract/read-settings.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import { actorOf } from '../../support/actor.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { messageOf, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: TestUpstream
let writer: TestTenant
let reader: TestTenant
let foreign: TestTenant

const views: Readonly<Record<string, readonly string[]>> = {
  over_open: ['SELECT a FROM open_1'],
  over_closed: ["SELECT a FROM closed WHERE secret = 'CANARY'"],
  over_both: ['SELECT a FROM open_1 JOIN closed ON true'],
  once_closed: ['SELECT a FROM open_1', "SELECT 'CANARY' FROM closed"],
  odd: ["SELECT a FROM open_1 LATERAL VIEW explode(b) AS 'CANARY'"],
  of_names: ['SELECT a FROM `n`.`open_1`'],
}
const namespaces = [['n'], ['hidden'], ['a'], ['b'], ['outer'], ['c']]

const readerOf = async (of: TestTenant): Promise<TestTenant> => {
  const session = { name: 'rita', principal: { sub: 'rita', roles: [] }, scopes: ['read'] as const }
  return { tenant: of.tenant, secret: (await createServiceSession(service.store, of.tenant, session)).secret }
}
const set = (uncontracted: Uncontracted) =>
  putReadSettings(service.store, writer.tenant, actorOf('stella'), { uncontracted })

function viewOf(texts: readonly string[]) {
  const versions = texts.map((sql, index) => ({
    ...{ 'version-id': index + 1, 'timestamp-ms': 1, 'schema-id': 0, summary: {} },
    ...{ 'default-namespace': ['n'], representations: [{ type: 'sql', sql, dialect: 'spark' }] },
  }))
  return {
    'metadata-location': 's3://lake/v/1.json',
    metadata: {
      'view-uuid': crypto.randomUUID(),
      'current-version-id': 1,
      location: 's3://lake/v',
      versions,
    },
  }
}

function paged(entries: readonly unknown[], member: string, asked: URLSearchParams): Response {
  const from = Number(asked.get('pageToken') ?? 0)
  const end = asked.has('pageToken') ? from + Math.min(2, Number(asked.get('pageSize') ?? 2)) : entries.length
  const next = end < entries.length ? String(end) : null
  return Response.json({ 'next-page-token': next, [member]: entries.slice(from, end) })
}

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending', 'contracts') } })
  upstream = startUpstream(async (request, path) => {
    const asked = new URL(request.url).searchParams
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
    if (path.endsWith('/namespaces')) {
      const below =
        asked.get('parent') === 'outer'
          ? [
              ['outer', 'inner'],
              ['outer', 'dark'],
            ]
          : namespaces
      return paged(below, 'namespaces', asked)
    }
    if (path.endsWith('/views'))
      return paged(
        Object.keys(views).map((name) => ({ namespace: ['n'], name })),
        'identifiers',
        asked,
      )
    if (path.endsWith('/functions')) return Response.json({ identifiers: [{ namespace: ['n'], name: 'f' }] })
    if (path.endsWith('/functions/f')) return Response.json({ metadata: { sql: 'CANARY' } })
    const view = views[/\/views\/([^/]+)$/.exec(path)?.[1] ?? '']
    if (view !== undefined) return Response.json(viewOf(view))
    const namespace = /\/namespaces\/([^/]+)$/.exec(path)?.[1]
    if (namespace !== undefined && namespaces.some(([name]) => name === namespace))
      return Response.json({ namespace: [namespace], properties: { owner: 'CANARY' } })
    if (path.endsWith('/tables')) return Response.json({ identifiers: [] })
    return new Response('{}', { status: 404 })
  })
  const url = upstream.url.replace(/\/$/, '')
  writer = await addTenant(service.store, 'lake', url, { storage_roots: ['s3://lake'] })
  foreign = await addTenant(service.store, 'other', url, { storage_roots: ['s3://lake'] })
  reader = await readerOf(writer)
  const on = { store: service.store, actor: actorOf('stella'), checkPolicies: () => [] }
  const contract = (of: TestTenant, namespace: readonly string[], name: string) =>
    putContract({ ...on, tenant: of.tenant }, { namespace, name }, { id: name, version: 1 })
  await contract(writer, ['n'], 'open_1')
  await contract(writer, ['outer', 'inner'], 'open_2')
  // Of another tenant, whose contracts open nothing here.
  await contract(foreign, ['n'], 'closed')
  await contract(foreign, ['hidden'], 'open_3')
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
})

const get = (path: string, tenant = reader, method = 'GET') =>
  send(service, method, path, undefined, { tenant })
async function listed(path: string, member: string, tenant = reader): Promise<readonly unknown[]> {
  const found: unknown[] = []
  let token: string | undefined = ''
  while (token !== undefined) {
    const join: string = path.includes('?') ? '&' : '?'
    const response = await get(`${path}${join}pageSize=2&pageToken=${token}`, tenant)
    const page = (await response.json()) as Record<string, unknown>
    const entries = page[member] as readonly unknown[]
    found.push(...entries)
    token = (page['next-page-token'] as string | null) ?? undefined
    if (token !== undefined) expect(entries).toHaveLength(2)
  }
  return found
}

describe('a view', () => {
  test.each(['over_open', 'of_names'])('over readable tables is loaded by a reader: %s', async (name) => {
    expect((await get(`/namespaces/n/views/${name}`)).status).toBe(200)
    expect((await get(`/namespaces/n/views/${name}`, reader, 'HEAD')).status).toBe(204)
  })

  test.each(['over_closed', 'over_both', 'once_closed', 'odd'])(
    'over a table that a reader may not have is refused like one that there is not: %s',
    async (name) => {
      for (const mode of ['to_writers', 'denied'] as const) {
        await set(mode)
        const told = async (view: string) => {
          const response = await get(`/namespaces/n/views/${view}`)
          return [response.status, (await messageOf(response)).replaceAll(view, '…')]
        }
        expect(await told(name)).toEqual(await told('no_such_view'))
        expect((await told(name))[0]).toBe(403)
        expect((await get(`/namespaces/n/views/${name}`, reader, 'HEAD')).status).toBe(403)
      }
      await set('to_writers')
    },
  )

  test('is loaded by a session that may commit, and by all where the tenant says readable', async () => {
    expect(await (await get('/namespaces/n/views/over_closed', writer)).text()).toContain('CANARY')
    await set('denied')
    expect((await get('/namespaces/n/views/over_closed', writer)).status).toBe(403)
    await set('readable')
    expect((await get('/namespaces/n/views/over_closed')).status).toBe(200)
    await set('to_writers')
  })

  test('is listed where it is loaded, in full pages', async () => {
    const names = async (tenant: TestTenant) =>
      (await listed('/namespaces/n/views', 'identifiers', tenant)).map(
        (one) => (one as { name: string }).name,
      )
    expect(await names(reader)).toEqual(['over_open', 'of_names'])
    expect(await names(writer)).toEqual(Object.keys(views))
  })
})

describe('a namespace', () => {
  test('is listed to a reader where it holds a readable table, in full pages', async () => {
    expect(await listed('/namespaces', 'namespaces')).toEqual([['n'], ['outer']])
    expect(await listed('/namespaces?parent=outer', 'namespaces')).toEqual([['outer', 'inner']])
    expect(await listed('/namespaces', 'namespaces', writer)).toEqual(namespaces)
    await set('denied')
    expect(await listed('/namespaces', 'namespaces', writer)).toEqual(namespaces)
    await set('readable')
    expect(await listed('/namespaces', 'namespaces')).toEqual(namespaces)
    await set('to_writers')
  })

  test.each(['', '/tables', '/views', '/functions'])(
    'without one is to a reader like one that there is not, by its path%s',
    async (door) => {
      const told = async (name: string) => {
        const response = await get(`/namespaces/${name}${door}`)
        return [response.status, await messageOf(response)]
      }
      expect(await told('hidden')).toEqual(await told('nowhere'))
      expect((await told('hidden'))[0]).toBe(404)
      expect((await get(`/namespaces/n${door}`)).status).toBe(200)
      expect((await get(`/namespaces/hidden${door}`, writer)).status).toBe(200)
    },
  )
})

test('a function shows its text to those alone who may have what no contract opens', async () => {
  expect((await get('/namespaces/n/functions/f')).status).toBe(403)
  expect(await listed('/namespaces/n/functions', 'identifiers')).toEqual([])
  expect(await (await get('/namespaces/n/functions/f', writer)).text()).toContain('CANARY')
})
