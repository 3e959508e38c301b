/**
 * A metric that converts currencies on every surface: with its warning where an answer has one, else refused. The currency
 * of an order is its region here, and the rate is made of the region's name: that of north and south is NULL.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { graphql } from '../support/graphql.ts'
import { ask } from '../support/identity.ts'
import { readAs } from '../support/lake.ts'
import { connectMcp } from '../support/mcp.ts'
import { declaringAs } from '../support/semantic-layer.ts'
import { ask as askXmla, executeBody } from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(120_000)

const table = { namespace: ['sales'], name: 'orders' }
const stack = new AsyncDisposableStack()
let one: XmlaLake

beforeAll(async () => {
  one = await startXmlaLake()
  stack.use(one.lake)
  const put = declaringAs(one.lake, one.steward)
  await put('/api/v1/semantics/tables/sales/regions', {
    key: ['name'],
    dimensions: [{ name: 'rate', expression: 'nullif(length(name), 5) * 2' }],
  })
  await put('/api/v1/semantics/tables/sales/orders', {
    ...{ key: ['id'], time_dimension: 'day' },
    dimensions: [{ name: 'region' }, { name: 'day', kind: 'time' }],
    relationships: [
      { name: 'area', to: { ...table, name: 'regions' }, columns: ['region'], to_columns: ['name'] },
    ],
  })
  const currency = { column: 'region', to: 'EUR', rate: 'area__rate' }
  await put('/api/v1/metrics/euros', { table, expression: 'sum(amount)', currency, label: 'Euros' })
  await put('/api/v1/metrics/orders', { table, expression: 'count(*)' })
})
afterAll(() => stack.disposeAsync())

type Who = 'ann' | 'bob' | 'stranger'
const secretOf = (who: Who) => one[who].secret ?? ''
interface Told {
  readonly rows: readonly (readonly unknown[])[]
  readonly warnings: readonly string[]
}

const surfaces: Readonly<Record<string, (who: Who) => Promise<Told | string>>> = {
  async rest(who) {
    const asked = { catalog: one.lake.catalog, metrics: ['euros'], dimensions: [{ name: 'region' }] }
    const { status, body } = await ask(one.lake, 'POST', '/api/v1/metrics/query', secretOf(who), asked)
    return status === 200 ? (body as unknown as Told) : JSON.stringify(body)
  },
  async graphql(who) {
    const query = `query V($catalog: String!) { metricValues(catalog: $catalog, metrics: ["euros"],
      dimensions: [{name: "region"}], first: 10) { rows warnings } }`
    const { data, errors } = await graphql(one.lake, secretOf(who), query, { catalog: one.lake.catalog })
    return errors.length > 0 ? JSON.stringify(errors) : data.metricValues
  },
  async mcp(who) {
    await using agent = await connectMcp('2026', one.lake.app.url, secretOf(who))
    const asked = { metrics: ['euros'], dimensions: [{ name: 'region' }] }
    const { isError, structured = {}, text } = await agent.call('query_metric', asked)
    if (isError) return text
    const { rows } = structured.result as Told
    return { rows, warnings: structured.warnings as Told['warnings'] }
  },
}
const sqlOf = async (who: 'ann' | 'bob', text: string) =>
  (await readAs(who === 'ann' ? one.lake.env : one.lake.restricted, text)).flatMap((line) =>
    line.startsWith('D ') ? [line.slice(2).split('|')] : [],
  )

describe.each(Object.keys(surfaces))('over %s', (name) => {
  const surface = surfaces[name]
  test.each(['ann', 'bob'] as const)(
    '%s gets the amounts, and what has no rate among the rows seen',
    async (who) => {
      const found = await surface?.(who)
      if (found === undefined || typeof found === 'string') throw new Error(found)
      const expected = await sqlOf(
        who,
        'SELECT region, sum(amount * (nullif(length(region), 5) * 2)) FROM sales.orders GROUP BY 1 ORDER BY 1',
      )
      const shown = found.rows.map((row) => row.map((cell) => (cell === null ? 'NULL' : String(cell))))
      expect(shown).toEqual(expected)
      const lost = await sqlOf(
        who,
        "SELECT count(*) || ' of ' || region FROM sales.orders WHERE length(region) = 5 GROUP BY region ORDER BY count(*) DESC, region",
      )
      // The filter of the table leaves bob the two regions that have a rate.
      expect(lost.length).toBe(who === 'ann' ? 2 : 0)
      expect([...found.warnings]).toEqual(
        lost.length > 0 ? [`Amounts without a rate are left out of euros: ${lost.flat().join(', ')}.`] : [],
      )
    },
  )

  test('a principal of another tenant gets nothing of it', async () => {
    const found = await surface?.('stranger')
    expect(typeof found).toBe('string')
    expect(found).not.toContain('rate')
  })
})

test('GraphQL says how its amounts are converted, to who may ask for it alone', async () => {
  const query =
    '{ metric(name: "euros") { unit currency { column to rate } } orders: metric(name: "orders") { currency { to } } }'
  expect((await graphql(one.lake, secretOf('bob'), query)).data).toEqual({
    metric: { unit: 'EUR', currency: { column: 'region', to: 'EUR', rate: 'area__rate' } },
    orders: { currency: null },
  })
  expect((await graphql(one.lake, secretOf('stranger'), query)).data.metric).toBeNull()
})

describe('where an answer has no warnings', () => {
  test('SQL refuses it, and answers the metrics beside it', async () => {
    const refused = await readAs(one.lake.env, 'SELECT MEASURE(euros) FROM sales.orders__metrics')
    expect(refused.join('\n')).toContain('left out here without a word')
    expect(await sqlOf('ann', 'SELECT MEASURE(orders) FROM sales.orders__metrics')).toEqual([['1000']])
  })

  test.each([
    [
      'MDX',
      'SELECT {[Measures].[euros]} ON COLUMNS FROM [sales.orders]',
      'SELECT {[Measures].[orders]} ON COLUMNS FROM [sales.orders]',
    ],
    ['DAX', 'EVALUATE ROW("x", [Euros])', 'EVALUATE ROW("x", [orders])'],
  ])('%s has no such measure, and answers those beside it', async (_, refused, answered) => {
    const answerTo = (text: string) => askXmla(one.ann, executeBody(text, {}, { Format: 'Tabular' }))
    expect(await answerTo(refused)).toMatchObject({ kind: 'fault' })
    expect(JSON.stringify(await answerTo(answered))).toContain('1000')
  })
})
