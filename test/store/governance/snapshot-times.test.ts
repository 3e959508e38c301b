/** When the data of tables was last changed, as their snapshots say. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { tableKey } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { snapshotTimes } from '../../../src/store/governance/snapshot-times.ts'
import { approvedOf, committedOf, intentOf } from '../../support/commits.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTenantStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(120_000)

const orders = { namespace: ['sales'], name: 'orders' }
const bare = { namespace: ['sales'], name: 'bare' }
let store: TestStore
let tenant: TenantId
beforeAll(async () => {
  ;({ store, tenant } = await openTenantStore())
  await commit(orders, 1n, 1_700_000_000_000n)
  await commit(orders, 2n, 1_700_000_100_000n)
  await commit(bare, undefined, 0n)
})
afterAll(() => store[Symbol.asyncDispose]())

async function commit(
  table: typeof orders,
  snapshotId: bigint | undefined,
  timestampMs: bigint,
): Promise<void> {
  const intent = intentOf({ table, receivedAtMs: 1_700_000_200_000 })
  await openIntent(store, tenant, intent)
  const { snapshot } = committedOf()
  const own =
    snapshotId === undefined || snapshot === undefined ? undefined : { ...snapshot, snapshotId, timestampMs }
  await recordVerdict(store, tenant, approvedOf(intent, committedOf({ snapshot: own })))
}

const timesFor = async (of: TenantId, pinned = new Map<string, bigint>()) =>
  Object.fromEntries(
    await snapshotTimes(store, of, [orders, bare, { namespace: ['sales'], name: 'none' }], pinned),
  )

test('a table has the time of its newest snapshot, and one without a snapshot that of its metadata', async () => {
  expect(await timesFor(tenant)).toEqual({
    [tableKey(orders)]: 1_700_000_100_000,
    [tableKey(bare)]: 1_700_000_200_000,
  })
})

test('a pinned table has the time of the snapshot that is read, and none where that is not there', async () => {
  const at = async (id: bigint) =>
    (await timesFor(tenant, new Map([[tableKey(orders), id]])))[tableKey(orders)]
  expect([await at(1n), await at(3n)]).toEqual([1_700_000_000_000, undefined])
})

test('another tenant learns no time', async () => {
  expect(await timesFor((await makeTenant(store, { name: 'foreign' })).id)).toEqual({})
})
