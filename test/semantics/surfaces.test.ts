/**
 * One metric asked over REST, SQL, XMLA, MCP and GraphQL: the same numbers for the same principal, and the same
 * refusals, because one compiler writes them all. Another tenant gets nothing.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../src/contract/delete-contract.ts'
import { putContract } from '../../src/contract/put-contract.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { actorOf } from '../support/actor.ts'
import { graphql } from '../support/graphql.ts'
import { ask } from '../support/identity.ts'
import { readAs } from '../support/lake.ts'
import { connectMcp, type McpClient } from '../support/mcp.ts'
import { declaringAs } from '../support/semantic-layer.ts'
import { ask as askXmla, executeBody, rowsOf, type XmlaClientOptions } from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(120_000)

const table = { namespace: ['sales'], name: 'orders' }
const model = {
  key: ['id'],
  time_dimension: 'day',
  dimensions: [
    { name: 'region', term: 'area' },
    { name: 'email' },
    { name: 'day', kind: 'time' },
    { name: 'note' },
    { name: 'initial', expression: 'left(region, 1)', term: 'area' },
  ],
}

type Who = 'ann' | 'bob' | 'stranger'
type Rows = ReadonlyMap<string, string>

let one: XmlaLake
const agents = new Map<Who, McpClient>()
const stack = new AsyncDisposableStack()

const secretOf = (who: Who) => one[who].secret ?? ''
const agentOf = (who: Who): McpClient => {
  const found = agents.get(who)
  if (found === undefined) throw new Error(who)
  return found
}
const on = () => ({ store: one.lake.store, tenant: one.lake.tenant, actor: actorOf('stella'), checkPolicies })

beforeAll(async () => {
  one = await startXmlaLake()
  stack.use(one.lake)
  const put = declaringAs(one.lake, one.steward)
  await put('/api/v1/glossary/area', { definition: 'Where it was sold' })
  await put('/api/v1/semantics/tables/sales/orders', model)
  await put('/api/v1/metrics/orders', { table, expression: 'count(*)' })
  await put('/api/v1/metrics/basket', { kind: 'ratio', numerator: 'revenue', denominator: 'orders' })
  await put('/api/v1/metrics/stock', {
    ...{ table, expression: 'sum(qty)', semi_additive: { dimension: 'day', take: 'last' } },
  })
  for (const who of ['ann', 'bob', 'stranger'] as const)
    agents.set(who, stack.use(await connectMcp('2026', one.lake.app.url, secretOf(who))))
}, 120_000)
afterAll(() => stack.disposeAsync())

/** A metric by a dimension, or why not. */
type Ask = (who: Who, metric: string, dimension: string) => Promise<Rows | string>

/** NULL is empty text, as XMLA leaves it out. */
const shown = (value: unknown) => {
  if (value === null || value === undefined || value === '') return ''
  return String(Number(Number(value).toPrecision(11)))
}
const rowsFrom = (rows: readonly (readonly unknown[])[]): Rows =>
  new Map(rows.map(([key, value]) => [key === null ? '' : String(key), shown(value)]))

const surfaces: Readonly<Record<string, Ask>> = {
  async rest(who, metric, dimension) {
    const asked = { catalog: one.lake.catalog, metrics: [metric], dimensions: [{ name: dimension }] }
    const { status, body } = await ask(one.lake, 'POST', '/api/v1/metrics/query', secretOf(who), asked)
    if (status !== 200) return JSON.stringify(body)
    return rowsFrom(body.rows as readonly (readonly unknown[])[])
  },
  async sql(who, metric, dimension) {
    const { lake } = one
    const text = `SELECT ${dimension}, MEASURE(${metric}) FROM sales.orders__metrics GROUP BY 1`
    const env =
      who === 'stranger'
        ? { ...lake.env, PGPASSWORD: secretOf(who) }
        : who === 'ann'
          ? lake.env
          : lake.restricted
    const lines = await readAs(env, text)
    // A login that is refused has no answer at all.
    if (!lines.some((line) => line.startsWith('C '))) return `refused: ${lines.join()}`
    return rowsFrom(lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split('|')] : [])))
  },
  async xmla(who, metric, dimension) {
    const text = `SELECT {[Measures].[${metric}]} ON COLUMNS, [orders].[${dimension}].[${dimension}].Members ON ROWS FROM [sales.orders]`
    const options: XmlaClientOptions = one[who]
    const answer = await askXmla(options, executeBody(text, {}, { Format: 'Tabular' }))
    if (answer.kind === 'fault') return answer.message
    const rows = await rowsOf(Promise.resolve(answer))
    return rowsFrom(
      rows.map((row) => [
        row[`[orders].[${dimension}].[${dimension}].[MEMBER_CAPTION]`],
        row[`[Measures].[${metric}]`],
      ]),
    )
  },
  async mcp(who, metric, dimension) {
    const asked = { metrics: [metric], dimensions: [{ name: dimension }], limit: 1_000 }
    const { isError, structured = {}, text } = await agentOf(who).call('query_metric', asked)
    if (isError) return text
    const { rows } = structured.result as { readonly rows: readonly (readonly unknown[])[] }
    return rowsFrom(rows)
  },
  async graphql(who, metric, dimension) {
    const query = `query V($catalog: String!, $metrics: [String!]!, $dimensions: [MetricDimensionInput!]) {
      metricValues(catalog: $catalog, metrics: $metrics, dimensions: $dimensions, first: 1000) { rows truncated } }`
    const given = { catalog: one.lake.catalog, metrics: [metric], dimensions: [{ name: dimension }] }
    const { data, errors } = await graphql(one.lake, secretOf(who), query, given)
    if (errors.length > 0) return JSON.stringify(errors)
    return rowsFrom(data.metricValues.rows)
  },
}
const names = Object.keys(surfaces)

/** What each surface answers. */
async function everywhere(who: Who, metric: string, dimension: string) {
  const found: Record<string, readonly string[] | string> = {}
  for (const [name, surface] of Object.entries(surfaces)) {
    const answer = await surface(who, metric, dimension)
    found[name] =
      typeof answer === 'string' ? answer : [...answer].map((entry) => entry.join(' = ')).toSorted()
  }
  return found
}

/** The rows that SQL by hand gives over the table. */
async function byHand(who: Who, sql: string): Promise<readonly string[]> {
  const lines = await readAs(who === 'ann' ? one.lake.env : one.lake.restricted, sql)
  const rows = lines.flatMap((line) => (line.startsWith('D ') ? [line.slice(2).split('|')] : []))
  return [...rowsFrom(rows)].map((entry) => entry.join(' = ')).toSorted()
}

const asked = [
  ['revenue', 'region', 'SELECT region, sum(amount) FROM sales.orders GROUP BY 1'],
  ['basket', 'region', 'SELECT region, sum(amount)::float8 / count(*) FROM sales.orders GROUP BY 1'],
  ['buyers', 'initial', 'SELECT left(region, 1), count(DISTINCT email) FROM sales.orders GROUP BY 1'],
  // Masked for one of the two: what the members are is what that reader sees.
  ['orders', 'email', 'SELECT email, count(*) FROM sales.orders GROUP BY 1'],
  [
    'stock',
    'region',
    `SELECT region, sum(qty) FROM (SELECT region, qty, day = max(day) OVER (PARTITION BY region) AS is_last
       FROM sales.orders) o WHERE is_last GROUP BY 1`,
  ],
] as const

describe.each(['ann', 'bob'] as const)('every surface gives %s the same numbers', (who) => {
  // An agent is not shown an address for each of all orders.
  const some = asked.filter(([, dimension]) => who === 'bob' || dimension !== 'email')
  test.each(some)('of %s by %s, which are those of SQL by hand', async (metric, dimension, sql) => {
    const expected = await byHand(who, sql)
    expect(expected.length).toBeGreaterThan(0)
    expect(await everywhere(who, metric, dimension)).toEqual(
      Object.fromEntries(names.map((name) => [name, expected])),
    )
  })
})

/** That every surface refuses. */
async function refusals(who: Who, metric: string, dimension: string): Promise<readonly string[]> {
  const found = await everywhere(who, metric, dimension)
  expect(names.filter((name) => typeof found[name] !== 'string')).toEqual([])
  return names.map((name) => String(found[name]))
}

describe('every surface refuses', () => {
  test('a metric and a dimension that there are not', async () => {
    await refusals('ann', 'nothing', 'region')
    await refusals('ann', 'revenue', 'nothing')
  })

  test('another tenant, and tells it nothing', async () => {
    const found = await refusals('stranger', 'revenue', 'region')
    for (const text of found) expect(text).not.toContain('east')
  })

  test('what the compiler refuses: a stock to a reader to whom a mask makes its days one', async () => {
    const before = await everywhere('ann', 'stock', 'region')
    await putMask(
      on(),
      { table, column: 'day' },
      { id: 'months', action: 'truncate-to-month', exemptRoles: ['officer'] },
    )
    for (const text of await refusals('bob', 'stock', 'region'))
      expect(text).toContain('over which the metric must not be added up')
    expect(await everywhere('ann', 'stock', 'region')).toEqual(before)
    // What adds up is answered as before.
    const orders = await everywhere('bob', 'orders', 'region')
    expect(new Set(Object.values(orders).map(String)).size).toBe(1)
    const asked = { catalog: one.lake.catalog, metrics: ['stock'] }
    const refused = await ask(one.lake, 'POST', '/api/v1/metrics/query', secretOf('bob'), asked)
    expect([refused.status, refused.body]).toEqual([
      422,
      { error: expect.objectContaining({ sqlstate: '0A000', reason: 'semi_additive' }) },
    ])
  })

  test('a metric of a table that may no longer be read, and answers once it may again', async () => {
    const before = await everywhere('ann', 'revenue', 'region')
    expect(await deleteContract(on(), table)).toBe(true)
    for (const text of await refusals('ann', 'revenue', 'region')) expect(text).not.toContain('east')
    await putContract(on(), table, { id: 'orders', version: 1 })
    expect(await everywhere('ann', 'revenue', 'region')).toEqual(before)
  })
})

test('an agent reads the glossary term of a column where the dimension is the column', async () => {
  const described = async (args: object) => {
    const { structured = {} } = await agentOf('bob').call('describe_columns', {
      table: 'sales.orders',
      ...args,
    })
    const { items } = structured.columns as { items: readonly { name: string; term?: string }[] }
    return items.map(({ name, term }) => [name, term])
  }
  const all = await described({})
  expect(all).toContainEqual(['region', 'area'])
  expect(all.filter(([, term]) => term !== undefined)).toHaveLength(1)
  expect(await described({ match: 'area' })).toEqual([['region', 'area']])
})
