/**
 * Commits and background jobs read rows in proportion to their work, never each row for each other one. The store has
 * no statistics here, as the embedded one never has. Otherwise a job would hold the store's only connection, or a core
 * of its server.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../../src/core/tenant.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { enqueueUnscanned, unscannedLocations } from '../../../src/store/detection/runs.ts'
import { reconcileTenant } from '../../../src/store/jobs/reconcile.ts'
import type { Store } from '../../../src/store/store.ts'
import { createTenant } from '../../../src/store/tenant/tenants.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

setDefaultTimeout(300_000)

const commits = 600
/** Rows of all tables together that may be read for each commit. */
const perCommitMax = 40

let store: TestStore
let tenant: TenantId
beforeAll(async () => {
  store = await openTestStore()
  tenant = await newTenant(commits)
})
afterAll(() => store[Symbol.asyncDispose]())

/** A tenant with as many accepted commits, each to a table of its own. */
async function newTenant(commitCount: number): Promise<TenantId> {
  const { id } = await createTenant(store, { name: 'many' })
  for (let i = 0; i < commitCount; i++) {
    const table = { namespace: ['sales'], name: `table_${i}` }
    await recordVerdict(store, id, approvedOf(intentOf({ table })))
  }
  return id
}

/** Rows that `work` has the store fetch from its tables, by whatever plan. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  const total = async () => {
    await store.adminQuery('select pg_stat_force_next_flush()')
    const [row] = await store.adminQuery<{ n: string }>(
      'select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as n from pg_stat_user_tables',
    )
    return Number(row?.n)
  }
  const before = await total()
  await work()
  return (await total()) - before
}

test('the verdict on a table reads no other table’s rows', async () => {
  const verdict = (name: string) =>
    recordVerdict(store, tenant, approvedOf(intentOf({ table: { namespace: ['sales'], name } })))
  // The first of a session reads the database's catalog, too.
  await verdict('first')
  expect(await rowsRead(() => verdict('second'))).toBeLessThan(commits / 10)
})

test('the poll for unscanned snapshots reads a few rows a snapshot, the first time and later', async () => {
  const poll = () => enqueueUnscanned(store, tenant, 50)
  expect(await rowsRead(poll)).toBeWithin(commits, commits * perCommitMax)
  expect(await rowsRead(poll)).toBeLessThan(commits * perCommitMax)
})

test('a round queues no more than its limit of each source, and further rounds the rest, for its own tenant only', async () => {
  const [many, foreign] = [await newTenant(20), await newTenant(0)]
  const rounds: number[] = []
  do rounds.push(await enqueueUnscanned(store, many, 6))
  while (rounds.at(-1) !== 0)
  expect(rounds).toEqual([12, 8, 0])
  expect(await enqueueUnscanned(store, foreign, 6)).toBe(0)
})

test('the poll of a table reads a few rows for each location that its metadata names', async () => {
  await enqueueUnscanned(store, tenant, commits)
  const locations = Array.from({ length: 100 }, (_, i) => `s3a://lake/new/${i}`)
  const look = async () => expect(await unscannedLocations(store, tenant, locations)).toHaveLength(100)
  expect(await rowsRead(look)).toBeLessThan(locations.length * perCommitMax)
})

test('the reconciliation reads a few rows a commit, and never many in one transaction', async () => {
  const reads: number[] = []
  const watched: Store = {
    ...store,
    async tenantQuery<Row extends object>(...args: Parameters<Store['tenantQuery']>) {
      let rows: readonly Row[] = []
      const read = await rowsRead(async () => {
        rows = await store.tenantQuery<Row>(...args)
      })
      reads.push(read)
      return rows
    },
  }
  expect((await reconcileTenant(watched, tenant)).breaches).toEqual([])
  expect(reads.reduce((sum, one) => sum + one)).toBeWithin(commits, commits * perCommitMax)
  expect(Math.max(...reads)).toBeLessThan((commits * perCommitMax) / 10)
})
