/** Checks of manifests and the quarantine of snapshots, as the store keeps them: who is restricted, and whose they are. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { isQuarantined } from '../../../src/core/territory-owner.ts'
import { putCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { loadRead } from '../../../src/store/governance/read-call.ts'
import { upsertNode } from '../../../src/store/graph/graph.ts'
import { loadWriteGovernance } from '../../../src/store/policy/policies.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { dueManifestChecks, endManifestCheck } from '../../../src/store/territory/manifest-checks.ts'
import { findQuarantine, releaseSnapshot } from '../../../src/store/territory/quarantine.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { catalogA, catalogB, quarantineSnapshot, tableOf } from '../../support/territory.ts'

setDefaultTimeout(300_000)

let store: TestStore
let ours: TenantId
let theirs: TenantId

beforeAll(async () => {
  store = await openTestStore()
  ours = (await createTenant(store, { name: 'ours' })).id
  theirs = (await createTenant(store, { name: 'theirs' })).id
  for (const tenant of [ours, theirs])
    await putCatalogCredential(store, tenant, {
      kind: 'alpha',
      nickname: 'main',
      endpoint: 'https://catalog.example',
      config: {},
    })
})
afterAll(() => store[Symbol.asyncDispose]())

const owner = { catalog: catalogA, table: tableOf('orders'), tableUuid: undefined }
const foundBy = async (tenant = ours) =>
  (await loadWriteGovernance(store, tenant, tableOf('orders'))).territory
const readBy = async (tenant = ours) => {
  const call = await loadRead(store, tenant, 'main', [tableOf('orders')])
  if (call === undefined) throw new Error('no credential')
  return call
}
const approve = (tenant: TenantId, snapshotIds: readonly bigint[]) =>
  recordVerdict(store, tenant, approvedOf({ ...intentOf({ snapshotIds }), catalog: catalogA }))
const due = async (tenant = ours) =>
  (await dueManifestChecks(store, 100)).filter((one) => one.tenant === tenant)

test('the audit row of an accepted commit that adds snapshots queues one check, and no other does', async () => {
  await approve(ours, [])
  expect(await due()).toEqual([])
  await approve(ours, [7n, 9_007_199_254_740_993n])
  const [check] = await due()
  expect(check?.snapshotIds).toEqual([7n, 9_007_199_254_740_993n])
  expect(await due(theirs)).toEqual([])
  if (check === undefined) throw new Error('no check')
  // Another tenant that knows its id does not end it.
  await endManifestCheck(store, { ...check, tenant: theirs }, [])
  expect(await due()).toHaveLength(1)
  await endManifestCheck(store, check, [])
  expect(await due()).toEqual([])
})

test('none is queued for a tenant that switched the checks off', async () => {
  await store.tenantQuery(theirs, `update svc.territory_state set manifests = 'off' where tenant_id = $1`, [
    theirs,
  ])
  await approve(theirs, [7n])
  expect(await due(theirs)).toEqual([])
})

test('a quarantined snapshot comes with the load of a commit and of a read, for its tenant and catalog alone', async () => {
  const snapshotId = 9_007_199_254_740_995n
  const before = (await readBy()).governanceVersion
  await quarantineSnapshot(store, ours, catalogA, snapshotId)
  const call = await readBy()
  // Open runs are told.
  expect(call.governanceVersion).toBeGreaterThan(before)
  for (const found of [await foundBy(), call.territory]) {
    expect(isQuarantined(found, owner, snapshotId)).toBe(true)
    expect(isQuarantined(found, owner, snapshotId + 1n)).toBe(false)
    expect(isQuarantined(found, { ...owner, catalog: catalogB }, snapshotId)).toBe(false)
  }
  expect((await foundBy(theirs)).quarantined).toEqual([])
  expect((await readBy(theirs)).territory.quarantined).toEqual([])
})

test('what was released is read again, and is not quarantined once more', async () => {
  const snapshotId = 41n
  const id = await quarantineSnapshot(store, ours, catalogA, snapshotId)
  expect(await findQuarantine(store, theirs, id)).toBeUndefined()
  expect(await releaseSnapshot(store, theirs, id, 'mine', actorOf('mallory'))).toBeUndefined()
  expect(isQuarantined(await foundBy(), owner, snapshotId)).toBe(true)
  const released = await releaseSnapshot(store, ours, id, 'agreed', actorOf('stella'))
  expect(released?.release).toMatchObject({ reason: 'agreed', by: { sub: 'stella' } })
  expect(isQuarantined(await foundBy(), owner, snapshotId)).toBe(false)
  expect(await quarantineSnapshot(store, ours, catalogA, snapshotId)).toBe(id)
  expect(isQuarantined(await foundBy(), owner, snapshotId)).toBe(false)
})

test('whom filters and masks restrict is told where the modes make it matter', async () => {
  const setModes = (mode: string, manifests: string) =>
    store.tenantQuery(ours, 'update svc.territory_state set mode = $2, manifests = $3 where tenant_id = $1', [
      ours,
      mode,
      manifests,
    ])
  await setModes('enforce', 'audit')
  expect((await foundBy()).restricting).toEqual([])
  await store.tenantTransaction(ours, async (tx) => {
    for (const [id, label, roles] of [
      ['m1', 'ColumnMask', ['officer']],
      ['m2', 'ColumnMask', ['officer']],
      ['m3', 'ColumnMask', undefined],
      ['f1', 'RowFilter', ['officer', 'lead']],
      ['f2', 'RowFilter', ['officer']],
    ] as const)
      await upsertNode(tx, ours, { label, id, properties: roles ? { exempt_roles: roles } : {} })
  })
  expect((await foundBy()).restricting?.toSorted()).toEqual([[], ['officer'], ['officer', 'lead']])
  expect((await foundBy(theirs)).restricting).toBeUndefined()
  await setModes('enforce', 'enforce')
  expect((await foundBy()).restricting).toBeUndefined()
  await setModes('observe', 'audit')
  expect((await foundBy()).restricting).toBeUndefined()
})
