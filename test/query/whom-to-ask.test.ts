/** A refusal, a notice and the page of a table name whom to ask and how, to those who may see the table. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { commitColumns } from '../support/governed.ts'
import { graphql } from '../support/graphql.ts'
import { ask, call, session } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { connectMcp } from '../support/mcp.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { frames, reportFields, WireClient } from '../support/wire-client.ts'

setDefaultTimeout(300_000)

const words =
  'Ann Miller (ann@example.com, owner) of the team shop, or #orders (slack, https://chat.example.com/orders)'
const about = `Ask ${words} about sales.orders.`
const how =
  'Access for a time: covenant access request sales.orders, or http://127.0.0.1:9/console/request?table=sales.orders.'
const whom = {
  team: 'shop',
  people: [{ name: 'Ann Miller', username: 'ann@example.com', role: 'owner' }],
  channels: [{ channel: '#orders', url: 'https://chat.example.com/orders', tool: 'slack' }],
}

const contacts = `team: {name: shop, members: [{username: ann@example.com, name: Ann Miller, role: owner}]}
support: [{channel: '#orders', url: 'https://chat.example.com/orders', tool: slack}]
description: {purpose: Orders of the shop, limitations: None of before 2020}
slaProperties: [{property: freshness, value: 1, unit: d}]
`
const documentOf = (name: string, members: string, more = '') => `apiVersion: v3.1.0
kind: DataContract
id: ${name}
version: 1.0.0
status: active
${contacts}schema:
- name: ${name}
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: ${name}}${more}}}
  properties:
${members}`

const orders = documentOf(
  'orders',
  `  - name: email
    logicalType: string
    customProperties: [{property: covenant, value: {masks: [{id: hide, action: mask-alphanum, exemptRoles: [officer]}]}}]
`,
  ", rowFilters: [{id: some, expression: region IN ('east'), exemptRoles: [officer]}]",
)
const parts = documentOf('parts', '  - {name: id, logicalType: integer}\n')

let lake: Lake
let steward: string
let stranger: string

beforeAll(async () => {
  lake = await startLake({
    env: { SVC_LICENSE: licenseForAll(), SVC_PUBLIC_URL: 'http://127.0.0.1:9' },
  })
  const { store, tenant } = lake
  const other = await makeTenant(store, { name: 'other' })
  steward = await session(lake, tenant, sessionScopes, ['steward'], 'stella')
  stranger = await session(lake, other.id, sessionScopes, ['steward'], 'eve')
  for (const name of ['parts', 'bare'])
    await commitColumns(store, tenant, { namespace: ['sales'], name }, { id: 'long' })
  const headers = { 'content-type': 'application/yaml' }
  const documents = '/api/v1/contracts/documents'
  const put = await call(lake, 'PUT', `${documents}/orders`, { secret: steward, headers, body: orders })
  expect([put.status, put.status === 200 ? '' : await put.text()]).toEqual([200, ''])
  const draft = await call(lake, 'POST', `${documents}/parts/versions`, {
    secret: steward,
    headers,
    body: parts,
  })
  expect([draft.status < 300, draft.status < 300 ? '' : await draft.text()]).toEqual([true, ''])
})
afterAll(() => lake?.[Symbol.asyncDispose]())

/** What a client hears of a text: errors and notices as [code, message, hint], and the rows of an EXPLAIN. */
async function hear(user: string, password: string, ...texts: readonly string[]) {
  const login = { user, password, database: lake.catalog, application_name: 'psql' }
  const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
  const heard: (readonly (string | undefined)[])[] = []
  for (const text of texts) {
    client.send(frames.query(text))
    for (const answer of await client.until('Z'))
      if (answer.type === 'E' || answer.type === 'N') {
        const { C, M, H } = reportFields(answer)
        heard.push([C, M, H])
      }
  }
  client.close()
  return heard
}
const bob = (...texts: readonly string[]) => hear('bob', lake.restricted.PGPASSWORD, ...texts)

describe('on the PostgreSQL wire', () => {
  test('the notice of a governed statement says whom to ask', async () => {
    expect(await bob('select count(email) from sales.orders')).toEqual([
      [
        '00000',
        expect.stringContaining('masked for you: sales.orders.email'),
        `EXPLAIN shows what applies. ${about} ${how}`,
      ],
    ])
  })

  test('a refusal says whom to ask, and how', async () => {
    expect(await bob('set row_security = off', 'select id from sales.orders')).toEqual([
      ['42501', expect.stringContaining('row-level security'), `${about} ${how}`],
    ])
  })

  test('EXPLAIN says whom to ask', async () => {
    const login = { user: 'bob', password: lake.restricted.PGPASSWORD, database: lake.catalog }
    const client = await WireClient.logIn({ port: Number(lake.env.PGPORT) }, login)
    const plan = await client.ask(frames.query('explain select email from sales.orders'))
    client.close()
    expect(plan.filter((line) => line.includes('Ask'))).toEqual([
      expect.stringContaining(`Ask: ${words} about sales.orders`),
    ])
    expect(plan).toContainEqual(
      expect.stringContaining('Access: covenant access request sales.orders, or http://127.0.0.1:9/'),
    )
  })

  test('a steward learns which contract names a table without an active one, and whom to ask', async () => {
    expect(await hear('stella', steward, 'select id from sales.parts', 'select id from sales.bare')).toEqual([
      [
        '42501',
        'permission denied for table parts: it has no active contract',
        `The contract parts names it; its version 1.0.0 is draft: ask ${words}.`,
      ],
      [
        '42501',
        'permission denied for table bare: it has no active contract',
        'No contract document names sales.bare: put one, or let `covenant adopt` propose it.',
      ],
    ])
  })

  test('a reader learns nothing of such a table: it answers like one that there is not', async () => {
    const [draft, absent] = [
      await bob('select id from sales.parts'),
      await bob('select id from sales.nowhere'),
    ]
    expect(draft).toEqual([['42P01', 'relation "sales.parts" does not exist', undefined]])
    expect(absent).toEqual([['42P01', 'relation "sales.nowhere" does not exist', undefined]])
  })
})

describe('a reader of the contract', () => {
  const path = '/api/v1/contracts/tables/sales/orders'

  test('learns from REST what it is for, whom to ask, what is promised and what applies', async () => {
    const { body } = await ask(lake, 'GET', path, lake.restricted.PGPASSWORD)
    expect(body).toMatchObject({
      contract: {
        about: { purpose: 'Orders of the shop', limitations: 'None of before 2020' },
        whom_to_ask: whom,
        service_levels: [{ property: 'freshness', value: '1', unit: 'd' }],
      },
      applies_to_you: {
        masked: [{ column: 'email', action: 'mask-alphanum' }],
        filtered: [
          { id: 'orders-rows', columns: ['region'] },
          { id: 'some', columns: ['region'] },
        ],
      },
    })
    expect(JSON.stringify(body)).not.toContain("'east'")
    const parts = await ask(lake, 'GET', '/api/v1/contracts/tables/sales/parts', lake.restricted.PGPASSWORD)
    expect(parts.status).toBe(404)
    expect((await ask(lake, 'GET', path, stranger)).status).toBe(404)
  })

  test('learns it from the explanation of a statement', async () => {
    const body = { statement: 'select email from sales.orders', catalog: lake.catalog }
    const explained = await ask(lake, 'POST', '/api/v1/query/explain', lake.restricted.PGPASSWORD, body)
    expect(explained.body).toMatchObject({
      reads: [{ contract: { id: 'orders', whom_to_ask: whom } }],
      access: [
        {
          command: 'covenant access request sales.orders',
          link: 'http://127.0.0.1:9/console/request?table=sales.orders',
        },
      ],
    })
  })

  test('learns it from GraphQL', async () => {
    const text = `{ table(namespace: ["sales"], name: "orders") { contract {
      purpose usage limitations serviceLevels { property value unit element }
      whomToAsk { team people { name username role } channels { channel url tool } } } } }`
    const { data } = await graphql(lake, lake.restricted.PGPASSWORD, text)
    expect(data.table.contract).toEqual({
      ...{ purpose: 'Orders of the shop', usage: null, limitations: 'None of before 2020', whomToAsk: whom },
      serviceLevels: [{ property: 'freshness', value: '1', unit: 'd', element: null }],
    })
    expect((await graphql(lake, stranger, text)).data.table).toBeNull()
  })

  test('learns it from MCP, marked as text by strangers', async () => {
    await using client = await connectMcp('2026', lake.app.url, lake.restricted.PGPASSWORD)
    const { structured } = await client.call('explain_contract', { table: 'sales.orders' })
    expect(structured).toMatchObject({
      whom_to_ask: { ...whom, untrusted: true },
      meaning: { purpose: { text: 'Orders of the shop', untrusted: true } },
    })
    const rows = await client.call('query', { sql: 'select email from sales.orders limit 1' })
    const checked = await client.call('check_query', { sql: 'select email from sales.orders' })
    for (const answer of [rows, checked])
      expect(answer.structured?.access).toBe(
        'Access for a time: call request_access for sales.orders, or let your user run: covenant access request sales.orders.',
      )
    const catalogs = await client.call('query', { sql: 'select * from sales.parts' })
    expect(catalogs.text).not.toContain('Ann')
    const hidden = await client.call('explain_contract', { table: 'sales.parts' })
    expect(hidden.isError).toBe(true)
    expect(hidden.text).not.toContain('Ann')
  })
})

test('until when a deprecated version is read is told to its readers', async () => {
  const versions = '/api/v1/contracts/documents/orders/versions'
  const { body } = await ask(lake, 'GET', versions, steward)
  const [{ number }] = body.items as [{ number: number }]
  const move = await ask(lake, 'POST', `${versions}/${number}/moves`, steward, {
    ...{ move: 'deprecate', reason: 'replaced' },
  })
  expect([move.status, move.body]).toMatchObject([200, {}])
  const { body: shown } = await ask(
    lake,
    'GET',
    '/api/v1/contracts/tables/sales/orders',
    lake.restricted.PGPASSWORD,
  )
  expect(shown.contract).toMatchObject({
    ...{ state: 'deprecated', whom_to_ask: whom },
    deprecated: { since: expect.any(String), until: expect.any(String) },
  })
  await using client = await connectMcp('2026', lake.app.url, lake.restricted.PGPASSWORD)
  const { structured } = await client.call('explain_contract', { table: 'sales.orders', sections: ['state'] })
  expect(structured?.state).toMatchObject({ state: 'deprecated', deprecated: { since: expect.any(String) } })
})
