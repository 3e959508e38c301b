/** The life cycle of contract versions against its model: random moves of random people, with crashes. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { openStore } from '../../../src/store/store.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { commitColumns } from '../../support/governed.ts'
import { openTestStore, type TestStore, testStoreOptions } from '../../support/store.ts'
import { table, walk } from './walk.ts'

setDefaultTimeout(300_000)
let store: TestStore
let tenant: TenantId
let foreign: TenantId

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'home' })).id
  foreign = (await createTenant(store, { name: 'foreign' })).id
  for (const one of [tenant, foreign])
    await commitColumns(store, one, table, { id: 'long', email: 'string', region: 'string' })
})
afterAll(() => store[Symbol.asyncDispose]())

test('never has two versions in force, nor a move without its guard, nor anything half-deployed', async () => {
  const seed = 20_261_123
  console.log(`seed ${seed}`)
  // On a server the second replica is a store of its own; the embedded database takes one process alone.
  const replica =
    store.databaseUrl === undefined
      ? undefined
      : await openStore({ ...testStoreOptions, databaseUrl: store.databaseUrl })
  try {
    // A walk that never gets anywhere proves nothing.
    const kinds = ['add', 'propose', 'sign', 'deploy', 'cover', 'deprecate', 'withdraw']
    await walk([store, replica ?? store], tenant, 300, seed, kinds)
  } finally {
    await replica?.close()
  }
  const theirs = 'select 1 from svc.contract_version union all select 1 from svc.contract_move'
  expect(await store.tenantQuery(foreign, theirs)).toEqual([])
})
