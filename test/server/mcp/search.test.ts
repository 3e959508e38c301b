/** What a model finds by words: the best first, by stems and synonyms, among what its caller may see alone. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { deleteContract } from '../../../src/contract/delete-contract.ts'
import { checkPolicies } from '../../../src/query/compile/protect/protect.ts'
import { createServiceSession } from '../../../src/store/session/sessions.ts'
import { actorOf } from '../../support/actor.ts'
import { ask } from '../../support/identity.ts'
import { type Lake, startLake } from '../../support/lake.ts'
import type { LakeTable } from '../../support/lake-tables.ts'
import { licenseForAll } from '../../support/license.ts'
import { connectMcp, type McpClient } from '../../support/mcp.ts'
import { makeTenant } from '../../support/spare-tenants.ts'

setDefaultTimeout(300_000)

const tableOf = (name: string, description: string, note = ''): LakeTable => ({
  ...{ name, rowCount: 3 },
  columns: [
    ['id', 'bigint', 'i'],
    ['orderDate', 'date', "DATE '2026-01-01' + CAST(i AS INTEGER)"],
  ],
  schema: { description, properties: [{ name: 'id', description: note }] },
})

let lake: Lake
let bob: McpClient
let foreign: McpClient
beforeAll(async () => {
  lake = await startLake({
    env: { SVC_LICENSE: licenseForAll() },
    tables: [
      tableOf('customer_orders', 'What customers ordered, one order a row'),
      tableOf('visits', 'Visits of the shop', 'the number of the customer'),
      tableOf('wages', 'What we pay our people'),
      tableOf('secret_orders', 'Orders that nobody may see'),
    ],
  })
  const { store, tenant } = lake
  const secretOf = async (
    of: Lake['tenant'],
    scopes: readonly ('read' | 'admin')[],
    roles: readonly string[],
  ) =>
    (await createServiceSession(store, of, { name: 'x', principal: { sub: 'service:x', roles }, scopes }))
      .secret
  const steward = await secretOf(tenant, ['read', 'admin'], ['steward'])
  const put = async (path: string, body: object) => {
    const { status, body: answer } = await ask(lake, 'PUT', path, steward, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
  }
  await put('/api/v1/glossary/remuneration', { definition: 'Pay', synonyms: ['wages', 'salary'] })
  for (const name of ['customer_orders', 'visits'])
    await put(`/api/v1/semantics/tables/sales/${name}`, {
      key: ['id'],
      dimensions: [{ name: 'id' }, { name: 'ordered_on', expression: '"orderDate"', kind: 'time' }],
      time_dimension: 'ordered_on',
    })
  const over = (name: string) => ({ table: { namespace: ['sales'], name } })
  await put('/api/v1/metrics/orders', {
    ...over('customer_orders'),
    ...{ expression: 'count(*)', description: 'How many orders there are' },
  })
  await put('/api/v1/metrics/visits', { ...over('visits'), expression: 'count(*)', unit: 'visits' })
  await deleteContract(
    { store, tenant, actor: actorOf('stella'), checkPolicies },
    { namespace: ['sales'], name: 'secret_orders' },
  )
  bob = await connectMcp('2026', lake.app.url, lake.restricted.PGPASSWORD)
  const other = (await makeTenant(store, { name: 'foreign' })).id
  foreign = await connectMcp('2026', lake.app.url, await secretOf(other, ['read'], []))
})
afterAll(async () => {
  await bob?.[Symbol.asyncDispose]()
  await foreign?.[Symbol.asyncDispose]()
  await lake?.[Symbol.asyncDispose]()
})

async function tables(query: string, client = bob): Promise<readonly string[]> {
  const { structured } = await client.call('find_datasets', { query })
  return ((structured?.datasets ?? []) as { table: string }[]).map(({ table }) => table.replace('sales.', ''))
}

describe('a search for tables', () => {
  test.each([
    ['orders', ['customer_orders', 'visits', 'wages']],
    ['ordering customers', ['customer_orders', 'visits', 'wages']],
    ['customer', ['customer_orders', 'visits']],
    ['salaries', ['wages']],
    ['remuneration', ['wages']],
    ['paying', ['wages']],
    ['isit', ['visits']],
    ['shop nothingelse', ['visits']],
  ])('by `%s` finds the best first', async (query, found) => {
    expect(await tables(query)).toEqual(found)
  })

  test('says where words were found', async () => {
    const { structured } = await bob.call('find_datasets', { query: 'customers' })
    expect(structured?.datasets).toMatchObject([
      { matched: ['name', 'contract', 'description'] },
      { matched: ['column description'] },
    ])
  })

  test('goes on by its cursor, in the same order, and ends', async () => {
    const found: string[] = []
    let cursor: unknown
    do {
      const given = { query: 'orders', limit: 1, ...(cursor !== undefined && { cursor }) }
      const { structured } = await bob.call('find_datasets', given)
      found.push(...((structured?.datasets ?? []) as { table: string }[]).map(({ table }) => table))
      cursor = structured?.next_cursor
    } while (cursor !== undefined)
    expect(found).toEqual(['sales.customer_orders', 'sales.visits', 'sales.wages'])
  })

  test('that finds nothing says what to do, alike for what there is not and what may not be seen', async () => {
    for (const query of ['secret', 'nosuchword', "'); drop table x; --"]) {
      const { structured } = await bob.call('find_datasets', { query })
      expect(structured).toMatchObject({ datasets: [], hint: expect.stringContaining('Try other words') })
    }
  })

  test('of another tenant finds nothing of this one, and has none of its synonyms', async () => {
    expect(await tables('orders', foreign)).toEqual([])
    expect(await tables('salary', foreign)).toEqual([])
  })
})

describe('metrics', () => {
  test('are listed by their names and meanings alone', async () => {
    const { structured } = await bob.call('list_metrics')
    expect(structured?.metrics).toEqual([
      { untrusted: true, name: 'orders', description: 'How many orders there are' },
      { untrusted: true, name: 'visits', unit: 'visits' },
    ])
  })

  test('are told whole by their names', async () => {
    const { structured } = await bob.call('list_metrics', { names: ['visits'] })
    expect(structured?.metrics).toMatchObject([
      {
        name: 'visits',
        tables: ['sales.visits'],
        dimensions: expect.arrayContaining([{ name: 'id', kind: expect.any(String) }]),
      },
    ])
  })

  test('are found by stems, the best first', async () => {
    const { structured } = await bob.call('list_metrics', { query: 'visiting order' })
    expect(((structured?.metrics ?? []) as { name: string }[]).map(({ name }) => name).sort()).toEqual([
      'orders',
      'visits',
    ])
    const { structured: ordered } = await bob.call('list_metrics', { query: 'many ordered' })
    expect(ordered?.metrics).toMatchObject([{ name: 'orders' }, { name: 'visits' }])
  })

  test('that are not found are answered with a hint', async () => {
    expect((await bob.call('list_metrics', { query: 'nosuchword' })).structured).toMatchObject({
      metrics: [],
      hint: expect.stringContaining('find_datasets'),
    })
  })

  test.each([
    ['2026-01-03', '2026-01-04'],
    ['2026-01-03T00:00:00Z', '2026-01-03T23:59:59Z'],
  ])('take the dates %s and %s', async (from, to) => {
    const { structured } = await bob.call('query_metric', { metrics: ['orders'], from, to })
    expect(structured).toMatchObject({ result: { rows: [['1']] } })
  })

  test('refuse a date that is none', async () => {
    const { text } = await bob.call('query_metric', { metrics: ['orders'], from: '2026-02-30' })
    expect(JSON.parse(text).error).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('a date'),
    })
  })
})

test.each([
  ['query_metric', { metrics: ['nosuch'] }, 'list_metrics'],
  ['list_metrics', { names: ['nosuch'] }, 'without `names`'],
  ['lineage', { of: 'sales.nosuch' }, 'find_datasets'],
  ['why_denied', { query_id: '00000000-0000-4000-8000-000000000000' }, 'the query of yours'],
  ['explain_contract', { table: 'sales.nosuch' }, 'find_datasets'],
])('%s says by its own hint what to do', async (tool, args, hint) => {
  const { text } = await bob.call(tool, args)
  expect(JSON.parse(text).error.hint ?? '').toContain(hint)
})
