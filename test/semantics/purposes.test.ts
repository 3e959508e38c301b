/**
 * A table whose contract demands a purpose, read over REST, SQL, XMLA, MCP and GraphQL: without one of its purposes
 * nobody reads it, with one everybody reads what they read before, and the purpose is on record.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { PurposeDemand } from '../../src/core/purpose.ts'
import { saveContract } from '../../src/store/contract/rows.ts'
import { graphql } from '../support/graphql.ts'
import { call } from '../support/identity.ts'
import { connectMcp, type McpClient } from '../support/mcp.ts'
import { frames, WireClient } from '../support/wire-client.ts'
import { ask as askXmla, executeBody } from '../support/xmla.ts'
import { startXmlaLake, type XmlaLake } from '../support/xmla-lake.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['sales'], name: 'orders' }
const total = 'SELECT count(*) > 0 FROM sales.orders'

let one: XmlaLake
let agent: McpClient
let strange: McpClient
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  one = await startXmlaLake()
  stack.use(one.lake)
  agent = stack.use(await connectMcp('2026', one.lake.app.url, one.bob.secret))
  strange = stack.use(await connectMcp('2026', one.lake.app.url, one.stranger.secret))
})
afterAll(() => stack.disposeAsync())

let version = 1
async function demand(purposes?: PurposeDemand): Promise<void> {
  const { store, tenant } = one.lake
  version++
  await store.tenantTransaction(
    tenant,
    async (tx) =>
      void (await saveContract(tx, tenant, table, { id: 'orders', version, schema: {}, purposes })),
  )
}
beforeEach(() => demand(['Audit', 'Refunds']))

async function wire(...texts: readonly string[]): Promise<readonly string[]> {
  const { PGUSER: user, PGPASSWORD: password, PGDATABASE: database, PGPORT } = one.lake.restricted
  const client = await WireClient.logIn({ port: Number(PGPORT) }, { user, password, database })
  const all: string[] = []
  for (const text of texts) all.push(...(await client.ask(frames.query(text))))
  client.close()
  return all.filter((answer) => /^[DEC] /.test(answer))
}

/** What a surface answers for a purpose: `read`, or why not. */
type Ask = (purpose: string | undefined) => Promise<string>
const header = (purpose: string | undefined) => (purpose === undefined ? {} : { 'x-svc-purpose': purpose })

const surfaces: Readonly<Record<string, Ask>> = {
  async sql(purpose) {
    const set = purpose === undefined ? [] : [`SET covenant.purpose = '${purpose}'`]
    const answer = (await wire(...set, total)).at(-1) ?? ''
    return answer === 'C SELECT 1' ? 'read' : answer
  },
  async rest(purpose) {
    const body = { catalog: one.lake.catalog, metrics: ['revenue'] }
    const headers = header(purpose)
    const answer = await call(one.lake, 'POST', '/api/v1/metrics/query', {
      ...{ secret: one.bob.secret, headers, body },
    })
    return answer.status === 200 ? 'read' : await answer.text()
  },
  async xmla(purpose) {
    const text = 'SELECT {[Measures].[revenue]} ON COLUMNS FROM [sales.orders]'
    const answer = await askXmla({ ...one.bob, headers: header(purpose) }, executeBody(text))
    return answer.kind === 'fault' ? answer.message : 'read'
  },
  async 'xmla by a property'(purpose) {
    const text = 'SELECT {[Measures].[revenue]} ON COLUMNS FROM [sales.orders]'
    const named = purpose === undefined ? {} : { CovenantPurpose: purpose }
    const answer = await askXmla(one.bob, executeBody(text, {}, named))
    return answer.kind === 'fault' ? answer.message : 'read'
  },
  async mcp(purpose) {
    const { isError, text } = await agent.call('query_metric', { metrics: ['revenue'], purpose })
    return isError ? text : 'read'
  },
  async 'mcp by sql'(purpose) {
    const { isError, text } = await agent.call('query', { sql: total, purpose })
    return isError ? text : 'read'
  },
  async graphql(purpose) {
    const query = `query V($catalog: String!) { metricValues(catalog: $catalog, metrics: ["revenue"], first: 1) { rows } }`
    const given = { catalog: one.lake.catalog }
    const { errors } = await graphql(one.lake, one.bob.secret, query, given, {}, header(purpose))
    return errors.length === 0 ? 'read' : JSON.stringify(errors)
  },
}

describe.each(Object.entries(surfaces))('over %s', (name, ask) => {
  test('no purpose, and another one, are refused with the purposes that are allowed', async () => {
    for (const purpose of [undefined, 'marketing'])
      expect(await ask(purpose)).toContain(
        'sales.orders is read for one of these purposes only: Audit, Refunds',
      )
  })

  test('one of them reads, whatever its case', async () => {
    expect([await ask('Audit'), await ask('refunds')]).toEqual(['read', 'read'])
  })

  test('any purpose reads where the contract only demands one', async () => {
    await demand('any')
    expect(await ask('marketing')).toBe('read')
    expect(await ask(undefined)).toContain('sales.orders is read for a purpose only, and none is named')
  })

  test('none is needed where the contract demands none', async () => {
    await demand()
    expect(await ask(undefined)).toBe('read')
  })

  test('the usage record names the purpose', async () => {
    const purpose = `refunds`
    await ask(purpose)
    const answer = await call(one.lake, 'GET', '/api/v1/usage?limit=1', { secret: one.bob.secret })
    const { items } = (await answer.json()) as { items: readonly object[] }
    expect([name, items[0]]).toEqual([name, expect.objectContaining({ purpose, outcome: 'completed' })])
  })
})

test('each surface says how a purpose is named there', async () => {
  const told: Record<string, string> = {}
  for (const name of ['rest', 'graphql', 'xmla', 'mcp'])
    told[name] = (await surfaces[name]?.(undefined)) ?? ''
  expect(told).toEqual({
    rest: expect.stringContaining('Name the purpose in the header X-Svc-Purpose.'),
    graphql: expect.stringContaining('Name the purpose in the header X-Svc-Purpose.'),
    xmla: expect.stringMatching(/the property CovenantPurpose of the request.*Excel, cannot read/),
    mcp: expect.stringContaining('Name the purpose in the argument purpose.'),
  })
})

test('a stranger learns nothing of the table or its purposes', async () => {
  for (const purpose of [undefined, 'Audit']) {
    const { isError, text } = await strange.call('query', { sql: total, purpose })
    expect(isError).toBe(true)
    expect(text).not.toContain('Audit')
    expect(text).not.toContain('Refunds')
  }
})
