/**
 * What the semantic layer is tied to: terms with their synonyms, owners and links, the columns of a metric in the graph,
 * and the pin and the usage record of a request.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { tableInFolder } from '../../demo/lake/iceberg-writer.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { parseAgtype } from '../../src/store/graph/graph.ts'
import { ask } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { openSteward } from '../support/semantic-layer.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(120_000)

const table = { namespace: ['shop'], name: 'sold' }
const fields = [
  { id: 1, name: 'id', type: 'long' },
  { id: 2, name: 'region', type: 'string' },
  { id: 3, name: 'amount', type: 'long' },
  { id: 4, name: 'paid', type: 'long' },
] as const
const row = (id: number, amount: number) => ({ id, region: id % 2 === 0 ? 'east' : 'west', amount, paid: 1 })

let lake: Lake
let foreign: TenantId
let steward: string
let stranger: string
let earlier = 0n
let later = 0n

beforeAll(async () => {
  const write = async (folder: string) => {
    const writer = tableInFolder(folder, table.name, { fields })
    ;({ snapshotId: earlier } = await writer.append([{ rows: [row(1, 10), row(2, 20)] }]))
    const { snapshotId, metadataLocation } = await writer.append([{ rows: [row(3, 300), row(4, 400)] }])
    later = snapshotId
    return metadataLocation
  }
  lake = await startLake({
    tables: [],
    written: [{ ref: table, write }],
    env: { SVC_LICENSE: licenseForAll() },
  })
  foreign = (await makeTenant(lake.store, { name: 'foreign' })).id
  steward = await openSteward(lake)
  stranger = await openSteward(lake, foreign, 'stan')
})
afterAll(() => lake[Symbol.asyncDispose]())

async function made(method: string, path: string, body: object, secret = steward) {
  const { status, body: answer } = await ask(lake, method, path, secret, body)
  if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer
}
const messageOf = (body: object) => (Reflect.get(body, 'error') as { message?: string } | undefined)?.message
const got = async (path: string, secret = steward) => await ask(lake, 'GET', path, secret)

describe('a glossary term', () => {
  const given = {
    definition: 'What customers paid',
    synonyms: ['turnover', 'sales'],
    owner: 'finance',
    broader: 'income',
    links: ['https://wiki.example/revenue'],
  }

  test('has one definition with synonyms, an owner, a wider term and links, in versions', async () => {
    expect((await ask(lake, 'PUT', '/api/v1/glossary/revenue', steward, given)).status).toBe(422)
    await made('PUT', '/api/v1/glossary/income', { definition: 'What comes in' })
    await made('PUT', '/api/v1/glossary/revenue', { ...given, definition: 'What was billed' })
    await made('PUT', '/api/v1/glossary/revenue', given)
    expect((await got('/api/v1/glossary/revenue')).body).toEqual({ name: 'revenue', version: 2, ...given })
    const { items } = (await got('/api/v1/glossary')).body as unknown as {
      items: readonly { name: string }[]
    }
    expect(items.map(({ name }) => name)).toEqual(['income', 'revenue'])
  })

  test('is of its tenant', async () => {
    expect((await got('/api/v1/glossary/revenue', stranger)).status).toBe(404)
    await made('PUT', '/api/v1/glossary/revenue', { definition: 'Theirs', synonyms: ['turnover'] }, stranger)
    expect((await got('/api/v1/glossary/revenue')).body).toMatchObject({ definition: given.definition })
  })

  const put = async (name: string, more: object = {}) => {
    const answer = await ask(lake, 'PUT', `/api/v1/glossary/${name}`, steward, { definition: name, ...more })
    return [answer.status, messageOf(answer.body)]
  }

  test('has no wider term that leads back to it, and the refusal names the circle', async () => {
    expect(await put('income', { broader: 'income' })).toEqual([
      422,
      'The wider terms lead in a circle: income → income.',
    ])
    await put('net_revenue', { broader: 'revenue' })
    expect(await put('income', { broader: 'net_revenue' })).toEqual([
      422,
      'The wider terms lead in a circle: income → net_revenue → revenue → income.',
    ])
    expect((await put('net_revenue', { broader: 'income' }))[0]).toBe(200)
  })

  test('has no word of another term, in any case of its letters, and none twice', async () => {
    const taken = (word: string, term: string) => [
      409,
      `"${word}" is a word of the term ${term} already. A word has one meaning.`,
    ]
    expect(await put('income', { synonyms: ['Turnover'] })).toEqual(taken('turnover', 'revenue'))
    expect(await put('income', { synonyms: [' revenue'] })).toEqual(taken('revenue', 'revenue'))
    expect(await put('sales')).toEqual(taken('sales', 'revenue'))
    expect(await put('income', { synonyms: ['gains', 'Gains'] })).toEqual([
      422,
      'The term income has the word "Gains" twice.',
    ])
    expect((await put('income', { synonyms: ['gains'] }))[0]).toBe(200)
  })

  test('is removed where nothing names it, and may be defined again', async () => {
    const remove = async (term: string, secret = steward) => {
      const { status, body } = await ask(lake, 'DELETE', `/api/v1/glossary/${term}`, secret)
      return [status, messageOf(body)]
    }
    expect(await remove('income')).toEqual([
      409,
      'The term income is named by the term net_revenue, the term revenue. Change those first.',
    ])
    expect((await remove('net_revenue', stranger))[0]).toBe(404)
    expect((await remove('net_revenue'))[0]).toBe(204)
    expect((await remove('net_revenue'))[0]).toBe(404)
    expect((await got('/api/v1/glossary/net_revenue')).status).toBe(404)
    const { items } = (await got('/api/v1/glossary')).body as unknown as { items: readonly object[] }
    expect(items).toMatchObject([{ name: 'income' }, { name: 'revenue' }])
    expect(await put('income', { broader: 'net_revenue' })).toEqual([
      422,
      'The glossary has no term `net_revenue`.',
    ])
    await put('net_revenue')
    expect((await got('/api/v1/glossary/net_revenue')).body).toMatchObject({ version: 4 })
    expect((await remove('net_revenue'))[0]).toBe(204)
  })
})

/** Ends of the edges of a metric in the graph, by the properties of the nodes that they lead to. */
async function edges(label: 'MEANS' | 'COMPUTED_OVER', to: 'GlossaryTerm' | 'Column', tenant = lake.tenant) {
  const rows = await lake.store.tenantQuery<{ from: string; to: string }>(
    tenant,
    `select m.properties as from, t.properties as to from "${label}" e join "Metric" m on m.id = e.start_id
       join "${to}" t on t.id = e.end_id`,
  )
  return rows.map((edge) => ({
    metric: (parseAgtype(edge.from) as { name?: string }).name,
    to: parseAgtype(edge.to) as { readonly name?: string; readonly field_id?: unknown },
  }))
}
const columnsOf = async (metric: string) =>
  (await edges('COMPUTED_OVER', 'Column'))
    .filter((edge) => edge.metric === metric)
    .map(({ to }) => Number(to.field_id))
    .toSorted()

describe('a metric in the graph', () => {
  const path = '/api/v1/metrics/revenue'

  test('leads to its term, and to the very columns that it and its filter read', async () => {
    await made('PUT', '/api/v1/semantics/tables/shop/sold', { key: ['id'], dimensions: [{ name: 'region' }] })
    await made('PUT', path, { table, expression: 'sum(amount)', filter: 'paid = 1', term: 'revenue' })
    expect((await edges('MEANS', 'GlossaryTerm')).map(({ metric, to }) => [metric, to.name])).toEqual([
      ['revenue', 'revenue'],
    ])
    expect(await columnsOf('revenue')).toEqual([3, 4])
    expect(await edges('COMPUTED_OVER', 'Column', foreign)).toEqual([])
    expect(await edges('MEANS', 'GlossaryTerm', foreign)).toEqual([])
  })

  test('leads to the columns of the version in force, which a draft is not', async () => {
    await made('PUT', path, { table, expression: 'count(id)', term: 'revenue', state: 'draft' })
    expect(await columnsOf('revenue')).toEqual([3, 4])
    await made('PUT', path, { table, expression: 'sum(amount)', term: 'revenue' })
    expect(await columnsOf('revenue')).toEqual([3])
  })
})

test('a term stays while a metric, also a draft, or a dimension names it, and the refusal names them', async () => {
  await made('PUT', '/api/v1/glossary/place', { definition: 'Where' })
  const model = '/api/v1/semantics/tables/shop/sold'
  await made('PUT', model, { key: ['id'], dimensions: [{ name: 'region', term: 'place' }] })
  const draft = { table, expression: 'count(id)', term: 'place', state: 'draft' }
  await made('PUT', '/api/v1/metrics/places', draft)
  const refused = await ask(lake, 'DELETE', '/api/v1/glossary/place', steward)
  expect([refused.status, messageOf(refused.body)]).toEqual([
    409,
    'The term place is named by the dimension region of shop.sold, the metric places. Change those first.',
  ])
  await made('POST', '/api/v1/metrics/places/versions/1/move', { to: 'retired' })
  await made('PUT', model, { key: ['id'], dimensions: [{ name: 'region' }] })
  expect((await ask(lake, 'DELETE', '/api/v1/glossary/place', steward)).status).toBe(204)
  const again = await ask(lake, 'PUT', '/api/v1/metrics/places', steward, draft)
  expect([again.status, messageOf(again.body)]).toEqual([422, 'The glossary has no term `place`.'])
})

describe('a request for metrics', () => {
  const query = async (body: object) =>
    await ask(lake, 'POST', '/api/v1/metrics/query', lake.restricted.PGPASSWORD, {
      ...{ catalog: lake.catalog, metrics: ['revenue'] },
      ...body,
    })

  test('reads at the pin of the table, and says so', async () => {
    expect((await query({})).body).toMatchObject({
      rows: [['730']],
      as_of: [{ table, snapshot_id: String(later), pinned: false }],
    })
    const pin = { catalog: lake.catalog, snapshot_id: String(earlier) }
    await made('POST', '/api/v1/contracts/tables/shop/sold/pin', pin)
    expect((await query({})).body).toMatchObject({
      rows: [['30']],
      as_of: [{ table, snapshot_id: String(earlier), pinned: true }],
    })
    await made('POST', '/api/v1/contracts/tables/shop/sold/unpin', {})
    expect((await query({})).body).toMatchObject({ rows: [['730']] })
  })

  test('is ordered and limited as it says', async () => {
    const dimensions = [{ name: 'region' }]
    const order = (name: string, descending: boolean) => [{ name, descending }]
    const most = await query({ dimensions, order_by: order('revenue', true), limit: 1 })
    expect(most.body).toMatchObject({ rows: [['east', '420']], truncated: true })
    const least = await query({ dimensions, order_by: order('revenue', false) })
    expect(least.body).toMatchObject({
      rows: [
        ['west', '310'],
        ['east', '420'],
      ],
    })
  })

  test('leaves a usage record of its reader, surface, table and contract', async () => {
    const { query_id: queryId } = (await query({})).body
    const { items } = (await got('/api/v1/usage?limit=20')).body as unknown as {
      items: readonly { readonly query_id: string }[]
    }
    expect(items.find((one) => one.query_id === queryId)).toMatchObject({
      ...{ principal: 'bob', surface: 'rest', outcome: 'completed', rows_out: 1 },
      reads: [{ table, columns: ['amount'], snapshot_id: String(later) }],
      contracts: [{ id: 'shop', version: 1 }],
    })
  })
})
