/**
 * What lists and jobs read of large tables: about a page, whatever they are filtered by, and what is new. On a server,
 * which has statistics.
 */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { tableKey } from '../../src/core/table-ref.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { findAudit, transactionFate, wasChangedFrom } from '../../src/store/commit/audit.ts'
import { listDecisions, listDecisionsOf } from '../../src/store/commit/decision-list.ts'
import { listRefusals } from '../../src/store/commit/refusals.ts'
import { nodeId } from '../../src/store/database/names.ts'
import type { Tx } from '../../src/store/database/session.ts'
import { listFindings } from '../../src/store/detection/findings.ts'
import { lastPlaceOf, listRuns, queueDepth } from '../../src/store/detection/run-list.ts'
import { enqueueUnscanned } from '../../src/store/detection/runs.ts'
import { lastEvent } from '../../src/store/event/events.ts'
import { scannedSince } from '../../src/store/query/agent-usage.ts'
import { earlierRuns } from '../../src/store/query/earlier-runs.ts'
import { closeDeadQueries } from '../../src/store/query/queries-under-way.ts'
import { findUsage, listUsage, rollUsage, totalUsage, usageGroups } from '../../src/store/query/usage.ts'
import type { Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { eventually } from '../support/eventually.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

const rowsCount = 100_000
const rare = { namespace: ['sales'], name: 'rare' }
const limit = 10
let store: TestStore
let tenant: TenantId
let foreign: TenantId

/** Rare ones are the oldest, so a list that walks from the newest to them reads everything. */
async function fill(id: TenantId, count: number): Promise<void> {
  const table = nodeId(tableKey(rare))
  const time = `'2026-01-01'::timestamptz + i * interval '1 s'`
  await store.tenantQuery(
    id,
    `insert into svc.query_usage (tenant_id, query_id, started_at, principal_sub, principal_source, surface,
       contracts, reads, policies, rows_out, bytes_out, queue_ms, plan_ms, run_ms, outcome, fingerprint)
     select $1, gen_random_uuid(), ${time}, case when i <= 5 then 'rare' else 'p' || i % 7 end, 'session', 'http', '[]',
       '[]', '[]', 1, 1, 0, 0, 0, 'completed', 'f'
     from generate_series(1, ${count}) i`,
    [id],
  )
  await store.tenantQuery(
    id,
    `insert into svc.audit_log (tenant_id, commit_id, committer, decision, reason, created_at, principal_source, principal,
       table_id, namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location,
       policies, outcomes, received_at, request_id, session_id, client, application_id, branch)
     select $1, gen_random_uuid(), case when i <= 5 then 'rare' else 'p' || i % 7 end,
       case when i <= 5 then 'REJECTED' else 'APPROVED' end, case when i <= 5 then 'no' else '' end, ${time}, 'session', '{}',
       case when i <= 5 then $2 else 't' || i % 7 end, '["sales"]', 't', gen_random_uuid(), '', '', '',
       case when i > 5 then 's3://lake/' || i end, '[]', '[]', ${time}, case when i <= 5 then 'rare' else 'r' || i end,
       case when i <= 5 then '00000000-0000-4000-8000-000000000001'::uuid else '00000000-0000-4000-8000-000000000002' end,
       case when i <= 5 then 'rare' else 'c' || i % 7 end, case when i <= 5 then 'rare' else 'a' || i end,
       case when i <= 5 then 'rare' else 'main' end
     from generate_series(1, ${count}) i`,
    [id, table],
  )
  await store.tenantQuery(
    id,
    `with run as (
       insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, table_id, namespace, table_name,
         state, due_at, created_at)
       select $1, 's3://lake/' || i, 'baseline-poller', case when i <= 5 then $2 else 't' || i % 7 end, '["sales"]', 't',
         case when i <= 3 then 'queued' when i <= 5 then 'failed' else 'done' end, now(), ${time}
       from generate_series(1, ${count}) i returning run_id, created_at)
     insert into svc.detection_finding (tenant_id, run_id, attempt, classification_id, column_name, path, class, shape,
       confidence, matched, sampled, found_at)
     select $1, run_id, 1, run_id::text, 'c', 'c', 'email', 'name', 0.65, 1, 1, created_at from run`,
    [id, table],
  )
}

/** Every large table, with its partitions. */
const large = ['audit_log', 'query_usage', 'detection_run', 'detection_finding', 'event'].map(
  (name) => `svc.${name}`,
)

/** The rows of large tables that a read fetches or passes over. */
async function readsOf(read: (store: Store) => Promise<unknown>): Promise<number> {
  let reads = 0
  const counting = async <T>(tx: Tx, work: () => Promise<T>): Promise<T> => {
    const before = await countReads(tx)
    const result = await work()
    reads += (await countReads(tx)) - before
    return result
  }
  const counted: Store = {
    ...store,
    tenantQuery: (id, text, params = []) =>
      store.tenantTransaction(id, (tx) => counting(tx, () => tx.query(text, params) as never)),
    tenantCall: (id, name, params) =>
      store.tenantTransaction(id, (tx) =>
        counting(tx, () => {
          const places = ['$1::uuid', ...params.map((_, i) => `$${i + 2}`)].join(', ')
          return tx.query(`select * from svc.${name}(${places})`, [id, ...params]) as never
        }),
      ),
    tenantTransaction: (id, work) => store.tenantTransaction(id, (tx) => counting(tx, () => work(tx))),
    adminQuery: (text, params = []) =>
      store.adminTransaction((tx) => counting(tx, () => tx.query(text, params) as never)),
  }
  await read(counted)
  return reads
}

/** What the connection has read of the large tables and their indexes, what it did before this transaction included. */
async function countReads(tx: Tx): Promise<number> {
  const [row] = await tx.query<{ reads: number }>(
    `with relation as (select p.relid::oid as oid from unnest($1::text[]) name, pg_partition_tree(name::regclass) p
       union select name::regclass::oid from unnest($1::text[]) name)
     select sum(pg_stat_get_xact_tuples_returned(c.oid) + pg_stat_get_xact_tuples_fetched(c.oid))::int as reads
     from pg_class c where c.oid in (select oid from relation)
       or c.oid in (select indexrelid from pg_index where indrelid in (select oid from relation))`,
    [`{${large.join(',')}}`],
  )
  return row?.reads ?? 0
}

/** A page, one row more, and as many entries of an index; of lists that join two tables, of both. */
const readsMax = 8 * (limit + 1)

// Skipped where no server is named: an embedded store keeps no statistics of its tables.
describe.skipIf(process.env.SVC_TEST_DATABASE_URL === undefined)('a list', () => {
  beforeAll(async () => {
    store = await openTestStore()
    tenant = (await createTenant(store, { name: 'large' })).id
    foreign = (await createTenant(store, { name: 'foreign' })).id
    await fill(tenant, rowsCount)
    await fill(foreign, rowsCount / 10)
    // Only with statistics does the database choose as it does on a store that has grown.
    const superuser = postgres(store.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    await superuser.unsafe(`analyze ${large.join(', ')}`)
    await superuser.end()
  })
  afterAll(() => store[Symbol.asyncDispose]())

  const from = new Date('2026-01-01')
  const to = new Date('2026-01-01T00:00:05Z')
  test.each<[string, (counted: Store) => Promise<unknown>]>([
    ['usage records', (on) => listUsage(on, tenant, {}, { limit })],
    ['usage records of a principal', (on) => listUsage(on, tenant, { principal: 'rare' }, { limit })],
    ['usage records of a time', (on) => listUsage(on, tenant, { from, to }, { limit })],
    ['completed usage records', (on) => listUsage(on, tenant, { outcome: 'completed' }, { limit })],
    ['failed usage records', (on) => listUsage(on, tenant, { outcome: 'failed' }, { limit })],
    ['one usage record', (on) => findUsage(on, tenant, crypto.randomUUID())],
    ['what agents scanned', (on) => scannedSince(on, tenant, 'rare', from)],
    ['earlier runs', (on) => earlierRuns(on, tenant, 'rare', 'f')],
    ['decisions', (on) => listDecisions(on, tenant, { limit })],
    ['decisions on a table', (on) => listDecisions(on, tenant, { table: rare, limit })],
    ['decisions of a principal', (on) => listDecisions(on, tenant, { principal: 'rare', limit })],
    [
      'decisions through a session',
      (on) => listDecisions(on, tenant, { session: '00000000-0000-4000-8000-000000000001', limit }),
    ],
    ['decisions of a client', (on) => listDecisions(on, tenant, { client: 'rare', limit })],
    ['decisions of an application', (on) => listDecisions(on, tenant, { applicationId: 'rare', limit })],
    ['decisions on a branch', (on) => listDecisions(on, tenant, { branch: 'rare', limit })],
    ['denials', (on) => listDecisions(on, tenant, { decision: 'REJECTED', limit })],
    ['approvals', (on) => listDecisions(on, tenant, { decision: 'APPROVED', limit })],
    ['decisions of a request', (on) => listDecisions(on, tenant, { requestId: 'rare', limit })],
    ['decisions of a time', (on) => listDecisions(on, tenant, { from, to, limit })],
    ['decisions on several tables', (on) => listDecisionsOf(on, tenant, [rare], { limit })],
    ['one decision', (on) => findAudit(on, tenant, crypto.randomUUID())],
    ['refusals', (on) => listRefusals(on, tenant, { limit })],
    ['refusals on a table', (on) => listRefusals(on, tenant, { table: rare, limit })],
    ['refusals of a request', (on) => listRefusals(on, tenant, { requestId: 'rare', limit })],
    ['changes of a table since a time', (on) => wasChangedFrom(on, tenant, rare, 's3://x', from)],
    ['the fate of a transaction', (on) => transactionFate(on, tenant, [crypto.randomUUID()])],
    ['detection runs', (on) => listRuns(on, tenant, { limit })],
    ['detection runs of a table', (on) => listRuns(on, tenant, { table: rare, limit })],
    ['failed detection runs', (on) => listRuns(on, tenant, { state: 'failed', limit })],
    ['queued detection runs', (on) => listRuns(on, tenant, { state: 'queued', limit })],
    ['the newest run of a table', (on) => lastPlaceOf(on, tenant, rare)],
    ['the depth of the detection queue', (on) => queueDepth(on)],
    ['findings', (on) => listFindings(on, tenant, { limit })],
    ['findings of a class', (on) => listFindings(on, tenant, { class: 'iban', limit })],
    ['findings of a table', (on) => listFindings(on, tenant, { table: rare, limit })],
    ['findings of a run', (on) => listFindings(on, tenant, { runId: crypto.randomUUID(), limit })],
    ['the last event', (on) => lastEvent(on, tenant)],
  ])('%s: about a page is read', async (_, read) => {
    expect(await readsOf(read)).toBeLessThanOrEqual(readsMax)
  })

  test('rows that a statement walks through are counted', async () => {
    for (const table of large.slice(0, 4)) {
      const walk = (on: Store) =>
        // random() keeps parallel workers out, whose reads are counted in sessions of their own.
        on.tenantQuery(tenant, `select count(*) from ${table} where tenant_id = $1 and random() >= 0`, [
          tenant,
        ])
      expect(await readsOf(walk)).toBeGreaterThanOrEqual(rowsCount)
    }
  })

  test('a page of usage records far down is read where it begins', async () => {
    const first = await listUsage(store, tenant, {}, { limit: 100 })
    const next = { limit, ...(first.next && { after: first.next }) }
    expect(await readsOf((on) => listUsage(on, tenant, {}, next))).toBeLessThanOrEqual(readsMax)
  })

  test('the depth of the detection queue counts what is open alone', async () => {
    expect(await queueDepth(store)).toMatchObject({ queued: 6, running: 0 })
    const plan = await store.adminQuery<Record<string, string>>(
      `explain (costs off) select count(*) from svc.detection_run where state in ('queued', 'running')`,
    )
    // Both of these hold no run that is done; which one is read is the planner's to say.
    expect(plan.map((row) => Object.values(row)[0]).join('\n')).toMatch(/detection_run_(open|unfinished)/)
  })

  test('jobs read of what is new or open alone, once they have caught up', async () => {
    const jobs: readonly [string, (counted: Store) => Promise<unknown>][] = [
      ['roll-usage', (on) => rollUsage(on, tenant)],
      ['poll-snapshots', (on) => enqueueUnscanned(on, tenant, rowsCount)],
      ['close-dead-queries', (on) => closeDeadQueries(on)],
    ]
    for (const [, job] of jobs) await job(store)
    await eventually(async () => {
      await rollUsage(store, tenant)
      const [row] = await store.tenantQuery<{ done: boolean }>(
        tenant,
        'select rolled >= (select max(usage_seq) from svc.query_usage) as done from svc.usage_rolled',
      )
      return row?.done ?? false
    })
    await enqueueUnscanned(store, tenant, rowsCount)
    for (const [name, job] of jobs)
      expect({ name, isFew: (await readsOf(job)) <= readsMax }).toEqual({ name, isFew: true })
  })

  test('totals of usage are read from sums', async () => {
    for (const by of usageGroups)
      expect(await readsOf((on) => totalUsage(on, tenant, {}, by, { limit }))).toBeLessThanOrEqual(readsMax)
  })
})
