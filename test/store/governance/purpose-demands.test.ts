/** What a contract demands of a purpose in the store: of its table and tenant, of files, and under a new name. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { PurposeDemand } from '../../../src/core/purpose.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { saveContract } from '../../../src/store/contract/rows.ts'
import { loadGovernance } from '../../../src/store/governance/governance.ts'
import { fileSight, isProtectedAlike } from '../../../src/store/governance/protections.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { commitColumns } from '../../support/governed.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

let store: TestStore
let ours: TenantId
let theirs: TenantId
const refOf = (name: string) => ({ namespace: ['sales'], name })

beforeAll(async () => {
  store = await openTestStore()
  ours = (await createTenant(store, { name: 'ours' })).id
  theirs = (await createTenant(store, { name: 'theirs' })).id
  for (const tenant of [ours, theirs])
    for (const name of ['orders', 'other']) await commitColumns(store, tenant, refOf(name), { id: 'long' })
})
afterAll(() => store[Symbol.asyncDispose]())

const put = (name: string, purposes?: unknown, tenant = ours) =>
  store.tenantTransaction(tenant, async (tx) => {
    const contract = { id: name, version: 1, schema: {}, purposes: purposes as PurposeDemand }
    await saveContract(tx, tenant, refOf(name), contract)
  })
const demanded = async (name: string, tenant = ours) =>
  (await loadGovernance(store, tenant, refOf(name)))?.purposeDemands

test('a demand is of its contract and tenant, and ends with the version that makes none', async () => {
  await put('orders', ['audit'])
  await put('orders', undefined, theirs)
  expect([await demanded('orders'), await demanded('orders', theirs)]).toEqual([[['audit']], undefined])
  await put('orders')
  expect(await demanded('orders')).toBeUndefined()
})

test('a demand that cannot be read lets nobody read', async () => {
  await put('orders', { any: true })
  expect(await demanded('orders')).toEqual([[]])
  const asked = { atMs: 0, openMs: 0, purpose: 'audit' }
  expect(await fileSight(store, ours, refOf('orders'), 'anyone', asked)).toMatchObject({
    masked: true,
    demands: 'sales.orders may be read for no purpose',
  })
})

test('files are shown for a purpose that is demanded alone', async () => {
  await put('orders', ['audit'])
  const sight = (purpose?: string) =>
    fileSight(store, ours, refOf('orders'), 'anyone', { atMs: 0, openMs: 0, purpose })
  expect([(await sight()).masked, (await sight('Audit')).masked]).toEqual([true, false])
  expect(await sight('Audit')).not.toHaveProperty('demands')
})

test('a name under which less is demanded protects less', async () => {
  await put('orders', ['audit'])
  await put('other')
  const alike = () => isProtectedAlike(store, ours, refOf('orders'), refOf('other'))
  expect(await alike()).toBe(false)
  await put('other', ['audit'])
  expect(await alike()).toBe(true)
})
