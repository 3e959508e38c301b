/** GET /api/v1/usage/readers: who read a table or a column in a time, over all surfaces, and never a foreign tenant’s. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { RawReads } from '../../../src/core/raw-read.ts'
import type { UsageRecord } from '../../../src/core/usage.ts'
import { addRawReads } from '../../../src/store/query/raw-reads.ts'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { call, session } from '../../support/identity.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(300_000)

const day = (date: number) => Date.UTC(2026, 2, date)
const orders = { namespace: ['sales'], name: 'orders' }
const masked = {
  id: 'm',
  kind: 'column_mask',
  table: orders,
  column: 'email',
  action: 'mask-alphanum',
} as const
const filtered = { id: 'f', kind: 'row_filter', table: orders } as const
const reading = (columns: readonly string[], change: Partial<UsageRecord> = {}) =>
  usageRecord({ startedAtMs: day(10), reads: [{ ...orders, columns }], ...change })

let service: TestService
let steward: string
let auditor: string
let analyst: string
let foreign: string
let spark: string

beforeAll(async () => {
  service = await startTestService()
  const { store } = service
  const { tenant } = service.owner
  const other = (await createTenant(store, { name: 'foreign' })).id
  const principal = { sub: 'service:spark', roles: ['officer'] }
  spark = (await createServiceSession(store, tenant, { name: 'spark', principal, scopes: ['read'] })).id
  const raw: RawReads = {
    ...{ tenant, principal: principal.sub, principalSource: 'session', sessionId: spark, catalog: 'main' },
    ...{ table: orders, given: 'sign', protection: 'exempt', snapshotIds: [] },
    ...{ id: crypto.randomUUID(), firstMs: day(11), lastMs: day(11) + 50_000, times: 40 },
  }
  const records = [
    reading(['id', 'email'], { principal: 'ann', policies: [masked, filtered] }),
    reading(['id', 'email'], { principal: 'ann', policies: [masked, filtered], startedAtMs: day(12) }),
    reading(['id'], { principal: 'bob', surface: 'xmla' }),
    reading(['email'], { principal: 'eve', outcome: 'refused', sqlState: '42501' }),
    reading(['email'], {
      principal: 'eve',
      reads: [{ namespace: ['sales', 'eu'], name: 'orders', columns: ['email'] }],
    }),
    reading(['email'], { principal: 'late', startedAtMs: day(31) }),
  ]
  for (const record of records) await recordUsage(store, tenant, record)
  await addRawReads(store, tenant, [raw, { ...raw, id: crypto.randomUUID(), protection: 'told', times: 1 }])
  await recordUsage(store, other, reading(['email'], { principal: 'mallory' }))
  await addRawReads(store, other, [{ ...raw, tenant: other, principal: 'mallory', sessionId: undefined }])
  steward = await session(service, tenant, ['read'], ['steward'], 'stella')
  auditor = await session(service, tenant, ['read'], ['auditor'], 'otto')
  analyst = await session(service, tenant, ['read'], ['analyst'], 'anna')
  foreign = await session(service, other, ['read'], ['steward'], 'mallory')
})
afterAll(() => service[Symbol.asyncDispose]())

interface Answer {
  readonly status: number
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly next_page_token?: string
}
async function get(more = '', secret = steward, name = 'orders', namespace = 'sales'): Promise<Answer> {
  const at = `/api/v1/usage/readers?namespace=${namespace}&table=${name}${more}`
  const response = await call(service, 'GET', at, { secret })
  return { status: response.status, items: [], ...((await response.json()) as object) }
}
const march = '&from=2026-03-01T00:00:00Z&to=2026-03-31T00:00:00Z'
const brief = ({ items }: Answer) =>
  items.map(({ principal, surface, saw, reads }) => [principal, surface, saw, reads])

test('readers of a table come with what they saw, how often and when, over all surfaces', async () => {
  const found = await get(march)
  expect(brief(found)).toEqual([
    ['ann', 'pgwire', 'masked', 2],
    ['bob', 'xmla', 'whole', 1],
    ['service:spark', 'iceberg', 'told', 1],
    ['service:spark', 'iceberg', 'whole', 40],
  ])
  expect(found.items[0]).toMatchObject({
    first_at: new Date(day(10)).toISOString(),
    last_at: new Date(day(12)).toISOString(),
  })
  expect(found.items[3]).toMatchObject({
    ...{ given: 'sign', session: { id: spark, name: 'spark', roles: ['officer'] } },
    last_at: new Date(day(11) + 50_000).toISOString(),
  })
})

test('readers of a column are those whose statements name it, and those who read the files', async () => {
  const of = async (column: string) => (await get(`${march}&column=${column}`)).items
  expect((await of('email')).map(({ principal, saw }) => [principal, saw])).toEqual([
    ['ann', 'masked'],
    ['service:spark', 'told'],
    ['service:spark', 'whole'],
  ])
  // The mask is of another column.
  expect((await of('id')).map(({ principal, saw }) => [principal, saw])).toContainEqual(['ann', 'filtered'])
  expect((await of('id')).map(({ principal }) => principal)).toContain('bob')
})

test('what was read whole can be asked for alone', async () => {
  expect(brief(await get(`${march}&saw=whole`))).toEqual([
    ['bob', 'xmla', 'whole', 1],
    ['service:spark', 'iceberg', 'whole', 40],
  ])
  expect(brief(await get(`${march}&saw=whole&column=email`))).toEqual([
    ['service:spark', 'iceberg', 'whole', 40],
  ])
})

test('only the time that is asked for counts, and a minute of raw reads to its last one', async () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const within = async (from: number, to: number) => brief(await get(`&from=${at(from)}&to=${at(to)}`))
  expect((await within(day(11) + 50_000, day(12))).map(([principal]) => principal)).toEqual([
    'service:spark',
    'service:spark',
  ])
  expect(await within(day(11) + 50_001, day(12))).toEqual([])
  expect(await within(day(12), day(12) + 1)).toEqual([['ann', 'pgwire', 'masked', 1]])
})

test('pages lead through all readers, each once', async () => {
  const whole = brief(await get(march))
  const found: unknown[] = []
  let token: string | undefined
  do {
    const page = await get(`${march}&limit=1${token ? `&page_token=${encodeURIComponent(token)}` : ''}`)
    found.push(...brief(page))
    token = page.next_page_token
  } while (token !== undefined)
  expect(found).toEqual(whole)
})

test('an auditor asks too; a reader and a foreign steward learn nothing', async () => {
  expect(brief(await get(march, auditor))).toHaveLength(4)
  expect((await get(march, analyst)).status).toBe(403)
  expect((await get(march, foreign)).items.map(({ principal }) => principal)).toEqual(['mallory', 'mallory'])
  expect((await get(march, steward, 'other')).items).toEqual([])
})

test.each([
  '',
  '&from=2026-03-01T00:00:00Z',
  '&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z',
  '&from=2024-01-01T00:00:00Z&to=2026-01-01T00:00:00Z',
  `${march}&saw=everything`,
  `${march}&limit=0`,
])('refuses %p', async (more) => expect((await get(more)).status).toBe(400))
