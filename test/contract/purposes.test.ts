/** `purposes` of a contract document: what may stand there, what it governs, and that a looser one waits for a sign-off. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { loadGovernance } from '../../src/store/governance/governance.ts'
import { commitColumns } from '../support/governed.ts'
import { call, session } from '../support/identity.ts'
import { licenseForAll } from '../support/license.ts'
import { addTenant, startTestService, type TestService, type TestTenant } from '../support/service.ts'

setDefaultTimeout(180_000)

const ref = { namespace: ['sales'], name: 'orders' }
const path = '/api/v1/contracts/documents/orders'
let service: TestService
let foreign: TestTenant
let stella: string

const documentOf = (version: string, purposes?: string) => `apiVersion: v3.1.0
kind: DataContract
id: orders
version: ${version}
status: active
${purposes === undefined ? '' : `customProperties: [{property: covenant, value: {purposes: ${purposes}}}]\n`}schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - {name: id, logicalType: integer}
`

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  foreign = await addTenant(service.store, 'foreign', service.catalog.url)
  for (const { tenant } of [service.owner, foreign])
    await commitColumns(service.store, tenant, ref, { id: 'long' })
  stella = await session(service, service.owner.tenant, sessionScopes, ['steward'], 'stella')
  const mallory = await session(service, foreign.tenant, sessionScopes, ['steward'], 'mallory')
  expect((await put(documentOf('1.0.0'), mallory))[0]).toBe(200)
})
afterAll(() => service?.[Symbol.asyncDispose]())

async function put(body: string, secret = stella): Promise<[number, string]> {
  const headers = { 'content-type': 'application/yaml' }
  const response = await call(service, 'PUT', path, { secret, headers, body })
  return [response.status, await response.text()]
}
const demanded = async ({ tenant } = service.owner as Pick<TestTenant, 'tenant'>) =>
  (await loadGovernance(service.store, tenant, ref))?.purposeDemands

test.each(['every', '[]', '[""]', '[1]', '[" audit"]', '{any: true}'])(
  'the value %s is refused with its place',
  async (value) => {
    const [status, text] = await put(documentOf('1.0.0', value))
    expect([status, text]).toEqual([422, expect.stringContaining('purposes')])
  },
)

test('what a document demands governs its tables until a document demands nothing, and is reported as enforced', async () => {
  const [status, text] = await put(documentOf('1.0.0', '[Refunds, Audit]'))
  expect([status, text]).toEqual([200, expect.stringContaining('customProperties.covenant.purposes')])
  const fields = (JSON.parse(text) as { fields: readonly { path: string; outcome: string }[] }).fields
  expect(fields).toContainEqual(
    expect.objectContaining({ path: 'customProperties.covenant.purposes', outcome: 'enforced' }),
  )
  expect(await demanded()).toEqual([['Refunds', 'Audit']])
  expect(await demanded(foreign)).toBeUndefined()
  await put(documentOf('1.0.1', 'any'))
  expect(await demanded()).toEqual(['any'])
  await put(documentOf('1.0.2'))
  expect(await demanded()).toBeUndefined()
})
