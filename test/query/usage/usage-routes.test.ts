/** GET /api/v1/usage and its totals: pages, filters, own and all records, and never a foreign tenant’s. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { recordUsage } from '../../../src/store/query/usage.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { call, session } from '../../support/identity.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { usageRecord } from '../../support/usage.ts'

setDefaultTimeout(300_000)

const ownRegion = {
  id: 'own-region',
  kind: 'row_filter',
  table: { namespace: ['sales'], name: 'orders' },
} as const

let service: TestService
let steward: string
let ada: string
let foreign: string

beforeAll(async () => {
  service = await startTestService()
  const { tenant } = service.owner
  const other = (await createTenant(service.store, { name: 'foreign' })).id
  const people = { namespace: ['hr', 'eu'], name: 'people', columns: ['id'] }
  const day = (date: number) => Date.UTC(2026, 0, date)
  const records = [
    usageRecord({ startedAtMs: day(1) }),
    usageRecord({ startedAtMs: day(1), principal: 'bob', reads: [...usageRecord().reads, people] }),
    usageRecord({
      startedAtMs: day(2),
      outcome: 'refused',
      sqlState: '42501',
      rowsOut: 0,
      contracts: [],
      policies: [ownRegion],
    }),
    usageRecord({ startedAtMs: day(3), bytesScanned: undefined, engine: undefined, fingerprint: undefined }),
    usageRecord({ startedAtMs: day(3), principal: `${'long '.repeat(1_000)}` }),
  ]
  for (const record of records) await recordUsage(service.store, tenant, record)
  await recordUsage(service.store, other, usageRecord({ principal: 'ada', rowsOut: 77 }))
  steward = await session(service, tenant, ['read'], ['steward'], 'stella')
  ada = await session(service, tenant, ['read'], [], 'ada')
  foreign = await session(service, other, ['read'], ['administrator'], 'ada')
})
afterAll(() => service[Symbol.asyncDispose]())

interface Answer {
  readonly status: number
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly next_page_token?: string
}

async function get(path: string, secret = steward): Promise<Answer> {
  const response = await call(service, 'GET', `/api/v1/usage${path}`, { secret })
  return { status: response.status, items: [], ...((await response.json()) as object) }
}

test('a record is shown whole, newest first, in pages', async () => {
  const all = await get('')
  expect(all.items.map(({ started_at }) => String(started_at).slice(8, 10))).toEqual([
    '03',
    '03',
    '02',
    '01',
    '01',
  ])
  expect(all.items[4]).toEqual({
    query_id: expect.any(String),
    started_at: '2026-01-01T00:00:00.000Z',
    principal: 'ada',
    principal_source: 'session',
    surface: 'pgwire',
    catalog: 'main',
    engine: 'duckdb',
    contracts: [{ id: 'orders', version: 1 }],
    reads: [{ table: { namespace: ['sales'], name: 'orders' }, columns: ['id'], snapshot_id: '1' }],
    policies: [],
    rows_out: 10,
    bytes_out: 80,
    bytes_scanned: 1_000,
    queue_ms: 1,
    plan_ms: 2,
    run_ms: 3,
    outcome: 'completed',
    fingerprint: '0123456789abcdef',
  })
  const paged: unknown[] = []
  let next: string | undefined = ''
  while (next !== undefined) {
    const page: Answer = await get(`?limit=2${next && `&page_token=${next}`}`)
    paged.push(...page.items)
    next = page.next_page_token
  }
  expect(paged).toEqual([...all.items])
})

test('filters by principal, outcome and time', async () => {
  const ids = async (query: string) => (await get(query)).items.length
  expect(await ids('?principal=bob')).toBe(1)
  expect(await ids('?outcome=refused')).toBe(1)
  expect(await ids('?from=2026-01-02T00:00:00Z')).toBe(3)
  expect(await ids('?to=2026-01-02T00:00:00Z')).toBe(2)
  expect(
    await ids('?principal=ada&outcome=completed&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z'),
  ).toBe(1)
})

test.each([
  ['table', { 'hr.eu.people': [1, 10], 'sales.orders': [5, 40] }],
  ['contract', { 'orders 1': [4, 40] }],
  ['outcome', { completed: [4, 40], refused: [1, 0] }],
  ['day', { '2026-01-01': [2, 20], '2026-01-02': [1, 0], '2026-01-03': [2, 20] }],
])('totals by %s, each query counting for each of its tables and contracts', async (by, expected) => {
  const { items } = await get(`/totals?by=${by}`)
  expect(Object.fromEntries(items.map(({ key, queries, rows_out }) => [key, [queries, rows_out]]))).toEqual(
    expected,
  )
})

test('totals by principal come in pages, and add up what was scanned', async () => {
  const first = await get('/totals?by=principal&limit=1')
  expect(first.items).toEqual([
    { key: 'ada', queries: 3, rows_out: 20, bytes_out: 240, bytes_scanned: 2_000, run_ms: 9 },
  ])
  const second = await get(`/totals?by=principal&limit=1&page_token=${first.next_page_token}`)
  expect(second.items.map(({ key }) => key)).toEqual(['bob'])
})

test('without a role one sees one’s own records only', async () => {
  expect((await get('', ada)).items.map(({ principal }) => principal)).toEqual(['ada', 'ada', 'ada'])
  expect((await get('/totals?by=table', ada)).items).toMatchObject([{ key: 'sales.orders', queries: 3 }])
  expect((await get('?principal=bob', ada)).status).toBe(403)
})

test('without a role one is not told what was scanned below a filter or mask', async () => {
  const scanned = async (secret: string) =>
    (await get('?principal=ada', secret)).items.map(({ policies, bytes_scanned }) => [
      policies,
      bytes_scanned,
    ])
  const unknown = [[], undefined]
  expect(await scanned(steward)).toEqual([unknown, [[ownRegion], 1_000], [[], 1_000]])
  expect(await scanned(ada)).toEqual([unknown, [[ownRegion], undefined], [[], 1_000]])
  const [total] = (await get('/totals?by=principal', ada)).items
  expect(total).toMatchObject({ key: 'ada', queries: 3 })
  expect(total).not.toContainKey('bytes_scanned')
})

test('an administrator of another tenant sees that tenant’s only', async () => {
  expect((await get('', foreign)).items).toMatchObject([{ rows_out: 77 }])
  expect((await get('/totals?by=principal', foreign)).items).toMatchObject([
    { key: 'ada', queries: 1, rows_out: 77 },
  ])
})

test.each([
  ...['?limit=0', '?page_token=x', '?outcome=fine', '?from=yesterday', '/totals', '/totals?by=moon'],
  '?to=2026-01-01T00:00:00',
  // Times that the database does not have.
  ...['?from=0000-01-01T00:00:00Z', '?to=9999-12-31T23:59:59-01:00'],
])('refuses %s', async (query) => {
  expect((await get(query)).status).toBe(400)
})

test('a record is never changed or removed', async () => {
  const { tenant } = service.owner
  for (const text of ['delete from svc.query_usage', 'update svc.query_usage set rows_out = 0'])
    expect(
      await service.store.ownerTransaction(tenant, (tx) => tx.query(text)).catch((e) => e),
    ).toMatchObject({
      detail: '42501',
    })
})

async function exported(query: string, secret = steward) {
  const response = await call(service, 'GET', `/api/v1/usage/export?${query}`, { secret })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}
const lines = (text: string) => text.split('\n').filter((line) => line !== '')

test('the export streams the same records as the list, as JSON Lines or CSV', async () => {
  const { items } = await get('')
  const jsonl = await exported('')
  expect([jsonl.status, jsonl.type]).toEqual([200, 'application/x-ndjson'])
  expect(lines(jsonl.text).map((line) => JSON.parse(line))).toEqual([...items])
  const csv = await exported('format=csv&from=2026-01-02T00:00:00Z&to=2026-01-03T00:00:00Z')
  expect([csv.status, csv.type]).toEqual([200, 'text/csv; charset=utf-8; header=present'])
  const [head = '', row = '', ...more] = csv.text.split('\r\n')
  expect(head).toStartWith('query_id,started_at,principal,')
  expect(row).toContain(',2026-01-02T00:00:00.000Z,ada,session,pgwire,main,duckdb,')
  expect(more).toEqual([''])
})

test('list and export take a table and a column that was read', async () => {
  const people = 'namespace=hr%1Feu&table=people'
  expect((await get(`?${people}`)).items.map(({ principal }) => principal)).toEqual(['bob'])
  expect((await get(`?${people}&column=id`)).items.length).toBe(1)
  expect((await get(`?${people}&column=name`)).items).toEqual([])
  expect((await get('?namespace=eu%1Fhr&table=people')).items).toEqual([])
  expect(lines((await exported(`${people}&column=id`)).text).length).toBe(1)
  expect((await exported(`${people}&column=name&format=csv`)).text).toStartWith('query_id,')
  expect((await exported(`${people}&column=name`)).text).toBe('')
  expect((await exported('column=id')).status).toBe(400)
  expect((await exported('table=people')).status).toBe(400)
})

test('the export gives a principal its own records, and no other tenant’s', async () => {
  const own = lines((await exported('', ada)).text).map((line) => JSON.parse(line))
  expect([...new Set(own.map(({ principal }) => principal))]).toEqual(['ada'])
  expect((await exported('principal=bob', ada)).status).toBe(403)
  const filtered = own.find(({ outcome }) => outcome === 'refused')
  expect(filtered.bytes_scanned).toBeUndefined()
  const theirs = lines((await exported('', foreign)).text).map((line) => JSON.parse(line))
  expect(theirs.map(({ rows_out }) => rows_out)).toEqual([77])
})
