/** Commits keep the keys of an encrypted table, whatever route they take. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { appendSnapshot, removeSnapshots, setProperties } from '../../demo/commits.ts'
import { addTenant, audit, commit, startTestService, type TestService } from '../support/service.ts'
import { messageOf, send } from '../support/surface.ts'

setDefaultTimeout(300_000)

const keyDenial = 'the key of sales.orders may not be removed or changed (encryption.key-id)'
const usedDenial = 'an encryption key of sales.orders is in use by one of its snapshots'
const snapshotId = 7n
let service: TestService

const updates = (...list: readonly object[]) => JSON.stringify({ requirements: [], updates: list })
const encryptionKey = (id: string, by?: string) => ({
  'key-id': id,
  'encrypted-key-metadata': 'a2V5',
  ...(by !== undefined && { 'encrypted-by-id': by }),
})
const addKey = (key: object) => ({ action: 'add-encryption-key', 'encryption-key': key })
const removeKey = (id: unknown) => ({ action: 'remove-encryption-key', 'key-id': id })

beforeAll(async () => {
  service = await startTestService()
  expect((await commit(service, setProperties({ 'encryption.key-id': 'master' }))).status).toBe(200)
  const keys = updates(
    { action: 'upgrade-format-version', 'format-version': 3 },
    addKey(encryptionKey('table', 'master')),
    addKey(encryptionKey('list', 'table')),
    addKey(encryptionKey('idle', 'master')),
  )
  expect((await commit(service, keys)).status).toBe(200)
  const body = appendSnapshot({ snapshotId, sequenceNumber: 1, timestampMs: Date.now() })
  const encrypted = body.replace(
    '"schema-id":0',
    '"schema-id":0,"key-id":"list","first-row-id":0,"added-rows":0',
  )
  expect((await commit(service, encrypted)).status).toBe(200)
})
afterAll(() => service[Symbol.asyncDispose]())

test.each([
  ['removes the key', { action: 'remove-properties', removals: ['encryption.key-id'] }],
  ['names another key', { action: 'set-properties', updates: { 'encryption.key-id': 'mine' } }],
  ['removes it by the older name', { action: 'remove-properties', removed: ['encryption.key-id'] }],
  ['sets it by the older name', { action: 'set-properties', updated: { 'encryption.key-id': '' } }],
  ['removes what is no list', { action: 'remove-properties', removals: 'encryption.key-id' }],
])('a commit that %s is denied and audited', async (_, update) => {
  const response = await commit(service, updates(update))
  expect([response.status, await response.text()]).toEqual([403, `policy denied: ${keyDenial}`])
  expect((await audit(service))[0]).toMatchObject({ decision: 'REJECTED', reason: keyDenial })
})

test.each([
  ['encrypts a snapshot', [removeKey('list')]],
  ['encrypts the key of a snapshot', [removeKey('table')]],
  ['cannot be read', [removeKey(7)]],
  ['changes under its id', [addKey(encryptionKey('list', 'mine'))]],
])('a commit that takes away a key which %s is denied', async (_, list) => {
  const response = await commit(service, updates(...list))
  expect([response.status, await response.text()]).toEqual([403, `policy denied: ${usedDenial}`])
})

test('so it is on the client surface and in a transaction of several tables', async () => {
  const text = updates({ action: 'remove-properties', removals: ['encryption.key-id'] })
  const single = await send(service, 'POST', '/namespaces/sales/tables/orders', text)
  expect([single.status, await messageOf(single)]).toEqual([403, `policy denied: ${keyDenial}`])
  const identifier = '"identifier":{"namespace":["sales"],"name":"orders"}'
  const many = await send(
    service,
    'POST',
    '/transactions/commit',
    `{"table-changes":[{${identifier},${text.slice(1, -1)}}]}`,
  )
  expect([many.status, await messageOf(many)]).toEqual([403, expect.stringContaining(keyDenial)])
})

test('an update that the gateway does not know, which may remove the key, is 503 and not forwarded', async () => {
  const before = service.catalog.faults.counts.commit
  const response = await commit(
    service,
    updates({ action: 'Remove-Properties', removals: ['encryption.key-id'] }),
  )
  expect([response.status, await response.text()]).toEqual([503, 'policy-engine-unavailable'])
  expect(service.catalog.faults.counts.commit).toBe(before)
})

test('a key that no snapshot uses may go, and the property may be set to what it is', async () => {
  expect((await commit(service, updates(removeKey('idle')))).status).toBe(200)
  expect((await commit(service, setProperties({ 'encryption.key-id': 'master' }))).status).toBe(200)
})

test('a commit that expires the snapshot may remove its keys', async () => {
  const expiry = JSON.parse(removeSnapshots([snapshotId])) as { updates: object[] }
  const response = await commit(service, updates(...expiry.updates, removeKey('list'), removeKey('table')))
  expect(response.status).toBe(200)
})

test("another tenant's table of the same name, which is not encrypted, takes the same commits", async () => {
  const other = await addTenant(service.store, 'other', service.catalog.url)
  const fresh = await startTestService()
  try {
    expect(other.tenant).not.toBe(service.owner.tenant)
    const text = updates({ action: 'remove-properties', removals: ['encryption.key-id'] })
    expect((await commit(fresh, text)).status).toBe(200)
  } finally {
    await fresh[Symbol.asyncDispose]()
  }
})
