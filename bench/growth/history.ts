/** What must not grow with history: the hourly comparison, totals of usage, lists; and the bytes of a commit and a query. */

import postgres from 'postgres'
import { timeOrderedId } from '../../src/base/time-ordered-id.ts'
import { appliedPolicy } from '../../src/core/commit.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { listDecisions } from '../../src/store/commit/decision-list.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { queueDepth } from '../../src/store/detection/run-list.ts'
import { enqueueUnscanned } from '../../src/store/detection/runs.ts'
import { reconcileTenant } from '../../src/store/jobs/reconcile.ts'
import { loadWriteGovernance, putPolicy } from '../../src/store/policy/policies.ts'
import { recordUsage, rollUsage, totalUsage } from '../../src/store/query/usage.ts'
import type { Store } from '../../src/store/store.ts'
import { committedTable } from '../../src/wire/iceberg/table-metadata.ts'
import { sampleIntent } from '../sample-intent.ts'
import { enforcedPolicies } from '../sample-policies.ts'
import { Appends, sampleMetadata, tableSizes } from '../sample-table.ts'
import { medianMs, type OneTenant, overTenant } from './over-tenant.ts'
import { bytesOf } from './service-bytes.ts'

const policyCount = 10
const newCommits = 100
/** Runs of the measured call; the cost is their median. */
const runs = 5

/** Gathers the statistics that a store which has grown has. */
async function analyze({ databaseUrl }: Pick<OneTenant, 'databaseUrl'>): Promise<void> {
  if (databaseUrl === undefined) return
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe('analyze svc.audit_log, svc.query_usage, svc.usage_total, svc.detection_run')
  await sql.end()
}

/** Records accepted appends to one table, under policies of the size that the benchmarks of commits use. */
async function committer({ store, tenant }: OneTenant): Promise<(count: number) => Promise<void>> {
  const table = { namespace: ['bench'], name: 'orders' }
  for (const policy of enforcedPolicies(policyCount, 0)) await putPolicy(store, tenant, table, policy)
  const policies = (await loadWriteGovernance(store, tenant, table)).policies.map(appliedPolicy)
  const appends = new Appends(tableSizes.small)
  const placeOf = (version: number) => `s3://bench/orders/metadata/${version}.metadata.json`
  const first = committedTable({
    metadataLocation: placeOf(0),
    metadata: sampleMetadata(appends, Date.now()),
  })
  let version = 0
  return async (count) => {
    for (let i = 0; i < count; i++) {
      const intent = sampleIntent(table, appends, placeOf(version))
      version += 1
      const committed = { ...first, metadataLocation: placeOf(version) }
      await recordVerdict(store, tenant, {
        intent,
        decision: 'APPROVED',
        reason: '',
        policies,
        outcomes: [],
        committed,
      })
    }
  }
}

export const reconcileByCommits = overTenant(
  {
    name: 'reconcile-hour',
    of: 'audited commits',
    unit: `ms of an hour with ${newCommits} new`,
    declared: 'linear',
    sizes: [300, 3_000, 30_000],
    smokeSizes: [2, 4, 8],
  },
  (history) => {
    const { store, tenant } = history
    const ready = committer(history)
    let there = 0
    return async (size) => {
      const commit = await ready
      await commit(size - there)
      there = size
      // Until the history is settled, and then hour by hour, with what an hour takes of the round.
      for (let run = 0; run < 2; run++) await reconcileTenant(store, tenant)
      return medianMs(
        runs,
        () => reconcileTenant(store, tenant),
        async () => {
          await commit(Math.min(newCommits, size))
          there += Math.min(newCommits, size)
          await store.tenantQuery(
            tenant,
            `update svc.reconciliation set round_began = now() - (round_at::float8 / greatest(round_end, 1) * 144 + 1) * interval '1 hour'`,
          )
        },
      )
    }
  },
)

/** Adds every record to the totals. A transaction elsewhere on the server may hold a run up. */
async function rollAll(store: Store, tenant: TenantId): Promise<void> {
  for (;;) {
    await rollUsage(store, tenant)
    const [row] = await store.tenantQuery<{ readonly done: boolean }>(
      tenant,
      'select rolled >= (select max(usage_seq) from svc.query_usage) as done from svc.usage_rolled',
    )
    if (row?.done) return
    await Bun.sleep(20)
  }
}

const tables = 50
const principals = 200
const days = 30

export const totalsByRecords = overTenant(
  {
    name: 'usage-totals',
    of: 'usage records of 30 days',
    unit: 'ms of a page by table',
    declared: 'flat',
    sizes: [20_000, 200_000, 2_000_000],
    smokeSizes: [20, 40, 80],
  },
  (history) => {
    const { store, tenant } = history
    let there = 0
    const from = new Date(Date.now() - days * 86_400_000)
    from.setUTCHours(0, 0, 0, 0)
    return async (size) => {
      for (; there < size; there += Math.min(size - there, 100_000))
        await store.tenantQuery(
          tenant,
          `insert into svc.query_usage (tenant_id, query_id, started_at, principal_sub, principal_source, surface,
             catalog, engine, contracts, reads, policies, rows_out, bytes_out, bytes_scanned, queue_ms, plan_ms, run_ms,
             outcome, fingerprint)
           select $1, gen_random_uuid(), $2::timestamptz + random() * interval '${days} days', 'person' || i % ${principals},
             'session', 'pgwire', 'main', 'duckdb', '[{"id": "orders", "version": 1}]',
             jsonb_build_array(jsonb_build_object('namespace', jsonb_build_array('sales'), 'name', 't' || i % ${tables},
               'columns', '["id"]'::jsonb)), '[]', 10, 80, 1000, 0, 1, 2, 'completed', '0123456789abcdef'
           from generate_series(1, $3::int) i`,
          [tenant, from, Math.min(size - there, 100_000)],
        )
      await rollAll(store, tenant)
      await analyze(history)
      return medianMs(runs, () => totalUsage(store, tenant, { from }, 'table', { limit: 100 }))
    }
  },
)

export const listByDecisions = overTenant(
  {
    name: 'decision-list',
    of: 'audited commits',
    unit: 'ms of a page of a table whose commits are the oldest',
    declared: 'flat',
    sizes: [5_000, 50_000, 500_000],
    smokeSizes: [20, 40, 80],
  },
  (history) => {
    const { store, tenant } = history
    let there = 0
    const rare = { namespace: ['sales'], name: 'rare' }
    return async (size) => {
      await store.tenantQuery(
        tenant,
        `insert into svc.audit_log (tenant_id, commit_id, committer, decision, reason, principal_source, principal, table_id,
           namespace, table_name, credential_id, body_sha256, body, base_metadata_location, metadata_location, policies,
           outcomes, received_at)
         select $1, gen_random_uuid(), 'p', 'APPROVED', '', 'session', '{}', case when i <= 10 then 'sales' || chr(31) || 'rare'
           else 't' || i % 7 end, '["sales"]', 't', gen_random_uuid(), '', '', '', 's3://lake/' || i, '[]', '[]', now()
         from generate_series($2::int + 1, $3::int) i`,
        [tenant, there, size],
      )
      there = size
      await analyze(history)
      const page = () => listDecisions(store, tenant, { table: rare, limit: 10 })
      if ((await page()).items.length !== 10) throw new Error('the page is not whole')
      return medianMs(runs, page)
    }
  },
)

/** Runs that wait, whatever the number of those that ended. */
const queuedRuns = 100

export const depthOfQueue = overTenant(
  {
    name: 'queue-depth',
    of: 'detection runs that ended',
    unit: `ms of the queue's depth, which is asked every five seconds`,
    declared: 'flat',
    sizes: [10_000, 100_000, 1_000_000],
    smokeSizes: [20, 40, 80],
  },
  (history) => {
    const { store, tenant } = history
    let there = 0
    const add = (state: string, from: number, to: number) =>
      store.tenantQuery(
        tenant,
        `insert into svc.detection_run (tenant_id, snapshot_metadata_location, source, state, finished_at)
         select $1, 's3://lake/' || $2 || i, 'baseline-poller', $2, case when $2 = 'done' then now() end
         from generate_series($3::int + 1, $4::int) i`,
        [tenant, state, from, to],
      )
    return async (size) => {
      if (there === 0) await add('queued', 0, queuedRuns)
      for (; there < size; there = Math.min(there + 100_000, size))
        await add('done', there, Math.min(there + 100_000, size))
      await analyze(history)
      return medianMs(runs, async () => {
        if ((await queueDepth(store)).queued !== queuedRuns) throw new Error('the queue has another depth')
      })
    }
  },
)

export const bytesByCommits = overTenant(
  {
    name: 'commit-bytes',
    of: 'audited commits',
    unit: `bytes that a commit under ${policyCount} policies leaves`,
    declared: 'flat',
    sizes: [300, 3_000, 30_000],
    smokeSizes: [20, 40, 80],
  },
  (history) => {
    const { store, tenant } = history
    const ready = committer(history)
    let there = 0
    return async (size) => {
      const commit = await ready
      const before = await bytesOf(store, tenant)
      await commit(size - there)
      while ((await enqueueUnscanned(store, tenant, 1_000)) > 0);
      const each = ((await bytesOf(store, tenant)) - before) / (size - there)
      there = size
      return each
    }
  },
)

export const bytesByQueries = overTenant(
  {
    name: 'query-bytes',
    of: 'usage records',
    unit: 'bytes that a query leaves, its part of the totals included',
    declared: 'flat',
    sizes: [300, 3_000, 30_000],
    smokeSizes: [20, 40, 80],
  },
  ({ store, tenant }) => {
    let there = 0
    return async (size) => {
      const before = await bytesOf(store, tenant)
      for (let i = there; i < size; i++)
        await recordUsage(store, tenant, {
          queryId: timeOrderedId(),
          startedAtMs: Date.now(),
          principal: `person${i % principals}`,
          principalSource: 'session',
          surface: 'pgwire',
          catalog: 'main',
          engine: 'duckdb',
          contracts: [{ id: 'orders', version: 1 }],
          reads: [
            { namespace: ['sales'], name: `t${i % tables}`, columns: ['id', 'amount'], snapshot_id: '1' },
          ],
          policies: [],
          rowsOut: 10,
          bytesOut: 80,
          bytesScanned: 1_000,
          queueMs: 0,
          planMs: 1,
          runMs: 2,
          outcome: 'completed',
          sqlState: undefined,
          fingerprint: '0123456789abcdef',
        })
      await rollAll(store, tenant)
      const each = ((await bytesOf(store, tenant)) - before) / (size - there)
      there = size
      return each
    }
  },
)
