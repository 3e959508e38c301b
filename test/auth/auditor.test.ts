/** A session with the role `auditor` and no other reads records of what happened, and no data on any surface. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { createServiceSession } from '../../src/store/session/sessions.ts'
import { graphql } from '../support/graphql.ts'
import { ask as askRest } from '../support/identity.ts'
import { readAs } from '../support/lake.ts'
import { connectMcp } from '../support/mcp.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { ask, executeBody } from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(120_000)

const refusal = 'The role `auditor` reads records and no data. Reading data needs another role beside it.'

let world: XmlaLake
let auditor: string
/** An auditor who holds another role. */
let officer: string
/** An auditor of another tenant. */
let foreigner: string
beforeAll(async () => {
  world = await startXmlaLake()
  const { store, tenant } = world.lake
  const open = async (of: typeof tenant, sub: string, roles: readonly string[]) =>
    (await createServiceSession(store, of, { name: sub, principal: { sub, roles }, scopes: sessionScopes }))
      .secret
  auditor = await open(tenant, 'audrey', ['auditor'])
  officer = await open(tenant, 'oscar', ['auditor', 'officer'])
  const { id: foreign } = await makeTenant(store, { name: 'other' })
  foreigner = await open(foreign, 'frank', ['auditor'])
}, 300_000)
afterAll(() => world?.lake[Symbol.asyncDispose]())

const rest = async (method: string, path: string, secret: string, body?: object) => {
  const { status, body: answer } = await askRest(world.lake, method, path, secret, body)
  return { status, text: JSON.stringify(answer) }
}

describe('an auditor reads no data', () => {
  test('over the PostgreSQL wire', async () => {
    const env = { ...world.lake.env, PGUSER: 'audrey', PGPASSWORD: auditor }
    for (const statement of ['select count(*) from sales.orders', 'select 1']) {
      const answer = (await readAs(env, statement)).join()
      expect(answer).toContain('42501')
      expect(answer).toContain(refusal)
    }
  })

  test('by a tool of MCP', async () => {
    await using client = await connectMcp('2026', world.lake.app.url, auditor)
    const query = await client.call('query', { sql: 'select count(*) from sales.orders' })
    const metric = await client.call('query_metric', { metrics: ['revenue'] })
    for (const { isError, text } of [query, metric]) {
      expect(isError).toBe(true)
      expect(text).toContain('reads records and no data')
    }
  })

  test('by a metric over REST, nor over GraphQL', async () => {
    const asked = await rest('POST', '/api/v1/metrics/query', auditor, {
      catalog: 'lake',
      metrics: ['revenue'],
    })
    expect(asked.status).toBe(403)
    expect(asked.text).toContain(refusal)
    const { data, text } = await graphql(
      world.lake,
      auditor,
      '{ metricValues(catalog: "lake", metrics: ["revenue"], first: 1) { rows } }',
    )
    expect(data).toEqual({ metricValues: null })
    expect(text).toContain(refusal)
  })

  test('over XMLA', async () => {
    const who = { ...world.ann, user: 'audrey', secret: auditor }
    const answer = await ask(who, executeBody('SELECT {[Measures].[revenue]} ON COLUMNS FROM [sales.orders]'))
    expect(answer).toMatchObject({
      kind: 'fault',
      message: expect.stringContaining('reads records and no data'),
    })
  })

  test('by loading a table, nor writes to one', async () => {
    const table = '/v1/iceberg/lake/v1/namespaces/sales/tables/orders'
    for (const method of ['GET', 'POST']) {
      const { status, text } = await rest(
        method,
        table,
        auditor,
        method === 'POST' ? { updates: [] } : undefined,
      )
      expect(status).toBe(403)
      expect(text).toContain(refusal)
    }
    const literal = await rest('POST', '/v1/iceberg/lake/namespaces/sales/tables/orders', auditor, {
      updates: [],
    })
    expect(literal).toMatchObject({ status: 403, text: expect.stringContaining(refusal) })
    const plan = await rest('GET', '/api/v1/tables/sales/orders/transform-plan', auditor)
    expect(plan).toMatchObject({ status: 403, text: expect.stringContaining(refusal) })
  })

  test('unless another role allows it', async () => {
    const env = { ...world.lake.env, PGUSER: 'oscar', PGPASSWORD: officer }
    expect(await readAs(env, 'select count(*) from sales.orders')).toContain('D 1000')
  })
})

describe('an auditor reads records', () => {
  const records = [
    'decisions',
    'administration',
    'contracts/changes',
    'usage',
    'usage/totals?by=table',
    'refusals',
  ]
  test.each(records)('%s', async (path) => {
    await readAs(world.lake.env, 'select count(*) from sales.orders')
    const { status, text } = await rest('GET', `/api/v1/${path}`, auditor)
    expect(status).toBe(200)
    if (path !== 'refusals') expect(text).toContain(path === 'decisions' ? 'sales' : 'orders')
  })

  test.each(records)('%s of no other tenant', async (path) => {
    const { text } = await rest('GET', `/api/v1/${path}`, foreigner)
    expect(text).not.toContain('orders')
  })

  test('and changes nothing', async () => {
    const reason = { table: { namespace: ['sales'], name: 'orders' }, reason: 'r' }
    expect((await rest('POST', '/api/v1/holds', auditor, reason)).status).toBe(403)
    expect((await rest('DELETE', '/api/v1/contracts/tables/sales/orders', auditor)).status).toBe(403)
  })
})
