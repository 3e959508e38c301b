/** What has a shorter life is removed by its settings, and never where a hold stands; another tenant's stays. */

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import type { TableRef } from '../../../src/core/table-ref.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { findAudit } from '../../../src/store/commit/audit.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { enqueueUnscanned } from '../../../src/store/detection/runs.ts'
import { releaseHold, setHold } from '../../../src/store/history/holds.ts'
import { type RemovedKind, removeExpired } from '../../../src/store/history/remove-expired.ts'
import {
  deleteRetention,
  listRetention,
  putRetention,
  putRetentionDefault,
} from '../../../src/store/history/retention.ts'
import { reconcileTenant } from '../../../src/store/jobs/reconcile.ts'
import { receiveLineage } from '../../../src/store/lineage/events.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, committedOf, intentOf } from '../../support/commits.ts'
import { recordFinding } from '../../support/detection-rows.ts'
import { receivedEvent } from '../../support/lineage.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(120_000)

let store: TestStore
let home: TenantId
let foreign: TenantId
beforeAll(async () => {
  store = await openTestStore()
})
beforeEach(async () => {
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
})
afterAll(() => store[Symbol.asyncDispose]())

const by = actorOf('stella')
const orders = { namespace: ['sales'], name: 'orders' }
const people = { namespace: ['hr'], name: 'people' }

/** @returns the commit's id and its metadata file */
async function commit(tenant: TenantId, table: TableRef) {
  const intent = intentOf({ table })
  const committed = committedOf()
  await recordVerdict(store, tenant, approvedOf(intent, committed))
  return { id: intent.commitId, location: committed.metadataLocation }
}

/** Makes what a tenant has as old as `days`, in the tables with such a time. */
async function age(tenant: TenantId, days: number): Promise<void> {
  const schema = `t_${tenant.replaceAll('-', '_')}`
  await store.ownerTransaction(tenant, async (tx) => {
    await tx.query('alter table svc.audit_log disable trigger append_only')
    await tx.query(`update svc.audit_log set created_at = created_at - interval '${days} days'`)
    await tx.query('alter table svc.audit_log enable trigger append_only')
    await tx.query(`update svc.detection_run set created_at = created_at - interval '${days} days',
      finished_at = finished_at - interval '${days} days'`)
    for (const inbox of ['lineage_inbox', 'lineage_event'])
      await tx.query(
        `update "${schema}".${inbox} set received_at = clock_timestamp() - interval '${days} days'`,
      )
  })
}

const keep = (tenant: TenantId, kind: RemovedKind, days: number | undefined) =>
  putRetention(store, tenant, kind, days, by)
const bodyOf = async (tenant: TenantId, id: string) => (await findAudit(store, tenant, id))?.body.length

async function count(tenant: TenantId, from: string): Promise<number> {
  const [row] = await store.tenantQuery<{ n: number }>(tenant, `select count(*)::int as n from ${from}`)
  return row?.n ?? 0
}

test('a setting of the tenant goes before one of the installation, and that before what is built in', async () => {
  const ofBodies = async () =>
    (await listRetention(store, home)).find(({ kind }) => kind === 'commit-bodies') ?? {}
  expect(await ofBodies()).toEqual({ kind: 'commit-bodies', keepDays: undefined, source: 'built-in' })
  await putRetentionDefault(store, 'commit-bodies', 400, by)
  expect(await ofBodies()).toMatchObject({ keepDays: 400, source: 'installation' })
  await putRetention(store, home, 'commit-bodies', 90, by)
  expect(await ofBodies()).toMatchObject({ keepDays: 90, source: 'tenant' })
  expect(await deleteRetention(store, home, 'commit-bodies', by)).toBe(true)
  expect(await deleteRetention(store, home, 'commit-bodies', by)).toBe(false)
  await putRetentionDefault(store, 'commit-bodies', undefined, by)
  expect(await ofBodies()).toMatchObject({ keepDays: undefined, source: 'installation' })
})

test('nothing of the audit, of lineage and of the graph is removed before somebody says so', async () => {
  const settings = await listRetention(store, home)
  expect(settings.filter(({ keepDays }) => keepDays !== undefined)).toEqual([
    { kind: 'detection-runs', keepDays: 90, source: 'built-in' },
  ])
  const { id } = await commit(home, orders)
  await commit(home, orders)
  await age(home, 36_000)
  for (const kind of ['commit-bodies', 'graph-snapshots', 'lineage-bodies'] as const)
    expect(await removeExpired(store, home, kind)).toBe(0)
  expect(await bodyOf(home, id)).toBeGreaterThan(0)
})

test('the body of an old commit goes and its hash stays, but not under a hold', async () => {
  const [old, held, theirs] = [
    await commit(home, orders),
    await commit(home, people),
    await commit(foreign, orders),
  ]
  for (const tenant of [home, foreign]) await age(tenant, 40)
  const young = await commit(home, orders)
  await keep(home, 'commit-bodies', 30)
  const whole = await setHold(store, home, { table: undefined, reason: 'case 1' }, by)
  expect(await removeExpired(store, home, 'commit-bodies')).toBe(0)
  await setHold(store, home, { table: people, reason: 'case 2' }, by)
  await releaseHold(store, home, whole.id, 'closed', by)
  await store.ownerTransaction(home, (tx) =>
    tx.query(`update svc.retention_progress set began_at = now() - interval '8 days'`),
  )
  expect(await removeExpired(store, home, 'commit-bodies')).toBe(1)
  expect(await removeExpired(store, home, 'commit-bodies')).toBe(0)
  expect(await bodyOf(home, old.id)).toBe(0)
  expect((await findAudit(store, home, old.id))?.bodySha256).toBe('ab'.repeat(32))
  for (const [tenant, { id }] of [
    [home, held],
    [home, young],
    [foreign, theirs],
  ] as const)
    expect(await bodyOf(tenant, id)).toBeGreaterThan(0)
})

test('nobody empties a body with anything else, or puts another in its place', async () => {
  const { id } = await commit(home, orders)
  for (const change of [`body = '\\x01'`, `body = '', reason = 'x'`, `body_sha256 = ''`]) {
    const attempt = store.ownerTransaction(home, (tx) => tx.query(`update svc.audit_log set ${change}`))
    expect(await attempt.catch((error: Error) => error.message)).toBe('Internal error.')
  }
  expect(await bodyOf(home, id)).toBeGreaterThan(0)
})

test('an old snapshot leaves the graph without a breach; the newest of a table and a held one stay', async () => {
  const first = await commit(home, orders)
  await commit(home, orders)
  await commit(home, people)
  await commit(home, people)
  await age(home, 40)
  await reconcileTenant(store, home)
  const before = await count(home, 'svc.breach')
  await setHold(store, home, { table: people, reason: 'case' }, by)
  await keep(home, 'graph-snapshots', 30)
  expect(await removeExpired(store, home, 'graph-snapshots')).toBe(1)
  expect(await count(home, '"Snapshot"')).toBe(3)
  expect(await count(home, '"ACTUAL_WRITE"')).toBe(3)
  expect(await count(home, '"INTENDED_WRITE"')).toBe(4)
  const left = await store.tenantQuery<{ p: string }>(home, `select properties::text as p from "Snapshot"`)
  expect(left.some(({ p }) => p.includes(first.location))).toBe(false)
  await store.ownerTransaction(home, (tx) =>
    tx.query('update svc.reconciliation set settled = 0, settles = 0, compared = 0'),
  )
  await reconcileTenant(store, home)
  // Their times were changed behind the graph's back, but nothing is missed.
  expect(await count(home, `svc.breach where kind <> 'edge_differs'`)).toBe(0)
  expect(before).toBeGreaterThanOrEqual(0)
})

test('the body of an old event is emptied, unless it waits or any table of the tenant is held', async () => {
  const events = [
    receivedEvent({ inputs: ['a'], outputs: ['b'] }),
    receivedEvent({ inputs: ['c'], outputs: ['d'] }),
  ]
  for (const tenant of [home, foreign]) await receiveLineage(store, tenant, events, true)
  await receiveLineage(store, home, [receivedEvent({ inputs: ['e'], outputs: ['f'] })], false)
  for (const tenant of [home, foreign]) await age(tenant, 40)
  const young = receivedEvent({ inputs: ['g'], outputs: ['h'] })
  await receiveLineage(store, home, [{ ...young, event: { ...young.event, receivedAtMs: Date.now() } }], true)
  await keep(home, 'lineage-bodies', 30)
  const { id } = await setHold(store, home, { table: people, reason: 'case' }, by)
  expect(await removeExpired(store, home, 'lineage-bodies')).toBe(0)
  await releaseHold(store, home, id, 'closed', by)
  expect(await removeExpired(store, home, 'lineage-bodies')).toBe(2)
  expect(await removeExpired(store, home, 'lineage-bodies')).toBe(0)
  const empty = `lineage_inbox where octet_length(body) = 0`
  expect([await count(home, empty), await count(foreign, empty)]).toEqual([2, 0])
  // It is still known by its hash.
  const again = await receiveLineage(store, home, events, true)
  expect(JSON.stringify(again)).toContain('repeated')
})

test('an old event is removed and its edges stay; one that waits, a young one and a foreign one stay', async () => {
  const old = [
    receivedEvent({ inputs: ['a'], outputs: ['b'] }),
    receivedEvent({ inputs: ['c'], outputs: ['d'] }),
  ]
  for (const tenant of [home, foreign]) await receiveLineage(store, tenant, old, true)
  await receiveLineage(store, home, [receivedEvent({ inputs: ['e'], outputs: ['f'] })], false)
  for (const tenant of [home, foreign]) await age(tenant, 40)
  const young = receivedEvent({ inputs: ['g'], outputs: ['h'] })
  await receiveLineage(store, home, [{ ...young, event: { ...young.event, receivedAtMs: Date.now() } }], true)
  const edges = await count(home, '"LINEAGE_OF"')
  await keep(home, 'lineage', 30)
  const { id } = await setHold(store, home, { table: people, reason: 'case' }, by)
  expect(await removeExpired(store, home, 'lineage')).toBe(0)
  await releaseHold(store, home, id, 'closed', by)
  expect(await removeExpired(store, home, 'lineage')).toBe(2)
  expect([await count(home, 'lineage_inbox'), await count(foreign, 'lineage_inbox')]).toEqual([2, 2])
  // Sent again, it draws nothing new.
  await receiveLineage(store, home, old, true)
  expect(await count(home, '"LINEAGE_OF"')).toBe(edges)
})

test('a run of detection that found nothing goes after its time; its snapshot is not queued again', async () => {
  for (const tenant of [home, foreign]) {
    await recordFinding(store, tenant, people, { fieldId: 1n, columnName: 'email' })
    for (let n = 0; n < 3; n++) await commit(tenant, orders)
    await enqueueUnscanned(store, tenant, 10)
    await store.ownerTransaction(tenant, async (tx) => {
      await tx.query(
        `update svc.detection_run set state = 'done', finished_at = now() where state = 'queued'`,
      )
      // As if a thousand snapshots had come since.
      await tx.query('update svc.detection_cursor set snapshots_until = snapshots_until + 1500')
    })
    await age(tenant, 100)
  }
  const { id } = await setHold(store, home, { table: orders, reason: 'case' }, by)
  expect(await removeExpired(store, home, 'detection-runs')).toBe(0)
  await releaseHold(store, home, id, 'closed', by)
  expect(await removeExpired(store, home, 'detection-runs')).toBe(3)
  expect([await count(home, 'svc.detection_run'), await count(foreign, 'svc.detection_run')]).toEqual([1, 4])
  await enqueueUnscanned(store, home, 10)
  expect(await count(home, 'svc.detection_run')).toBe(1)
})

test('a run stays while the poller may look for the one of its snapshot', async () => {
  await commit(home, orders)
  await enqueueUnscanned(store, home, 10)
  await store.ownerTransaction(home, (tx) =>
    tx.query(`update svc.detection_run set state = 'done', finished_at = now()`),
  )
  await age(home, 100)
  expect(await removeExpired(store, home, 'detection-runs')).toBe(0)
})
