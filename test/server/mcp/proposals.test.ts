/** Proposals of agents: drafts that govern nothing, bounded, on record, and signed by somebody else. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { SessionScope } from '../../../src/core/session.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, type IdentityService, session, startIdentityService } from '../../support/identity.ts'
import { licenseFor, licenseForAll } from '../../support/license.ts'
import { connectMcp, type McpClient } from '../../support/mcp.ts'

setDefaultTimeout(120_000)

let service: IdentityService
let steward: string
beforeAll(async () => {
  service = await startIdentityService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  await commitColumns(
    service.store,
    tenant,
    { namespace: ['hr'], name: 'people' },
    { id: 'long', email: 'string' },
  )
  steward = await session(service, tenant, ['read', 'admin'], ['steward'], 'stella')
  const headers = { 'content-type': 'application/yaml' }
  const put = await call(service, 'PUT', document, { secret: steward, headers, body: text })
  expect(put.status).toBe(200)
}, 300_000)
afterAll(() => service[Symbol.asyncDispose]())

const document = '/api/v1/contracts/documents/people'
const text = `apiVersion: v3.2.0
kind: DataContract
id: people
version: 1.0.0
schema:
  - name: people
    description: Who works here
    properties:
      - name: id
        logicalType: integer
      - name: email
        logicalType: string
    customProperties:
      - property: covenant
        vendor: covenant
        value: {table: {namespace: [hr], name: people}}
`
const change = {
  table: 'hr.people',
  edits: [
    { op: 'replace', path: '/version', value: '1.0.1' },
    { op: 'replace', path: '/schema/0/description', value: 'Employees' },
  ],
  reason: 'Says who they are',
}

async function agent(scopes: readonly SessionScope[], sub: string): Promise<McpClient> {
  const secret = await session(service, service.owner.tenant, scopes, [], sub)
  return await connectMcp('2026', service.app.url, secret)
}
const versions = async () => {
  const response = await call(service, 'GET', `${document}/versions`, { secret: steward })
  return ((await response.json()) as { items: readonly Record<string, unknown>[] }).items
}

test('a proposal is a draft with its reason on record, and nothing in force changes', async () => {
  await using ada = await agent(['read', 'admin'], 'service:ada')
  const { structured } = await ada.call('propose_contract_change', change)
  expect(structured).toMatchObject({
    draft: { contract: 'people', version: '1.0.1', state: 'draft' },
    breaking: false,
    loosens_access: false,
  })
  expect(await versions()).toMatchObject([
    { version: '1.0.1', state: 'draft', author: 'service:ada' },
    { version: '1.0.0', state: 'active' },
  ])
  const moves = await call(service, 'GET', `${document}/moves`, { secret: steward })
  expect(await moves.json()).toMatchObject({
    items: [
      { move: 'import', reason: change.reason, actor: { sub: 'service:ada', session: { kind: 'service' } } },
    ],
  })
  const explained = await ada.call('explain_contract', { table: 'hr.people', sections: ['meaning'] })
  expect(explained.text).toContain('Who works here')
})

test('what breaks says who must sign it, and its author may not', async () => {
  const both = await session(service, service.owner.tenant, ['read', 'admin'], ['steward'], 'service:both')
  await using client = await connectMcp('2026', service.app.url, both)
  const { structured = {} } = await client.call('propose_contract_change', {
    ...change,
    edits: [
      { op: 'replace', path: '/version', value: '2.0.0' },
      { op: 'remove', path: '/schema/0/properties/1' },
    ],
  })
  expect(structured).toMatchObject({ breaking: true, step_needed: 'major', sign_offs: ['first'] })
  const { number } = structured.draft as { number: number }
  const move = { secret: both, body: { move: 'propose' } }
  expect((await call(service, 'POST', `${document}/versions/${number}/moves`, move)).status).toBe(200)
  const [{ sha256 } = {}] = await versions()
  const sign = (secret: string) =>
    call(service, 'POST', `${document}/versions/${number}/sign-offs`, { secret, body: { sha256 } })
  expect((await sign(both)).status).toBe(403)
  expect((await sign(steward)).status).toBe(200)
})

test('a session without the scope admin is refused before the tool runs, with the scope that it needs', async () => {
  await using reader = await agent(['read'], 'service:reader')
  const before = (await versions()).length
  const [outcome] = await Promise.allSettled([reader.call('propose_contract_change', change)])
  expect(outcome?.status).toBe('rejected')
  expect((await versions()).length).toBe(before)
  const secret = await session(service, service.owner.tenant, ['read'], [], 'service:reader')
  const response = await call(service, 'POST', '/mcp', {
    secret,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'propose_contract_change', arguments: change },
    },
  })
  expect(response.status).toBe(403)
  expect(response.headers.get('www-authenticate')).toContain('scope="mcp:read mcp:propose"')
})

test('a principal proposes ten changes in a day, at once or one by one, and another still may', async () => {
  await using one = await agent(['read', 'admin'], 'service:one')
  await using other = await agent(['read', 'admin'], 'service:other')
  let made = 0
  for (let count = 0; count < 12; count++)
    if (!(await one.call('propose_contract_change', change)).isError) made++
  expect(made).toBe(10)
  expect((await other.call('propose_contract_change', change)).isError).toBe(false)
})

test.each([
  ['a path that is not there', [{ op: 'replace', path: '/nothing/0', value: 1 }]],
  ['an operation that is none', [{ op: 'move', path: '/version', from: '/id' }]],
  ['another contract’s id', [{ op: 'replace', path: '/id', value: 'canary' }]],
  ['no path', [{ op: 'remove' }]],
])('edits with %s are an error that a model can act on, and leave no draft', async (_, edits) => {
  await using client = await agent(['read', 'admin'], 'service:wrong')
  const before = (await versions()).length
  const { isError, text: error } = await client.call('propose_contract_change', { ...change, edits })
  expect([isError, (await versions()).length]).toEqual([true, before])
  expect(JSON.parse(error)).toMatchObject({
    error: { code: expect.any(String), message: expect.any(String) },
  })
})

test('without a license for contracts a proposal is refused', async () => {
  await using unlicensed = await startIdentityService({ env: { SVC_LICENSE: licenseFor('mcp') } })
  const secret = await session(unlicensed, unlicensed.owner.tenant, ['read', 'admin'], [], 'service:ada')
  await using client = await connectMcp('2026', unlicensed.app.url, secret)
  const { isError, text: error } = await client.call('propose_contract_change', change)
  expect([isError, error]).toEqual([true, expect.stringContaining('`contracts` is not part of')])
})
