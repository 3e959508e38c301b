/** What a session that has ended may have left in storage: which files are reported, to whom, and what cannot be told. */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { admin } from '../../../src/admin/admin.ts'
import { findCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { lastEvent, readEvents } from '../../../src/store/event/events.ts'
import { revokeServiceSession } from '../../../src/store/session/sessions.ts'
import { ask, openSession } from '../../support/identity.ts'
import { licenseFor } from '../../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../../support/service.ts'
import { leaveVended } from '../../support/vended.ts'
import { startVendingUpstream, type VendingUpstream, vendedTo } from '../../support/vending-upstream.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['sales'], name: 'people' }
const folder = 's3://lake/sales/people/'
let service: TestService
let upstream: VendingUpstream
let tenant: TestTenant
let foreign: TestTenant
let administrator: string

const config = () => ({
  ...vendedTo('own', upstream.s3Url),
  credential: undefined,
  token: 'people',
  storage_roots: ['s3://lake/sales'],
})

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseFor('vending') } })
  upstream = await startVendingUpstream()
  tenant = await addTenant(service.store, 'stages', upstream.url, config())
  foreign = await addTenant(service.store, 'other', upstream.url, config())
  administrator = (await openSession(service, tenant.tenant, ['admin', 'read'], ['administrator'])).secret
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})
beforeEach(() => {
  upstream.listedMax = 1_000
  for (const key of [...upstream.objects.keys()]) if (key.includes('left')) upstream.objects.delete(key)
})

const credentialOf = async ({ tenant: id }: TestTenant) =>
  (await findCatalogCredential(service.store, id, 'main'))?.id ?? ''

/** A session that could write to a table, and was revoked. @returns its id */
async function ended(of = tenant, more: Parameters<typeof leaveVended>[3] = {}): Promise<string> {
  const { id } = await openSession(service, of.tenant, ['commit'])
  const given = { table, access: 'write', prefixes: [folder], credentialId: await credentialOf(of) } as const
  expect(await leaveVended(service.store, of.tenant, id, { ...given, ...more })).toBe(true)
  await revokeServiceSession(service.store, of.tenant, id)
  return id
}
function put(name: string, at?: Date): string {
  const key = `sales/people/${name}`
  upstream.objects.set(key, new Uint8Array(3))
  if (at) upstream.writtenAt.set(key, at)
  return `s3://lake/${key}`
}

interface Item {
  readonly table: { readonly name: string }
  readonly other_writers: number
  readonly location?: string
  readonly bytes?: number
  readonly problem?: string
}
interface Listed {
  readonly items: readonly Item[]
  readonly next_page_token?: string
}
async function page(session: string, more = '', secret = administrator) {
  const { status, body } = await ask(
    service,
    'GET',
    `/api/v1/credentials/staged?session=${session}${more}`,
    secret,
  )
  return { status, ...(body as unknown as Listed) }
}
/** Everything that is listed, a page at a time. */
async function listed(session: string, more = ''): Promise<readonly Item[]> {
  const items: Item[] = []
  let token = ''
  for (;;) {
    const read = await page(session, `${more}${token}`)
    expect(read.status).toBe(200)
    items.push(...read.items)
    if (read.next_page_token === undefined) return items
    token = `&page_token=${encodeURIComponent(read.next_page_token)}`
  }
}
const locations = (items: readonly Item[]) => items.map(({ location }) => location)

describe('the report on a session that has ended', () => {
  test('names files below its table that no snapshot names, and none that one does', async () => {
    await upstream.writer.append([{ rows: [{ id: 1, email: 'a@example.com' }] }])
    const names = ['data/left.parquet', 'data/left over=ä+1.parquet', 'metadata/left.avro']
    const left = names.map((name) => put(name))
    const session = await ended()
    const items = await listed(session)
    expect(locations(items).toSorted()).toEqual(left.toSorted())
    expect(items[0]).toMatchObject({ table, other_writers: 0, bytes: 3, modified_at: expect.any(String) })
    const committed = [...upstream.objects.keys()].filter((key) => key.startsWith('sales/people/')).length
    expect(committed).toBeGreaterThan(left.length + 5)
  })

  test('leaves out what was written before its first credential and after its last', async () => {
    const hour = 3_600_000
    const within = put('data/left-within')
    put('data/left-before', new Date(Date.now() - hour))
    put('data/left-after', new Date(Date.now() + 2 * hour))
    expect(locations(await listed(await ended()))).toEqual([within])
  })

  test('comes in pages of the size that is asked for, from any place', async () => {
    const left = Array.from({ length: 7 }, (_, n) => put(`data/left-${n}`))
    const session = await ended()
    upstream.listedMax = 2
    expect(locations(await listed(session, '&limit=3'))).toEqual(left)
    expect((await page(session, '&limit=3')).items).toHaveLength(3)
    // More parts of the listing than one page reads.
    for (let n = 0; n < 60; n++) put(`data/left-old-${n}`, new Date(0))
    expect(locations(await listed(session))).toEqual(left)
    expect(await page(session)).toMatchObject({
      items: expect.anything(),
      next_page_token: expect.any(String),
    })
  })

  test('counts the other sessions that could write there, and can be of one table', async () => {
    const left = put('data/left')
    const [one, two] = [await ended(), await ended()]
    expect((await listed(one))[0]?.other_writers).toBeGreaterThan(0)
    expect(locations(await listed(two, '&namespace=sales&table=people'))).toEqual([left])
    expect(await listed(two, '&namespace=sales&table=other')).toEqual([])
  })

  test('has nothing of a session that could only read', async () => {
    put('data/left')
    expect(await listed(await ended(tenant, { access: 'read' }))).toEqual([])
  })

  test('says so where the catalog has no such table, and lists what is there', async () => {
    const left = put('data/left')
    const gone = { namespace: ['sales'], name: 'gone' }
    const items = await listed(await ended(tenant, { table: gone, prefixes: [`${folder}data/`] }))
    expect(items[0]?.problem).toContain('The catalog has no table of this name')
    expect(locations(items)).toContain(left)
  })

  test.each([
    [
      'outside the storage roots',
      { prefixes: ['s3://other/place/'] },
      'a location lies outside the storage_roots',
    ],
    ['of a removed catalog', { credentialId: crypto.randomUUID() }, 'its catalog credential was removed'],
  ] as const)('says of a table why its files cannot be told: %s', async (_, more, why) => {
    const items = await listed(await ended(tenant, more))
    expect(items).toMatchObject([{ table, problem: expect.stringContaining(why) }])
    expect(items[0]).not.toHaveProperty('location')
  })

  test('says so where a manifest cannot be read: nothing then tells a file that is in use from one that is not', async () => {
    await upstream.writer.append([{ rows: [{ id: 1, email: 'a@example.com' }] }])
    const [key = ''] = [...upstream.objects.keys()].filter((one) => /metadata\/.*\.avro$/.test(one)).slice(-1)
    const bytes = upstream.objects.get(key) ?? new Uint8Array()
    upstream.objects.set(key, bytes.slice(0, 10))
    put('data/left')
    try {
      const items = await listed(await ended())
      expect(items).toMatchObject([{ problem: expect.stringContaining('Its files cannot be told') }])
    } finally {
      upstream.objects.set(key, bytes)
    }
  })
})

describe('the report', () => {
  test('is for administrators of the tenant, about sessions of the tenant that have ended', async () => {
    const [ours, theirs] = [await ended(), await ended(foreign)]
    const open = (await openSession(service, tenant.tenant, ['commit'])).id
    const steward = await openSession(service, tenant.tenant, ['admin', 'read'], ['steward'])
    expect((await page(ours)).status).toBe(200)
    expect((await page(theirs)).status).toBe(404)
    expect((await page(open)).status).toBe(409)
    expect((await page(ours, '', steward.secret)).status).toBe(403)
  })

  test.each([
    'x',
    btoa('[]'),
    btoa('["a","b","c","d"]'),
    btoa(`["","${crypto.randomUUID()}","s3://x/","\\u0000"]`),
  ])('refuses a page token that is none: %s', async (token) => {
    expect((await page(await ended(), `&page_token=${encodeURIComponent(token)}`)).status).toBe(400)
  })

  test('takes no folder from a token that is not the session’s', async () => {
    const session = await ended()
    const { id } = { id: await credentialOf(tenant) }
    const [row] = await service.store.tenantQuery<{ table_id: string }>(
      tenant.tenant,
      'select table_id from svc.vended_credential where session_id = $1',
      [session],
    )
    const token = Buffer.from(JSON.stringify([row?.table_id, id, 's3://lake/', ''])).toString('base64url')
    expect((await page(session, `&page_token=${token}`)).status).toBe(400)
  })
})

describe('the job', () => {
  const eventsSince = async (last: bigint, of = tenant) => await readEvents(service.store, of.tenant, last)

  test('looks once at a revoked session that holds nothing any more, and tells what it left by an event', async () => {
    const past = { expiresAtMs: Date.now() - 1_000 }
    put('data/left-a')
    put('data/left-b')
    const [over, out] = [await ended(tenant, past), await ended()]
    const still = (await openSession(service, tenant.tenant, ['commit'])).id
    const given = {
      table,
      access: 'write',
      prefixes: [folder],
      credentialId: await credentialOf(tenant),
    } as const
    await leaveVended(service.store, tenant.tenant, still, { ...given, ...past })
    const [last, theirs] = [
      await lastEvent(service.store, tenant.tenant),
      await lastEvent(service.store, foreign.tenant),
    ]
    await service.app.jobs.run('check-staged')
    await service.app.jobs.run('check-staged')
    const events = await eventsSince(last)
    expect(events).toMatchObject([
      { type: 'session.files_left', subject: over, data: { files: 2, bytes: 6, complete: true } },
    ])
    expect(events.map(({ subject }) => subject)).not.toContain(out)
    expect(await eventsSince(theirs, foreign)).toEqual([])
    expect(service.log()).toContain('a revoked session may have left files that no snapshot names')
  })

  test('tells that it does not know where a table’s files cannot be told, and nothing of a session that left none', async () => {
    const past = { expiresAtMs: Date.now() - 1_000 }
    const unknown = await ended(tenant, { ...past, prefixes: ['s3://other/place/'] })
    await ended(tenant, past)
    const last = await lastEvent(service.store, tenant.tenant)
    await service.app.jobs.run('check-staged')
    expect(await eventsSince(last)).toMatchObject([
      { type: 'session.files_left', subject: unknown, data: { files: 0, bytes: 0, complete: false } },
    ])
  })
})

test('revoking a session that holds credentials is an event', async () => {
  const last = await lastEvent(service.store, tenant.tenant)
  const session = await ended()
  expect(await readEvents(service.store, tenant.tenant, last)).toMatchObject([
    { type: 'session.quarantined', subject: session, data: { credentials: 1, until: expect.any(String) } },
  ])
})

test('the command lists every page', async () => {
  upstream.listedMax = 2
  const left = Array.from({ length: 5 }, (_, n) => put(`data/left-${n}`))
  const session = await ended()
  const printed: string[] = []
  const status = await admin(['credentials', 'staged', '--session', session, '--table', 'sales.people'], {
    env: { COVENANT_URL: service.app.url.href, COVENANT_SESSION: administrator },
    stdin: async () => '',
    print: (text: string) => void printed.push(text),
    printError: (text: string) => void printed.push(text),
  } as never)
  expect([status, printed.join('')]).toEqual([0, expect.any(String)])
  expect(locations(JSON.parse(printed.join('')) as readonly Item[])).toEqual(left)
})
