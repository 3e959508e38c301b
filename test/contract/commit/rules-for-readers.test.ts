/** What readers of GraphQL and MCP learn of the day from which a contract is enforced. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { shadowMs } from '../../../src/contract/commit/sync-policies.ts'
import { sessionScopes } from '../../../src/core/session.ts'
import { commitColumns } from '../../support/governed.ts'
import { graphql } from '../../support/graphql.ts'
import { ask, call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { connectMcp } from '../../support/mcp.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let steward: string
let reader: string
let stranger: string
let nowMs = Date.now()

const tables = ['orders', 'items', 'parts']

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() }, clock: { now: () => nowMs } })
  const { store, owner } = service
  const foreign = await addTenant(store, 'foreign', service.catalog.url)
  for (const name of tables)
    await commitColumns(store, owner.tenant, { namespace: ['sales'], name }, { id: 'long', note: 'string' })
  steward = await session(service, owner.tenant, sessionScopes, ['steward'], 'stella')
  reader = await session(service, owner.tenant, ['read'], [], 'rita')
  stranger = await session(service, foreign.tenant, sessionScopes, ['steward'], 'eve')
  for (const name of tables) {
    const body = documentOf(name, name === 'items' ? 'warn' : undefined)
    const headers = { 'content-type': 'application/yaml' }
    const path = `/api/v1/contracts/documents/${name}`
    expect((await call(service, 'PUT', path, { secret: steward, body, headers })).status).toBe(200)
  }
})
afterAll(() => service?.[Symbol.asyncDispose]())

const documentOf = (name: string, mode: string | undefined) => `apiVersion: v3.2.0
kind: DataContract
id: ${name}
version: 1.0.0
customProperties:
- {property: covenant, vendor: covenant, value: {${mode === undefined ? '' : `mode: ${mode}`}}}
schema:
- name: ${name}
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: ${name}}}}
  properties: [{name: id, logicalType: integer}]
`

const rules = `query ($name: String!) { table(namespace: ["sales"], name: $name) { commits { mode enforcedFrom } } }`
const shown = async (secret: string, name: string) =>
  (await graphql(service, secret, rules, { name })).data.table

test('a reader learns from GraphQL what REST says: what happens to a commit now, and from when on it is refused', async () => {
  const { body } = await ask(service, 'GET', '/api/v1/contracts/tables/sales/orders', reader)
  const { commits } = body.contract as { commits: { mode: string; enforced_from: string } }
  expect(commits.mode).toBe('shadow')
  expect(await shown(reader, 'orders')).toEqual({
    commits: { mode: 'shadow', enforcedFrom: commits.enforced_from },
  })
  expect(await shown(reader, 'items')).toEqual({ commits: { mode: 'warn', enforcedFrom: null } })
  expect(await shown(stranger, 'orders')).toBeNull()
})

test('an explanation of MCP says the same', async () => {
  await using client = await connectMcp('2026', service.app.url, reader)
  const state = async () =>
    (await client.call('explain_contract', { table: 'sales.orders', sections: ['state'] })).structured?.state
  const enforced_from = new Date(nowMs + shadowMs).toISOString()
  const before = await state()
  expect(before).toMatchObject({ commits: { mode: 'shadow', enforced_from } })
  const was = nowMs
  nowMs += shadowMs
  expect(await state()).toMatchObject({ commits: { mode: 'enforce', enforced_from } })
  nowMs = was
  await using other = await connectMcp('2026', service.app.url, stranger)
  expect((await other.call('explain_contract', { table: 'sales.orders' })).isError).toBe(true)
})

test('a version tells stewards of each of its tables, and readers nothing', async () => {
  const text = `{ contract(name: "orders") { versions(first: 5) { edges { node { commits { namespace tableName mode enforcedFrom enforcedAfterDays } } } } } }`
  const { data } = await graphql(service, steward, text)
  expect(data.contract.versions.edges[0].node.commits).toEqual([
    {
      ...{ namespace: ['sales'], tableName: 'orders', mode: 'shadow' },
      ...{ enforcedFrom: new Date(nowMs + shadowMs).toISOString(), enforcedAfterDays: null },
    },
  ])
  expect((await graphql(service, reader, text)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
})

test('the rules of several tables are those of each', async () => {
  const text = '{ tables(first: 10) { edges { node { name commits { mode } } } } }'
  const { data } = await graphql(service, reader, text)
  expect(data.tables.edges.map(({ node }: { node: object }) => node)).toEqual([
    { name: 'items', commits: { mode: 'warn' } },
    { name: 'orders', commits: { mode: 'shadow' } },
    { name: 'parts', commits: { mode: 'shadow' } },
  ])
})
