/** Concurrent pins and conflicting changes, which need several database connections. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Fault } from '../../src/base/fault.ts'
import { putMask } from '../../src/contract/put-mask.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { checkPolicies } from '../../src/query/compile/protect/protect.ts'
import { listContractChanges } from '../../src/store/contract/changes.ts'
import { listPins, pinTable } from '../../src/store/contract/pins.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { actorOf } from '../support/actor.ts'
import { commitColumns } from '../support/governed.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

const table = { namespace: ['hr'], name: 'people' }
let store: TestStore
let tenant: TenantId

beforeAll(async () => {
  store = await openTestStore()
  tenant = (await createTenant(store, { name: 'home' })).id
  await commitColumns(store, tenant, table, { id: 'long', email: 'string' })
})
afterAll(() => store[Symbol.asyncDispose]())

test('pins that come at once are events one after the other', async () => {
  const change = { table, actor: actorOf('stella'), atMs: 0 }
  const ids = Array.from({ length: 12 }, (_, index) => BigInt(index))
  await Promise.all(
    ids.map((snapshotId) => pinTable(store, tenant, change, { snapshotId, schemaId: 0n, catalog: 'main' })),
  )
  const { items } = await listPins(store, tenant, table, {})
  expect(items.map(({ sequence }) => sequence)).toEqual(ids.map((_, index) => ids.length - index))
  expect(new Set(items.map(({ snapshotId }) => snapshotId)).size).toBe(ids.length)
})

test('of two masks that only together conflict one is saved, and recorded', async () => {
  const on = { store, tenant, actor: actorOf('stella'), checkPolicies }
  const target = { table, column: 'email' }
  const outcomes = await Promise.all(
    ['show-first-4', 'show-last-4'].map((action) =>
      putMask(on, target, { id: action, action, exemptRoles: [] }).then(
        () => 'saved',
        (fault: Fault) => fault.kind,
      ),
    ),
  )
  expect(outcomes.toSorted()).toEqual(['saved', 'unprocessable'])
  const changes = await listContractChanges(store, tenant, {})
  expect(changes.items.filter(({ action }) => action === 'put-mask')).toHaveLength(1)
})
