/**
 * Owners whom a document names decide about access, so nobody makes themself one: such a version waits for somebody
 * else’s sign-off. A foreign tenant has the same table and contract.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../../src/core/session.ts'
import { commitColumns } from '../../support/governed.ts'
import { call, session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import { addTenant, startTestService, type TestService } from '../../support/service.ts'

setDefaultTimeout(120_000)

const path = '/api/v1/contracts/documents/orders'
const everyone = '/api/v1/access/requests?everyone=true&namespace=sales&table=orders'
let service: TestService
let ann: string
let stella: string
let mallory: string
type Json = Record<string, never>

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { tenant } = service.owner
  const foreign = (await addTenant(service.store, 'foreign', service.catalog.url)).tenant
  for (const one of [tenant, foreign])
    await commitColumns(service.store, one, { namespace: ['sales'], name: 'orders' }, { id: 'long' })
  ann = await session(service, tenant, ['admin', 'read'], [], 'ann')
  stella = await session(service, tenant, sessionScopes, ['steward'], 'stella')
  mallory = await session(service, foreign, sessionScopes, ['steward', 'administrator'], 'mallory')
  for (const secret of [stella, mallory])
    await ask('PUT', '/api/v1/contracts/life-cycle-settings', secret, { deploy_unverified: true })
  const { at, sha256 } = await propose(document('1.0.0'))
  await sign(at, stella, sha256)
  await move(at, stella, 'deploy')
})
afterAll(() => service[Symbol.asyncDispose]())

const member = '{name: Ann, username: ann, role: member}'
const owner = '{name: Ann, username: ann, role: owner}'
const document = (version: string, people = member) => `apiVersion: v3.1.0
kind: DataContract
id: orders
version: ${version}
status: active
team: {name: shop, members: [${people}]}
schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - {name: id, logicalType: integer}
`

async function ask(method: string, to: string, secret: string, body?: unknown): Promise<[number, Json]> {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(service, method, to, { secret, headers, body })
  const text = await response.text()
  return [response.status, text === '' ? {} : JSON.parse(text)] as [number, Json]
}

/** Ann adds a version and proposes it. */
async function propose(body: string) {
  const [, added] = await ask('POST', `${path}/versions`, ann, body)
  const at = `${path}/versions/${added.number}`
  const [, answer] = await move(at, ann, 'propose')
  return { at, sha256: String(added.sha256), answer }
}
const move = (at: string, secret: string, name: string) => ask('POST', `${at}/moves`, secret, { move: name })
const sign = (at: string, secret: string, sha256: string) =>
  ask('POST', `${at}/sign-offs`, secret, { sha256 })

test('nobody makes themself an owner: a version that changes the team alone waits for a sign-off', async () => {
  expect(await ask('POST', `${path}/compare`, stella, document('1.1.0', owner))).toMatchObject([
    200,
    { waits_for: ['first'], loosens_access: true },
  ])
  const { at, sha256, answer } = await propose(document('1.1.0', owner))
  expect(answer).toMatchObject({
    ...{ state: 'proposed', waits_for: ['first'] },
    verdict: {
      ...{ loosens_access: true, breaking: false },
      findings: [{ change: 'owner-loosened', message: '“ann” becomes an owner, who decides about access' }],
    },
  })
  expect((await move(at, stella, 'deploy'))[0]).toBe(409)
  expect((await sign(at, ann, sha256))[0]).toBe(403)
  expect((await sign(at, mallory, sha256))[0]).toBe(404)
  expect((await ask('GET', everyone, ann))[0]).toBe(403)
  expect((await sign(at, stella, sha256))[0]).toBe(200)
  expect((await move(at, stella, 'deploy'))[0]).toBe(200)
  expect((await ask('GET', everyone, ann))[0]).toBe(200)
})

test('the short ways name no owner where the contract has a life cycle', async () => {
  const body = document('1.2.0', `${owner}, {username: eve, role: owner}`)
  expect((await ask('PUT', path, stella, body))[0]).toBe(409)
  const response = await call(service, 'GET', path, { secret: stella })
  const headers = {
    'content-type': 'application/json-patch+json',
    'if-match': response.headers.get('etag') ?? '',
  }
  const value = { username: 'eve', role: 'owner' }
  const patch = JSON.stringify([{ op: 'add', path: '/team/members/-', value }])
  const patched = await call(service, 'PATCH', path, { secret: stella, headers, body: patch })
  expect(patched.status).toBe(409)
})

test('a version that takes the right from an owner waits for nobody', async () => {
  const { answer } = await propose(document('1.1.1', member))
  expect(answer).toMatchObject({
    ...{ state: 'approved', waits_for: [] },
    verdict: { loosens_access: false, findings: [{ change: 'owner-tightened' }] },
  })
})
