/** Access for a time by agents and over GraphQL: who asks, who lists what, and that another tenant sees nothing of it. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { commitColumns } from '../support/governed.ts'
import { graphql } from '../support/graphql.ts'
import { ask, call, session } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'
import { connectMcp, type McpClient } from '../support/mcp.ts'
import { makeTenant } from '../support/spare-tenants.ts'

setDefaultTimeout(300_000)

const ref = { namespace: ['sales'], name: 'orders' }
const documentOf = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - name: email
    logicalType: string
    customProperties: [{property: covenant, value: {masks: [{id: hide, action: mask-alphanum, exemptRoles: [officer]}]}}]
`

let lake: Lake
let foreign: TenantId
let rita: string
let stella: string
let mallory: string
let agent: McpClient
let strange: McpClient
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  lake = stack.use(await startLake({ env: { SVC_LICENSE: licenseForAll() } }))
  const { store, tenant } = lake
  foreign = (await makeTenant(store, { name: 'other' })).id
  await commitColumns(store, foreign, ref, { email: 'string' })
  rita = await session(lake, tenant, ['read', 'admin'], ['analyst'], 'rita')
  stella = await session(lake, tenant, sessionScopes, ['steward'], 'stella')
  mallory = await session(lake, foreign, sessionScopes, ['steward', 'administrator'], 'rita')
  const headers = { 'content-type': 'application/yaml' }
  for (const secret of [stella, mallory]) {
    const path = '/api/v1/contracts/documents/orders'
    expect((await call(lake, 'PUT', path, { secret, headers, body: documentOf })).status).toBe(200)
  }
  agent = stack.use(await connectMcp('2026', lake.app.url, rita))
  strange = stack.use(await connectMcp('2026', lake.app.url, mallory))
})
afterAll(() => stack.disposeAsync())

const wanted = { table: 'sales.orders', columns: ['email'], purpose: 'Refund of order 4711', seconds: 3_600 }

interface Listed {
  readonly grants: readonly object[]
  readonly waiting: readonly object[]
}
const listed = async (client: McpClient) =>
  (await client.call('list_my_access')).structured as unknown as Listed

const fields = `{ edges { node { grantId requestId tableName sub role purpose grantedBy from until endedAt endReason } } pageInfo { hasNextPage endCursor } }`
const mine = `{ myAccess(first: 1) ${fields} myAccessRequests(first: 1) { edges { node { requestId state columns filters seconds requestedBy } } } }`
const ofTable = (more: string) =>
  `{ table(namespace: ["sales"], name: "orders") { accessGrants(first: 10${more}) ${fields} accessRequests(first: 10${more}) { edges { node { requestId } } } } }`

describe('an agent', () => {
  test('asks in the name of its principal, and a steward decides', async () => {
    const { structured = {} } = await agent.call('request_access', wanted)
    expect(structured).toMatchObject({ state: 'waiting', next: expect.stringContaining('outside of MCP') })
    expect(await listed(agent)).toMatchObject({
      grants: [],
      waiting: [{ request: structured.request, table: 'sales.orders', columns: ['email'], untrusted: true }],
    })
    const path = `/api/v1/access/requests/${structured.request}`
    const { body } = await ask(lake, 'GET', path, stella)
    expect(body).toMatchObject({ grantee: { sub: 'rita' }, purpose: wanted.purpose, seconds: 3_600 })
    const decision = { approves: true, sha256: body.sha256 }
    expect((await ask(lake, 'POST', `${path}/decisions`, stella, decision)).status).toBe(200)
    expect(await listed(agent)).toMatchObject({
      grants: [{ table: 'sales.orders', purpose: wanted.purpose }],
      waiting: [],
    })
  })

  test('has no tool that decides, and may not ask for what hides nothing, or for what is not there', async () => {
    const names = (await agent.tools()).map(({ name }) => name)
    expect(names.filter((name) => /decide|approve|grant|revoke/.test(name))).toEqual([])
    expect((await agent.call('request_access', { ...wanted, columns: ['region'] })).text).toContain(
      'unprocessable',
    )
    const absent = await agent.call('request_access', { ...wanted, table: 'sales.absent' })
    expect(JSON.parse(absent.text).error).toMatchObject({ code: 'not_found' })
  })

  test('of another tenant lists nothing of this one, for the same subject', async () => {
    expect(await listed(strange)).toMatchObject({ grants: [], waiting: [] })
  })
})

describe('over GraphQL', () => {
  test('a principal lists what it has and asked for, in pages', async () => {
    const { data, errors } = await graphql(lake, rita, mine)
    expect(errors).toEqual([])
    const [{ node }] = data.myAccess.edges
    expect(node).toMatchObject({
      ...{ tableName: 'orders', sub: 'rita', role: null, purpose: wanted.purpose, grantedBy: 'stella' },
      endedAt: null,
    })
    expect(data.myAccessRequests.edges).toEqual([
      {
        node: {
          ...{ requestId: node.requestId, state: 'granted', columns: ['email'], filters: null },
          ...{ seconds: 3_600, requestedBy: 'rita' },
        },
      },
    ])
    const after = data.myAccess.pageInfo.endCursor
    const next = await graphql(lake, rita, `{ myAccess(first: 1, after: "${after}") ${fields} }`)
    expect(next.data.myAccess.edges).toEqual([])
  })

  test('of a table each sees their own, and with `everyone` a steward that of everybody', async () => {
    const own = await graphql(lake, rita, ofTable(''))
    expect(own.data.table.accessGrants.edges).toHaveLength(1)
    const none = await graphql(lake, stella, ofTable(''))
    expect(none.data.table.accessGrants.edges).toEqual([])
    const all = await graphql(lake, stella, ofTable(', everyone: true'))
    expect(all.data.table.accessGrants.edges).toHaveLength(1)
    expect(all.data.table.accessRequests.edges).toHaveLength(1)
    const refused = await graphql(lake, rita, ofTable(', everyone: true'))
    expect(refused.data.table).toEqual({ accessGrants: null, accessRequests: null })
    expect(refused.errors.map(({ extensions }) => extensions?.code)).toEqual(['FORBIDDEN', 'FORBIDDEN'])
  })

  test('another tenant sees nothing of it, whatever the roles', async () => {
    const { data } = await graphql(lake, mallory, mine)
    expect([data.myAccess.edges, data.myAccessRequests.edges]).toEqual([[], []])
    const all = await graphql(lake, mallory, ofTable(', everyone: true'))
    expect(all.data.table.accessGrants.edges).toEqual([])
  })

  test('access is asked of ten tables in one operation at most', async () => {
    const many = Array.from(
      { length: 11 },
      (_, index) => `a${index}: accessGrants(first: 1) { edges { cursor } }`,
    )
    const { errors } = await graphql(
      lake,
      rita,
      `{ table(namespace: ["sales"], name: "orders") { ${many.join(' ')} } }`,
    )
    expect(errors.map(({ message }) => message)).toEqual([
      'Access is asked of more than 10 tables. Ask in several operations.',
    ])
  })
})
