/** What the sequence of events promises to who reads it, on every store. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { NewEvent } from '../../../src/core/event.ts'
import type { TenantId } from '../../../src/core/tenant.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { pinTable, unpinTable } from '../../../src/store/contract/pins.ts'
import { appendEvent, lastEvent, readEvents } from '../../../src/store/event/events.ts'
import { deleteNode, upsertNode } from '../../../src/store/graph/graph.ts'
import { reconcileTenant } from '../../../src/store/jobs/reconcile.ts'
import { actorOf } from '../../support/actor.ts'
import { approvedOf, intentOf, rejectedOf } from '../../support/commits.ts'
import { commitColumns } from '../../support/governed.ts'
import { makeTenant } from '../../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

const orders = { namespace: ['sales'], name: 'orders' }
const moved = (subject: string): NewEvent => ({ type: 'contract.moved', subject, data: { to: 'active' } })

/** The tests of an engine. */
export function eventTests(engine: 'embedded' | 'postgres'): void {
  describe(`events on ${engine}`, () => {
    let store: TestStore
    let home: TenantId
    let foreign: TenantId

    beforeAll(async () => {
      store = await openTestStore()
      home = (await makeTenant(store, { name: 'home' })).id
      foreign = (await makeTenant(store, { name: 'foreign' })).id
    })
    afterAll(() => store?.[Symbol.asyncDispose]())

    const append = (tenant: TenantId, event: NewEvent) =>
      store.tenantTransaction(tenant, (tx) => appendEvent(tx, event))

    test('are numbered by tenant, in the order in which they were committed', async () => {
      const start = await lastEvent(store, home)
      const startElsewhere = await lastEvent(store, foreign)
      for (const [tenant, subject] of [
        [home, 'a'],
        [foreign, 'theirs'],
        [home, 'b'],
      ] as const)
        await append(tenant, moved(subject))
      expect(await readEvents(store, home, start)).toEqual([
        expect.objectContaining({ ...moved('a'), sequence: start + 1n }),
        expect.objectContaining({ ...moved('b'), sequence: start + 2n }),
      ])
      const elsewhere = await readEvents(store, foreign, startElsewhere)
      expect(elsewhere.map(({ subject, sequence }) => [subject, sequence])).toEqual([
        ['theirs', startElsewhere + 1n],
      ])
    })

    test('are the same when they are read again from a number', async () => {
      const start = await lastEvent(store, home)
      for (const subject of ['a', 'b', 'c']) await append(home, moved(subject))
      const all = await readEvents(store, home, start)
      expect(all).toHaveLength(3)
      expect(await readEvents(store, home, start)).toEqual(all)
      expect(await readEvents(store, home, all[0]?.sequence ?? 0n)).toEqual(all.slice(1))
      expect(await readEvents(store, home, start, 2)).toEqual(all.slice(0, 2))
      expect(await readEvents(store, home, await lastEvent(store, home))).toEqual([])
    })

    test('tell nothing of a transaction that failed', async () => {
      const start = await lastEvent(store, home)
      const failing = store.tenantTransaction(home, async (tx) => {
        await appendEvent(tx, moved('undone'))
        throw new Error('undone')
      })
      expect(await failing.catch((error: Error) => error.message)).toBe('undone')
      expect(await readEvents(store, home, start)).toEqual([])
      expect(await lastEvent(store, home)).toBe(start)
    })

    test('tell of every decision once, with what the audit log holds of it', async () => {
      const start = await lastEvent(store, home)
      const [approved, rejected] = [intentOf(), intentOf()]
      await openIntent(store, home, approved)
      await recordVerdict(store, home, approvedOf(approved))
      await openIntent(store, home, rejected)
      await recordVerdict(store, home, rejectedOf(rejected, 'No.'))
      const told = async () =>
        (await readEvents(store, home, start)).map(({ type, data }) => [type, data.commit_id, data.decision])
      const expected = [
        ['commit.decided', approved.commitId, 'APPROVED'],
        ['commit.decided', rejected.commitId, 'REJECTED'],
      ]
      // Each reading passes the decisions that the one before has seen.
      for (let reading = 0; reading < 3; reading += 1) expect(await told()).toEqual(expected)
      const [, event] = await readEvents(store, home, start)
      expect(event?.data).toEqual({
        ...{ commit_id: rejected.commitId, decision: 'REJECTED', reason: 'No.', action: 'update-table' },
        ...{ committer: 'writer', namespace: rejected.table.namespace, table: rejected.table.name },
      })
    })

    test('tell of more decisions than one reading numbers', async () => {
      const start = await lastEvent(store, home)
      const intents = Array.from({ length: 5 }, () => intentOf())
      for (const intent of intents) {
        await openIntent(store, home, intent)
        await recordVerdict(store, home, rejectedOf(intent))
      }
      const numbered = async () => {
        const [row] = await store.tenantCall<{ last: string; is_complete: boolean }>(
          home,
          'number_events',
          [2],
        )
        return row
      }
      expect(await numbered()).toEqual({ last: String(start + 2n), is_complete: false })
      expect(await numbered()).toEqual({ last: String(start + 4n), is_complete: false })
      expect(await numbered()).toEqual({ last: String(start + 5n), is_complete: true })
      const told = await readEvents(store, home, start)
      expect(told.map(({ data }) => data.commit_id)).toEqual(intents.map(({ commitId }) => commitId))
    })

    test('tell who pinned which table, and who ended it', async () => {
      await commitColumns(store, home, orders, { id: 'long' })
      const start = await lastEvent(store, home)
      const change = { table: orders, actor: actorOf('ada'), atMs: 0 }
      await pinTable(store, home, change, { snapshotId: 7n, schemaId: 0n, catalog: 'lake' })
      await unpinTable(store, home, change)
      const about = { namespace: ['sales'], table: 'orders', by: 'ada' }
      expect((await readEvents(store, home, start)).map(({ type, data }) => [type, data])).toEqual([
        ['table.pinned', { ...about, pin_sequence: 1, snapshot_id: '7', catalog: 'lake' }],
        ['table.unpinned', { ...about, pin_sequence: 2 }],
      ])
    })

    test('tell of a breach when it is found and when it is gone, not at every run', async () => {
      await reconcileTenant(store, foreign)
      const start = await lastEvent(store, foreign)
      const snapshot = { label: 'Snapshot', id: 's3://lake/stray.json', properties: {} } as const
      await store.tenantTransaction(foreign, (tx) =>
        upsertNode(tx, foreign, {
          ...snapshot,
          properties: { metadata_location: snapshot.id, commit_id: crypto.randomUUID() },
        }),
      )
      for (let run = 0; run < 2; run += 1) await reconcileTenant(store, foreign)
      const found = await readEvents(store, foreign, start)
      expect(found.map(({ type, data }) => [type, data.kind])).toEqual([
        ['breach.found', 'snapshot_without_audit'],
      ])
      await store.tenantTransaction(foreign, (tx) => deleteNode(tx, snapshot))
      await reconcileTenant(store, foreign)
      const after = await readEvents(store, foreign, found[0]?.sequence ?? 0n)
      expect(after.map(({ type }) => type).filter((type) => type.startsWith('breach'))).toEqual([
        'breach.resolved',
      ])
    })
  })
}
