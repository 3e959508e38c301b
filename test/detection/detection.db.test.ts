/** Several replicas on one server: one run per snapshot, one claimer per run, no deadlock on a shared column. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TenantId } from '../../src/core/tenant.ts'
import { recordVerdict } from '../../src/store/commit/verdicts.ts'
import { claimRuns } from '../../src/store/detection/claims.ts'
import { listFindings } from '../../src/store/detection/findings.ts'
import { finishRun } from '../../src/store/detection/results.ts'
import { listRuns } from '../../src/store/detection/run-list.ts'
import { enqueueHits, enqueueUnscanned } from '../../src/store/detection/runs.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { createTenant } from '../../src/store/tenant/tenants.ts'
import { approvedOf, intentOf } from '../support/commits.ts'
import { emptyReport } from '../support/detection-rows.ts'
import { openTestStore, type TestStore, testSecretsKey } from '../support/store.ts'

setDefaultTimeout(300_000)

const server = process.env.SVC_TEST_DATABASE_URL

// Skipped where no server is named: `bun run test:db` names one.
describe.skipIf(server === undefined)('detection on a server', () => {
  let store: TestStore
  let other: Store
  let tenant: TenantId
  beforeAll(async () => {
    store = await openTestStore({ poolMax: 4 })
    const options = { databaseUrl: store.databaseUrl, secretsKey: testSecretsKey, migrate: true, poolMax: 4 }
    other = await openStore({ ...options, onNotice: () => {} })
    tenant = (await createTenant(store, { name: 'home' })).id
    await createTenant(store, { name: 'foreign' })
  })
  afterAll(async () => {
    await other.close()
    await store[Symbol.asyncDispose]()
  })

  const count = 40
  const table = { namespace: ['sales'], name: 'people' }
  const hits = Array.from({ length: count }, (_, i) => ({
    tenant,
    source: 'storage-event' as const,
    metadataLocation: `s3://lake/${i}`,
    table,
  }))
  const report = { ...emptyReport, tableUuid: '5f7f0a3e-0000-4000-8000-000000000001' }

  test('two replicas that hear of the same snapshots make one run of each', async () => {
    const told = hits.map((hit) => ({ ...hit, tenant }))
    const added = await Promise.all(
      [store, other, store, other].map((replica, i) =>
        enqueueHits(replica, tenant, i % 2 ? told.toReversed() : told),
      ),
    )
    expect(added.reduce((sum, one) => sum + one, 0)).toBe(count)
  })

  test('claims of two replicas are disjoint, and what they found on one column is written by all', async () => {
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        claimRuns(i % 2 ? store : other, { limit: 2, leaseMs: 60_000, triesMax: 3 }),
      ),
    )
    const all = claims.flat()
    expect(new Set(all.map(({ runId }) => runId)).size).toBe(all.length)
    const rest = await claimRuns(store, { limit: count, leaseMs: 60_000, triesMax: 3 })
    expect(all.length + rest.length).toBe(count)

    const findings = ['email', 'ssn', 'phone'].map((column, i) => ({
      fieldId: BigInt(i + 1),
      columnName: column,
      finding: {
        column,
        class: 'email' as const,
        shape: 'value' as const,
        confidence: 0.55 as const,
        matched: 1,
        sampled: 1,
        maskedSample: undefined,
      },
    }))
    const finished = await Promise.all(
      [...all, ...rest].map((claim, i) =>
        finishRun(i % 2 ? store : other, claim, {
          findings: i % 3 ? findings : findings.toReversed(),
          report,
          reason: '',
          alert: false,
        }).catch((thrown: { kind?: string }) => ({ recorded: thrown.kind })),
      ),
    )
    expect(finished.filter(({ recorded }) => recorded !== true)).toEqual([])
    const states = (await listRuns(store, tenant, { limit: 1000 })).items.map(({ state }) => state)
    expect(new Set(states)).toEqual(new Set(['done']))
    const found = (await listFindings(store, tenant, { limit: 1000 })).items
    expect(found.map(({ runs }) => runs.length)).toEqual([20, 20, 20])
    const [row] = await store.tenantQuery<{ n: number }>(
      tenant,
      'select count(*)::int as n from "Classification"',
    )
    expect(row?.n).toBe(3)
  })

  test('the audit log is queued once, by whichever replica looks first', async () => {
    const intents = Array.from({ length: 5 }, (_, i) => intentOf({ snapshotIds: [BigInt(i + 1)] }))
    for (const intent of intents) await recordVerdict(store, tenant, approvedOf(intent))
    const queued = await Promise.all(
      [store, other].map((replica) => enqueueUnscanned(replica, tenant, 1_000)),
    )
    expect(queued.reduce((sum, one) => sum + one)).toBe(intents.length)
    expect(await enqueueUnscanned(store, tenant, 1_000)).toBe(0)
  })
})
