/** What lists read of large tables: about a page, whatever they are filtered by. On a server, which has statistics. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { tableKey } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { nodeId } from '../../src/store/database/names.ts'
import type { Tx } from '../../src/store/database/session.ts'
import { listRuns, queueDepth } from '../../src/store/detection/run-list.ts'
import { listUsage } from '../../src/store/query/usage.ts'
import type { Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

const rowsCount = 20_000
const rare = { namespace: ['sales'], name: 'rare' }
const limit = 10
let store: TestStore
let tenant: TenantId

/** The rows of a table that a read fetches or passes over. */
async function readsOf(table: string, read: (store: Store) => Promise<unknown>): Promise<number> {
  let reads = 0
  const counted: Store = {
    ...store,
    tenantQuery: (id, text, params = []) =>
      store.tenantTransaction(id, async (tx) => {
        const before = await countReads(tx, table)
        const rows = await tx.query(text, params)
        reads += (await countReads(tx, table)) - before
        return rows as never
      }),
  }
  await read(counted)
  return reads
}

/** What the connection has read of a table and its indexes, what it did before this transaction included. */
async function countReads(tx: Tx, table: string): Promise<number> {
  const [row] = await tx.query<{ reads: number }>(
    `select sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::int as reads
     from pg_class where oid = $1::text::regclass
       or oid in (select indexrelid from pg_index where indrelid = $1::text::regclass)`,
    [table],
  )
  return row?.reads ?? 0
}

/** A page, one row more, and as many entries of an index. */
const readsMax = 4 * (limit + 1)

// Skipped where no server is named: an embedded store keeps no statistics of its tables.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('a list', () => {
  beforeAll(async () => {
    store = await openTestStore()
    tenant = (await createTenant(store, { name: 'large' })).id
    const foreign = (await createTenant(store, { name: 'foreign' })).id
    for (const id of [tenant, foreign]) {
      // Rare ones are the oldest, so a list that walks from the newest to them reads everything.
      await store.tenantQuery(
        id,
        `insert into svc.query_usage (tenant_id, query_id, started_at, principal_sub, principal_source, surface,
         contracts, reads, policies, rows_out, bytes_out, queue_ms, plan_ms, run_ms, outcome)
       select $1, gen_random_uuid(), '2026-01-01'::timestamptz + i * interval '1 s',
         case when i <= 5 then 'rare' else 'p' || i % 7 end, 'session', 'http', '[]', '[]', '[]', 1, 1, 0, 0, 0, 'completed'
       from generate_series(1, ${rowsCount}) i`,
        [id],
      )
      await store.tenantQuery(
        id,
        `insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, table_id, namespace, table_name,
         state, due_at, created_at)
       select $1, 's3://lake/' || i, 'baseline-poller', case when i <= 5 then $2 else 't' || i % 7 end, '["sales"]', 't',
         case when i <= 3 then 'queued' else 'done' end, now(), '2026-01-01'::timestamptz + i * interval '1 s'
       from generate_series(1, ${rowsCount}) i`,
        [id, nodeId(tableKey(rare))],
      )
    }
    // Only with statistics does the database choose as it does on a store that has grown.
    const superuser = postgres(store.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    await superuser.unsafe('analyze svc.query_usage, svc.detection_run')
    await superuser.end()
  })
  afterAll(() => store[Symbol.asyncDispose]())

  test.each([
    ['all', {}],
    ['of a principal', { principal: 'rare' }],
    ['of a time', { from: new Date('2026-01-01'), to: new Date('2026-01-01T00:00:05Z') }],
  ])('usage records %s are read a page at a time', async (_, filter) => {
    const reads = await readsOf('svc.query_usage', (counted) => listUsage(counted, tenant, filter, { limit }))
    expect(reads).toBeLessThanOrEqual(readsMax)
  })

  test('a page of usage records far down is read where it begins', async () => {
    const first = await listUsage(store, tenant, {}, { limit: 100 })
    const reads = await readsOf('svc.query_usage', (counted) =>
      listUsage(counted, tenant, {}, { limit, ...(first.next && { after: first.next }) }),
    )
    expect(reads).toBeLessThanOrEqual(readsMax)
  })

  test('detection runs of a table are read a page at a time', async () => {
    const reads = await readsOf('svc.detection_run', (counted) =>
      listRuns(counted, tenant, { table: rare, limit }),
    )
    expect(reads).toBeLessThanOrEqual(readsMax)
  })

  test('the depth of the detection queue is read from what is open alone', async () => {
    expect(await queueDepth(store)).toMatchObject({ queued: 6, running: 0 })
    const plan = await store.adminQuery<Record<string, string>>(
      `explain (costs off) select count(*) from svc.detection_run where state in ('queued', 'running')`,
    )
    expect(plan.map((row) => Object.values(row)[0]).join('\n')).toContain('detection_run_open')
  })
})
