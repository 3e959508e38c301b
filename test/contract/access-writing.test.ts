/**
 * Access for commits: a policy that refuses a committer only warns of them for a time, over HTTP, with a foreign tenant
 * that has the same table, policy and subject.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionScopes } from '../../src/core/session.ts'
import { call, session } from '../support/identity.ts'
import { type Lake, startLake } from '../support/lake.ts'
import { licenseForAll } from '../support/license.ts'

setDefaultTimeout(300_000)

let nowMs = Date.now()
let lake: Lake
let etl: string
let other: string
let stella: string
let adam: string

const ask = async (method: string, to: string, secret: string, body?: unknown) => {
  const headers = typeof body === 'string' ? { 'content-type': 'application/yaml' } : {}
  const response = await call(lake, method, to, { secret, headers, body })
  const text = await response.text()
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
}
const document = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
- name: orders
  customProperties:
  - {property: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - {name: email, logicalType: string}
`
const freeze = (definition_cel: string) =>
  ask('PUT', '/api/v1/policies/freeze', adam, {
    ...{
      table: { namespace: ['sales'], name: 'orders' },
      kind: 'write_acl',
      mode: 'enforce',
      name: 'Freeze',
    },
    ...{ message: 'Year end', definition_cel },
  })
const tables = () => `/v1/iceberg/${lake.catalog}/v1/namespaces/sales/tables`
const commit = (secret: string, more: object = {}) =>
  ask('POST', `${tables()}/orders`, secret, {
    requirements: [],
    updates: [{ action: 'set-properties', updates: { note: crypto.randomUUID() } }],
    ...more,
  })
const wanted = {
  ...{ namespace: ['sales'], table: 'orders', policies: ['freeze'] },
  ...{ purpose: 'Late bookings', seconds: 600 },
}
async function granted(more: object = {}) {
  const asked = await ask('POST', '/api/v1/access/requests', etl, { ...wanted, ...more })
  expect([asked.status, asked.body]).toMatchObject([201, {}])
  const { id, sha256 } = asked.body
  const shown = await ask('GET', `/api/v1/access/requests/${id}`, stella)
  const decided = await ask('POST', `/api/v1/access/requests/${id}/decisions`, stella, {
    approves: true,
    sha256,
  })
  expect(decided.status).toBe(200)
  return { grant: decided.body.grant.id as string, shown: shown.body }
}

beforeAll(async () => {
  lake = await startLake({ env: { SVC_LICENSE: licenseForAll() }, clock: { now: () => nowMs } })
  const { tenant } = lake
  etl = await session(lake, tenant, ['commit', 'read'], ['loader'], 'etl')
  other = await session(lake, tenant, ['commit', 'read'], ['loader'], 'other')
  stella = await session(lake, tenant, sessionScopes, ['steward'], 'stella')
  adam = await session(lake, tenant, sessionScopes, ['steward', 'administrator'], 'adam')
  expect((await ask('PUT', '/api/v1/contracts/documents/orders', stella, document)).status).toBe(200)
  expect((await commit(etl)).status).toBe(200)
  const frozen = await freeze('false')
  expect([frozen.status, frozen.body]).toMatchObject([200, {}])
})
afterAll(() => lake?.[Symbol.asyncDispose]())

test('a policy only warns of the grantee’s commits, until the grant ends to the millisecond', async () => {
  expect(await commit(etl)).toMatchObject({ status: 403 })
  const { grant, shown } = await granted({ policies: ['Freeze'] })
  expect(shown.reveals).toMatchObject({
    columns: [],
    filters: [],
    policies: [{ id: 'freeze', name: 'Freeze', expression: 'false' }],
  })
  expect((await commit(etl)).status).toBe(200)
  expect((await commit(other)).status).toBe(403)
  const listed = await ask('GET', '/api/v1/decisions?explain=true&limit=2', adam)
  const outcomes = listed.body.items.flatMap((item: { outcomes: { policy_id: string }[] }) =>
    item.outcomes.filter(({ policy_id }) => policy_id === 'freeze'),
  )
  expect(outcomes).toMatchObject([
    { mode: 'enforce', value: false },
    { mode: 'warn', value: false, grant },
  ])
  nowMs += 599_999
  expect((await commit(etl)).status).toBe(200)
  nowMs += 1
  expect((await commit(etl)).status).toBe(403)
})

test('a grant is for commits to the table, not to drop, rename or make one', async () => {
  const { grant } = await granted()
  expect((await ask('DELETE', `${tables()}/orders`, etl)).status).toBe(403)
  const renamed = await ask('POST', `/v1/iceberg/${lake.catalog}/v1/tables/rename`, etl, {
    source: { namespace: ['sales'], name: 'orders' },
    destination: { namespace: ['sales'], name: 'elsewhere' },
  })
  expect(renamed.status).toBe(403)
  expect(
    (await ask('POST', `/api/v1/access/grants/${grant}/revocation`, stella, { reason: 'x' })).status,
  ).toBe(204)
  expect((await commit(etl)).status).toBe(403)
})

test('another text of the policy ends the exemption, and a grant for reading exempts from none', async () => {
  const { grant } = await granted()
  expect((await commit(etl)).status).toBe(200)
  await freeze('1 == 2')
  expect((await commit(etl)).status).toBe(403)
  await freeze('false')
  expect((await commit(etl)).status).toBe(200)
  await ask('POST', `/api/v1/access/grants/${grant}/revocation`, stella, { reason: 'x' })
})

test('what is not enforced, follows from a contract or does not exist is not asked for', async () => {
  const answers = await Promise.all(
    [['absent'], ['contract:orders:schema']].map((policies) =>
      ask('POST', '/api/v1/access/requests', etl, { ...wanted, policies }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual([422, 422])
  await ask('PUT', '/api/v1/policies/told', adam, {
    ...{ table: { namespace: ['sales'], name: 'orders' }, kind: 'schema', mode: 'warn', name: 'told' },
    ...{ message: '', definition_cel: 'false' },
  })
  const warned = await ask('POST', '/api/v1/access/requests', etl, { ...wanted, policies: ['told'] })
  expect(warned.status).toBe(422)
})
