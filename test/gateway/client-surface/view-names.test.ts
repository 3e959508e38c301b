/** A view that its catalog shows under a second name, by its uuid: refused on every way, and reported once. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readEvents } from '../../../src/store/event/events.ts'
import { startUpstream, type TestUpstream } from '../../catalog/upstream.ts'
import {
  addTenant,
  audit,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'
import { govern, messageOf, send } from '../../support/surface.ts'

setDefaultTimeout(300_000)

let service: TestService
let upstream: TestUpstream
let owner: TestTenant
let foreign: TestTenant
/** The uuid of each view, by name. */
const views = new Map<string, string>()
/** Changes that reached the catalog. */
const changes: string[] = []

const viewOf = (uuid: string) => ({
  'metadata-location': `s3://lake/v/${uuid}.json`,
  metadata: { 'view-uuid': uuid, 'current-version-id': 1, location: 's3://lake/v', versions: [] },
})

beforeAll(async () => {
  service = await startTestService()
  upstream = startUpstream(async (request, path) => {
    if (path.endsWith('/oauth/tokens')) return Response.json({ access_token: 'upstream-token' })
    const name = /\/views\/([^/]+)$/.exec(path)?.[1]
    const body = request.method === 'POST' ? ((await request.json()) as { name?: string }) : {}
    const made = path.endsWith('/namespaces/n/views') ? body.name : undefined
    if (request.method !== 'GET') changes.push(`${request.method} ${path}`)
    if (made !== undefined) views.set(made, crypto.randomUUID())
    const uuid = views.get(made ?? name ?? '')
    if (path.endsWith('/views/rename') || (uuid !== undefined && request.method === 'DELETE'))
      return new Response(null, { status: 204 })
    return uuid === undefined ? Response.json({}, { status: 404 }) : Response.json(viewOf(uuid))
  })
  const url = upstream.url.replace(/\/$/, '')
  owner = await addTenant(service.store, 'lake', url)
  foreign = await addTenant(service.store, 'other', url)
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream.stop()
})

const named = (name: string) => ({ namespace: ['n'], name })
const replacing = { requirements: [], updates: [{ action: 'set-properties', updates: { a: 'b' } }] }
const of = (tenant: TestTenant) => ({ tenant })

let counter = 0
/** A view that was made through the service and is governed, and the same one under another name. */
async function twice() {
  const [first, second] = [`first${++counter}`, `second${counter}`]
  const made = { name: first, schema: {}, 'view-version': {}, properties: {} }
  expect((await send(service, 'POST', '/namespaces/n/views', made, of(owner))).status).toBe(200)
  views.set(second, views.get(first) ?? '')
  await govern(service, named(first), `keep-${first}`, 'write_acl', 'false', { tenant: owner })
  changes.length = 0
  return { first, second }
}

const ways: readonly (readonly [string, (view: string) => Promise<Response>])[] = [
  ['a load', (view) => send(service, 'GET', `/namespaces/n/views/${view}`, undefined, of(owner))],
  ['a replacement', (view) => send(service, 'POST', `/namespaces/n/views/${view}`, replacing, of(owner))],
  ['a drop', (view) => send(service, 'DELETE', `/namespaces/n/views/${view}`, undefined, of(owner))],
  [
    'a rename',
    (view) =>
      send(service, 'POST', '/views/rename', { source: named(view), destination: named('z') }, of(owner)),
  ],
]

test.each(ways)(
  'a second name of a view is refused to %s, and nothing is audited under it',
  async (_way, ask) => {
    const { first, second } = await twice()
    const refused = await ask(second)
    expect(refused.status).toBe(409)
    expect(await messageOf(refused)).toContain(`n.${first}`)
    expect(changes).toEqual([])
    expect((await audit(service)).filter(({ table }) => table.name === second)).toEqual([])
  },
)

test('a second name is told once, to its own tenant', async () => {
  const { first, second } = await twice()
  for (let tries = 0; tries < 2; tries++)
    expect((await send(service, 'GET', `/namespaces/n/views/${second}`, undefined, of(owner))).status).toBe(
      409,
    )
  const told = async ({ tenant }: TestTenant) =>
    (await readEvents(service.store, tenant, 0n))
      .filter(({ type, data }) => type === 'table.second_name' && JSON.stringify(data).includes(second))
      .map(({ data }) => data)
  expect(await told(owner)).toEqual([{ table: named(first), second: named(second) }])
  expect(await told(foreign)).toEqual([])
})

test('another tenant has the name that it saw first', async () => {
  const { first, second } = await twice()
  const load = async (view: string) =>
    (await send(service, 'GET', `/namespaces/n/views/${view}`, undefined, of(foreign))).status
  expect([await load(second), await load(first)]).toEqual([200, 409])
})

test('a view that was renamed past the service has its new name', async () => {
  const { first, second } = await twice()
  views.delete(first)
  for (let tries = 0; tries < 2; tries++)
    expect((await send(service, 'GET', `/namespaces/n/views/${second}`, undefined, of(owner))).status).toBe(
      200,
    )
})
