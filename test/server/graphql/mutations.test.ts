/** Mutations: they make what REST makes, for whom REST makes it, and only on what the caller knew. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, firstSnapshotId } from '../../../demo/commits.ts'
import { saveLifeCycleSettings } from '../../../src/store/contract/life-cycle.ts'
import { listPins } from '../../../src/store/contract/pins.ts'
import { commitColumns } from '../../support/governed.ts'
import { graphql } from '../../support/graphql.ts'
import { session } from '../../support/identity.ts'
import { licenseForAll } from '../../support/license.ts'
import {
  addTenant,
  commitUpstream,
  orders,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../support/service.ts'

setDefaultTimeout(120_000)

let service: TestService
let foreign: TestTenant
let author: string
let steward: string
let reader: string

beforeAll(async () => {
  service = await startTestService({ env: { SVC_LICENSE: licenseForAll() } })
  const { store, owner } = service
  foreign = await addTenant(store, 'foreign', service.catalog.url)
  await commitColumns(store, owner.tenant, orders, { id: 'long', email: 'string' })
  const snapshot = { snapshotId: firstSnapshotId, sequenceNumber: 1, timestampMs: Date.now() }
  await commitUpstream(service.catalog, appendSnapshot(snapshot))
  await store.tenantTransaction(owner.tenant, (tx) =>
    saveLifeCycleSettings(tx, owner.tenant, { deployUnverified: true }),
  )
  author = await session(service, owner.tenant, ['admin', 'read'], [], 'ann')
  steward = await session(service, owner.tenant, ['admin', 'read'], ['steward'], 'stella')
  reader = await session(service, owner.tenant, ['read'], ['steward'], 'rob')
}, 300_000)
afterAll(() => service?.[Symbol.asyncDispose]())

const document = `apiVersion: v3.2.0
kind: DataContract
id: orders
version: 1.0.0
schema:
- name: orders
  customProperties:
  - {property: covenant, vendor: covenant, value: {table: {namespace: [sales], name: orders}}}
  properties:
  - {name: id, logicalType: integer}
`
const propose = `mutation P($document: String!, $expected: Int!) {
  proposeContractVersion(contract: "orders", document: $document, format: yaml, expectedVersion: $expected) {
    number version { number state sha256 } userErrors { code message } } }`
const versioned = (name: string) => `mutation V($number: Int!, $expected: String!) {
  ${name}(contract: "orders", number: $number, expectedVersion: $expected) {
    version { state } userErrors { code message } } }`

test('a version is proposed, signed by another person, and deployed', async () => {
  const stale = await graphql(service, author, propose, { document, expected: 1 })
  expect(stale.data.proposeContractVersion).toMatchObject({
    ...{ number: null, version: null },
    userErrors: [{ code: 'CONFLICT', message: 'The newest version of the contract is 0, not 1.' }],
  })
  const { data } = await graphql(service, author, propose, { document, expected: 0 })
  // The author may not see versions.
  expect(data.proposeContractVersion).toEqual({ number: 1, version: null, userErrors: [] })
  const shown = '{ contractVersion(contract: "orders", number: 1) { sha256 state findings { access } } }'
  const { contractVersion: proposed } = (await graphql(service, steward, shown)).data
  expect(proposed.state).toBe('proposed')
  const good = { number: 1, expected: proposed.sha256 }
  const wrong = { number: 1, expected: '0'.repeat(64) }
  for (const [name, to] of [
    ['signOff', 'approved'],
    ['deploy', 'active'],
  ] as const) {
    const refused = await graphql(service, steward, versioned(name), wrong)
    expect(refused.data[name]).toMatchObject({ version: null, userErrors: [{ code: 'CONFLICT' }] })
    const made = await graphql(service, steward, versioned(name), good)
    expect(made.data[name]).toEqual({ version: { state: to }, userErrors: [] })
  }
  const after =
    '{ contract(name: "orders") { state documentVersion versions(first: 1) { edges { node { signOffs { level by } } } } moves(first: 9) { edges { node { move } } } } }'
  const { contract } = (await graphql(service, steward, after)).data
  expect(contract).toMatchObject({ state: 'active', documentVersion: '1.0.0' })
  expect(contract.versions.edges[0].node.signOffs).toEqual([{ level: 'first', by: 'stella' }])
  expect(contract.moves.edges.map(({ node }: { node: { move: string } }) => node.move)).toEqual([
    'activate',
    'deploy',
    'approve',
    'propose',
    'import',
  ])
})

test('a table is pinned where its last pin is the one that the caller knows', async () => {
  const pin = `mutation P($expected: Int!, $snapshot: String!) {
    pinTable(namespace: ["sales"], table: "orders", catalog: "main", snapshotId: $snapshot, expectedVersion: $expected) {
      sequence snapshotId userErrors { code message } } }`
  const send = async (secret: string, expected: number, snapshot = String(firstSnapshotId)) =>
    await graphql(service, secret, pin, { expected, snapshot })
  expect((await send(steward, 0)).data.pinTable).toEqual({
    ...{ sequence: 1, snapshotId: String(firstSnapshotId), userErrors: [] },
  })
  expect((await send(steward, 0)).data.pinTable.userErrors).toEqual([
    { code: 'CONFLICT', message: "The table's last pin event is 1, not 0." },
  ])
  expect((await send(steward, 1, '5')).data.pinTable.userErrors[0].code).toBe('UNPROCESSABLE')
  expect((await send(steward, 1, '1; x')).data.pinTable.userErrors[0].code).toBe('BAD_USER_INPUT')
  for (const secret of [author, reader]) {
    const { data, errors } = await send(secret, 1)
    expect([data, errors[0]?.extensions?.code]).toEqual([null, 'FORBIDDEN'])
  }
  const stranger = await session(service, foreign.tenant, ['admin', 'read'], ['steward'])
  expect((await send(stranger, 0)).data.pinTable.userErrors).toHaveLength(1)
  const { items } = await listPins(service.store, service.owner.tenant, orders, {})
  expect(items.map(({ sequence, by }) => [sequence, by])).toEqual([[1, 'stella']])
})

test('a finding that is not there, or is of another tenant, is no finding', async () => {
  const attest = `mutation A($id: ID!) { attest(finding: $id, decision: confirm) { status userErrors { code message } } }`
  for (const id of [crypto.randomUUID(), 'x']) {
    const { data } = await graphql(service, steward, attest, { id })
    expect(data.attest).toMatchObject({ status: null, userErrors: [{ code: 'NOT_FOUND' }] })
  }
})
