/** What happens to a run whose claimer vanishes, whose storage fails, or that two replicas claim at once. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { BlockList } from 'node:net'
import type { Fault } from '../../src/base/fault.ts'
import { RightOfWay } from '../../src/base/right-of-way.ts'
import type { TenantId } from '../../src/core/tenant.ts'
import { Detector } from '../../src/detection/detector.ts'
import { HitQueue } from '../../src/detection/hit-queue.ts'
import { WorkerPool } from '../../src/detection/worker-pool.ts'
import { ReadFailure } from '../../src/storage/read-failure.ts'
import type { TableAccess } from '../../src/storage/vended-access.ts'
import { putCatalogCredential } from '../../src/store/catalog-credential/catalog-credentials.ts'
import { type ClaimedRun, claimRuns, retryRun } from '../../src/store/detection/claims.ts'
import { finishRun } from '../../src/store/detection/results.ts'
import { findRun, listRuns, requestRescan } from '../../src/store/detection/run-list.ts'
import { enqueueHits } from '../../src/store/detection/runs.ts'
import type { Store } from '../../src/store/store.ts'
import { suspendTenant } from '../../src/store/tenant/tenants.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { actorOf } from '../support/actor.ts'
import { emptyReport } from '../support/detection-rows.ts'
import { failingStore } from '../support/failing-store.ts'
import { handPace } from '../support/hand-pace.ts'
import { startTestService } from '../support/service.ts'
import { makeTenant } from '../support/spare-tenants.ts'
import { openTestStore, type TestStore } from '../support/store.ts'

setDefaultTimeout(300_000)

let store: TestStore
let home: TenantId
let foreign: TenantId
beforeAll(async () => {
  store = await openTestStore()
  home = (await makeTenant(store, { name: 'home' })).id
  foreign = (await makeTenant(store, { name: 'foreign' })).id
}, 300_000)
afterAll(() => store[Symbol.asyncDispose]())

const table = { namespace: ['sales'], name: 'people' }
/** Nothing is ever committed. */
const idle = new RightOfWay({ quietMs: 0, waitMsMax: 0 })
const done = { findings: [], report: emptyReport, reason: '', alert: false }
const hit = (metadataLocation: string, tenant = home) =>
  ({ tenant, source: 'baseline-poller', metadataLocation, table }) as const
const claim = (leaseMs = 60_000, triesMax = 3, limit = 10) => claimRuns(store, { limit, leaseMs, triesMax })
const only = (claims: readonly ClaimedRun[]): ClaimedRun => {
  expect(claims.length).toBe(1)
  return claims[0] as ClaimedRun
}
const stateOf = async (id: string, tenant = home) => {
  const run = await findRun(store, tenant, id)
  return (
    run && {
      state: run.state,
      reason: run.reason,
      attempts: run.attempts.map(({ cause, outcome }) => [cause, outcome]),
    }
  )
}

test('one location has one run per tenant, whatever its spelling and its trigger', async () => {
  expect(await enqueueHits(store, home, [hit('s3a://lake/1'), hit('s3://lake/1')])).toBe(1)
  expect(await enqueueHits(store, home, [hit('s3n://lake/1')])).toBe(0)
  expect(await enqueueHits(store, foreign, [hit('s3://lake/1', foreign)])).toBe(1)
  expect((await listRuns(store, home)).items.length).toBe(1)
  const claims = await claim()
  expect(claims.map(({ tenant }) => tenant).sort()).toEqual([home, foreign].sort())
  expect(await claim()).toEqual([])
  for (const one of claims) expect((await finishRun(store, one, done)).recorded).toBe(true)
})

test('a claim whose lease ends is claimed again, and its late claimer writes nothing', async () => {
  await enqueueHits(store, home, [hit('s3://lake/2')])
  const first = only(await claim(-1))
  const second = only(await claim())
  expect(second).toMatchObject({ runId: first.runId, tries: 2 })
  expect(await finishRun(store, first, done)).toEqual({ recorded: false, alertDue: false })
  expect(await retryRun(store, first, 'late', 0)).toBe(false)
  expect((await finishRun(store, second, done)).recorded).toBe(true)
  expect(await stateOf(first.runId)).toEqual({
    state: 'done',
    reason: '',
    attempts: [
      ['retry', 'done'],
      ['trigger', 'lost'],
    ],
  })
})

test('a claim that the database lost is made again, and what came of the lost one is not written', async () => {
  await enqueueHits(store, home, [hit('s3://lake/2b')])
  const lost = only(await claim())
  // As a crash leaves it that takes the claim's transaction back.
  await store.adminTransaction((tx) =>
    tx.query(
      `update svc.detection_run set state = 'queued', attempt = 0, tries = 0, lease_id = null, lease_until = null where run_id = $1`,
      [lost.runId],
    ),
  )
  await store.ownerTransaction(home, (tx) =>
    tx.query('delete from svc.detection_attempt where run_id = $1', [lost.runId]),
  )
  const again = only(await claim())
  expect(again).toMatchObject({ runId: lost.runId, tries: 1 })
  expect((await finishRun(store, lost, done)).recorded).toBe(false)
  expect((await finishRun(store, again, done)).recorded).toBe(true)
  expect((await stateOf(lost.runId))?.attempts).toEqual([['trigger', 'done']])
})

test('the end of an attempt waits for the log where the run would otherwise fail instead of being scanned again', async () => {
  await enqueueHits(store, home, [hit('s3://lake/2c')])
  const begins: (boolean | undefined)[] = []
  const watched: Store = {
    ...store,
    tenantTransaction(tenant, work, options) {
      begins.push(options?.mayBeLost)
      return store.tenantTransaction(tenant, work, options)
    },
    tenantQuery(tenant, text, params, options) {
      begins.push(options?.mayBeLost)
      return store.tenantQuery(tenant, text, params, options)
    },
  }
  const first = only(await claim(60_000, 2))
  expect(first.isLast).toBe(false)
  expect(await retryRun(watched, first, 'storage failed', 0)).toBe(true)
  const second = only(await claim(60_000, 2))
  expect(second.isLast).toBe(true)
  expect((await finishRun(watched, second, done)).recorded).toBe(true)
  expect(begins).toEqual([true, false])
})

test('a trigger that is acknowledged has waited for the log', async () => {
  const begins: (boolean | undefined)[] = []
  const watched: Store = {
    ...store,
    tenantQuery(tenant, text, params, options) {
      begins.push(options?.mayBeLost)
      return store.tenantQuery(tenant, text, params, options)
    },
  }
  await enqueueHits(watched, home, [hit('s3://lake/2d')])
  expect(begins).toEqual([undefined])
  expect((await finishRun(store, only(await claim()), done)).recorded).toBe(true)
})

/** A tenant with `count` snapshots that wait, and a detector of two workers that scans them. */
async function pacedDetector(
  name: string,
  count: number,
  { commits = idle, access, over = store }: { commits?: RightOfWay; access: TableAccess; over?: Store },
) {
  const { id } = await makeTenant(store, { name })
  const { id: credentialId } = await putCatalogCredential(store, id, {
    nickname: 'main',
    kind: 'alpha',
    endpoint: 'http://127.0.0.1:1',
    config: { endpoint: 'http://127.0.0.1:1', warehouse: 'dev', credential: 'gateway:s3cret' },
  })
  const hits = Array.from({ length: count }, (_, i) => ({
    ...hit(`s3://lake/${name}/${i}`, id),
    credentialId,
  }))
  await enqueueHits(store, id, hits)
  const pool = new WorkerPool({
    workerUrl: new URL('fixtures/moody-worker.ts', import.meta.url),
    size: 2,
    taskMs: 10_000,
    onRestart: () => {},
  })
  const detector = new Detector(
    {
      store: over,
      metrics: createMetrics(),
      log: createLogger({ level: 'silent' }),
      get catalogs(): never {
        throw new Error('no catalog is asked')
      },
      addressRules: { ranges: new BlockList(), hosts: new Set() },
      commits,
    },
    { pool, alerts: false, onAlert: () => {}, access },
  )
  return {
    detector,
    tenant: id,
    states: async (): Promise<readonly string[]> =>
      (await listRuns(store, id)).items.map(({ state }) => state),
    async [Symbol.asyncDispose]() {
      await detector.stop()
      pool.close()
    },
  }
}

const unreadable = async () => {
  throw new ReadFailure('nothing can be read')
}
const failed = (count: number) => Array.from({ length: count }, () => 'failed')

test('no more runs are claimed than there are workers, however often the queue is looked into', async () => {
  let open = 0
  let openMax = 0
  await using paced = await pacedDetector('paced', 7, {
    async access(tenant) {
      openMax = Math.max(openMax, ++open)
      for (let i = 0; i < 5; i++) {
        paced.detector.wake()
        await stateOf('00000000-0000-4000-8000-000000000000', tenant)
      }
      open--
      return unreadable()
    },
  })
  await paced.detector.idle()
  expect(openMax).toBe(2)
  expect(await paced.states()).toEqual(failed(7))
})

test('a commit at work is not disturbed: nothing is asked of the store before it has ended', async () => {
  let asked = 0
  const watched: Store = {
    ...store,
    adminQuery(text, params, options) {
      asked++
      return store.adminQuery(text, params, options)
    },
  }
  const pace = handPace()
  const commits = new RightOfWay({ quietMs: 100, waitMsMax: Number.POSITIVE_INFINITY }, pace)
  const commit = Promise.withResolvers<void>()
  const committed = commits.during(() => commit.promise)
  await using paced = await pacedDetector('undisturbed', 3, { commits, access: unreadable, over: watched })
  const idle = paced.detector.idle()
  for (let i = 0; i < 50; i++) await pace.slept()
  expect(asked).toBe(0)
  commit.resolve()
  await committed
  await idle
  expect(await paced.states()).toEqual(failed(3))
})

test('a gateway that is never idle has its commits scanned all the same, after a bounded wait', async () => {
  const pace = handPace()
  const waitMsMax = 10_000
  const commits = new RightOfWay({ quietMs: 100, waitMsMax }, pace)
  const commit = Promise.withResolvers<void>()
  const committed = commits.during(() => commit.promise)
  const begunMs: number[] = []
  await using paced = await pacedDetector('never idle', 5, {
    commits,
    access() {
      begunMs.push(pace.now())
      return unreadable()
    },
  })
  await paced.detector.idle()
  expect(await paced.states()).toEqual(failed(5))
  expect(begunMs).toEqual(Array.from({ length: 5 }, () => waitMsMax))
  commit.resolve()
  await committed
})

test('runs that are claimed together look their credential up once', async () => {
  let lookUps = 0
  const counting: Store = {
    ...store,
    tenantQuery(tenant, text, params, options) {
      if (text.includes('svc.catalog_credential')) lookUps++
      return store.tenantQuery(tenant, text, params, options)
    },
  }
  await using paced = await pacedDetector('together', 2, { access: unreadable, over: counting })
  await paced.detector.idle()
  expect(await paced.states()).toEqual(failed(2))
  expect(lookUps).toBe(1)
})

test('findings of a run whose table is learnt later are in the graph, though the database went away amid that', async () => {
  const tenant = (await makeTenant(store, { name: 'learning' })).id
  const metadataLocation = 's3://lake/learnt'
  await enqueueHits(store, tenant, [{ tenant, source: 'storage-event', metadataLocation }])
  const finding = {
    column: 'ssn',
    class: 'us_ssn',
    shape: 'name',
    confidence: 0.65,
    matched: 0,
    sampled: 0,
    maskedSample: undefined,
  } as const
  const findings = [{ finding, fieldId: 1n, columnName: 'ssn' }]
  await finishRun(store, only(await claim()), { ...done, findings })
  const told = (over: Store) =>
    new HitQueue(over, createMetrics(), () => {})
      .push(tenant, [hit(metadataLocation, tenant)])
      .catch((thrown: Fault) => thrown.kind)
  expect(await told(failingStore(store, /project_classification/))).toBe('unavailable')
  const tags = () =>
    store.tenantQuery(tenant, `select 1 from "TAGGED" where properties::text::jsonb ->> 'path' = 'ssn'`)
  expect(await tags()).toEqual([])
  expect(await told(store)).toBe(0)
  expect(await tags()).toHaveLength(1)
})

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    finding: {
      column: `email_${index}`,
      class: 'email',
      shape: 'name_and_value',
      confidence: 0.92,
      matched: 1,
      sampled: 1,
      maskedSample: undefined,
    } as const,
    fieldId: BigInt(index),
    columnName: `email_${index}`,
  }))
const tagCount = async (tenant: TenantId) =>
  (
    await store.tenantQuery(
      tenant,
      `select 1 from "TAGGED" where properties::text::jsonb ->> 'path' like 'email%'`,
    )
  ).length

test('many findings are written some at a time, the run ends with the last, and a table learnt amid them has them all', async () => {
  const tenant = (await makeTenant(store, { name: 'many' })).id
  const metadataLocation = 's3://lake/many'
  await enqueueHits(store, tenant, [{ tenant, source: 'storage-event', metadataLocation }])
  const claimed = only(await claim())
  const between: unknown[] = []
  const report = { ...emptyReport, tableUuid: crypto.randomUUID() }
  const scan = { ...done, report, findings: many(60), alert: true }
  const outcome = await finishRun(store, claimed, scan, async (transact) => {
    // What others do between two transactions.
    between.push((await stateOf(claimed.runId, tenant))?.state)
    if (between.length === 2) await enqueueHits(store, tenant, [hit(metadataLocation, tenant)])
    return await transact()
  })
  expect(outcome).toEqual({ recorded: true, alertDue: true })
  expect(new Set(between)).toEqual(new Set(['running']))
  expect(between.length).toBeGreaterThan(3)
  expect((await stateOf(claimed.runId, tenant))?.state).toBe('done')
  expect(await tagCount(tenant)).toBe(60)
})

test('a column of which an attempt was to tell that was lost amid its findings is reported by the next snapshot', async () => {
  const tenant = (await makeTenant(store, { name: 'lost amid' })).id
  const report = { ...emptyReport, tableUuid: crypto.randomUUID() }
  const scan = { ...done, report, findings: many(60), alert: true }
  await enqueueHits(store, tenant, [hit('s3://lake/lost/1', tenant)])
  const lost = only(await claim(-1, 1))
  let turns = 0
  const cutOff = finishRun(store, lost, scan, async (transact) => {
    if (++turns === 2) throw new Error('the process died')
    return await transact()
  })
  expect(await cutOff.catch((thrown: Error) => thrown.message)).toBe('the process died')
  expect(await tagCount(tenant)).toBeGreaterThan(0)
  // As long as its findings are written the claim holds, whatever its lease was.
  expect(await claim(-1, 1)).toEqual([])
  expect((await stateOf(lost.runId, tenant))?.state).toBe('running')
  await store.tenantQuery(
    tenant,
    `update svc.detection_run set lease_until = now() - interval '1 s' where run_id = $1`,
    [lost.runId],
  )
  expect(await claim(-1, 1)).toEqual([])
  expect((await stateOf(lost.runId, tenant))?.state).toBe('failed')
  await enqueueHits(store, tenant, [hit('s3://lake/lost/2', tenant)])
  expect(await finishRun(store, only(await claim()), scan)).toEqual({ recorded: true, alertDue: true })
  await enqueueHits(store, tenant, [hit('s3://lake/lost/3', tenant)])
  expect(await finishRun(store, only(await claim()), scan)).toEqual({ recorded: true, alertDue: false })
})

test('a run whose claimers all vanish fails in the end, with the reason', async () => {
  await enqueueHits(store, home, [hit('s3://lake/3')])
  const { runId } = only(await claim(-1, 2))
  only(await claim(-1, 2))
  expect(await claim(-1, 2)).toEqual([])
  expect(await stateOf(runId)).toEqual({
    state: 'failed',
    reason: 'every process that scanned it was lost',
    attempts: [
      ['retry', 'lost'],
      ['trigger', 'lost'],
    ],
  })
})

test('a retry waits for its time, and a rescan begins again', async () => {
  await enqueueHits(store, home, [hit('s3://lake/4')])
  const first = only(await claim())
  expect(await retryRun(store, first, 'storage failed', 3_600_000)).toBe(true)
  expect(await claim()).toEqual([])
  const conflict = await requestRescan(store, home, table, actorOf('sam')).catch(
    (thrown: { kind: string }) => thrown.kind,
  )
  expect(conflict).toBe('conflict')
  await store.tenantQuery(home, `update svc.detection_run set due_at = now() where run_id = $1`, [
    first.runId,
  ])
  const second = only(await claim())
  await finishRun(store, second, { ...done, reason: 'a file is not there' })
  expect(await requestRescan(store, home, table, actorOf('sam'))).toMatchObject({
    id: first.runId,
    state: 'queued',
  })
  expect(only(await claim())).toMatchObject({ runId: first.runId, tries: 1 })
  expect((await stateOf(first.runId))?.attempts).toEqual([
    ['rescan', undefined],
    ['retry', 'failed'],
    ['trigger', 'failed'],
  ])
})

test('the oldest that wait are claimed, whosever they are, and a tenant whose retry is not due hides nobody', async () => {
  const tenants: TenantId[] = []
  for (const name of ['a', 'b', 'c', 'd'])
    tenants.push((await makeTenant(store, { name: `oldest ${name}` })).id)
  const [a, b, c, d] = tenants.sort() as [TenantId, TenantId, TenantId, TenantId]
  await enqueueHits(store, a, [hit('s3://lake/oldest/retry', a)])
  expect(await retryRun(store, only(await claim()), 'storage failed', 3_600_000)).toBe(true)
  await enqueueHits(store, b, [hit('s3://lake/oldest/suspended', b)])
  await suspendTenant(store, b)
  for (const [tenant, name] of [
    [d, 'first'],
    [c, 'second'],
    [d, 'third'],
    [c, 'fourth'],
  ] as const)
    await enqueueHits(store, tenant, [hit(`s3://lake/oldest/${name}`, tenant)])
  const names = (claims: readonly ClaimedRun[]) =>
    claims.map(({ metadataLocation }) => metadataLocation.split('/').at(-1)).sort()
  expect(names(await claim(60_000, 3, 3))).toEqual(['first', 'second', 'third'])
  expect(names(await claim())).toEqual(['fourth'])
  expect(await claim()).toEqual([])
})

test('a busy tenant does not keep others waiting, and a suspended one is not scanned', async () => {
  await enqueueHits(
    store,
    home,
    Array.from({ length: 20 }, (_, i) => hit(`s3://lake/busy/${i}`)),
  )
  await claim(60_000, 3, 3)
  await enqueueHits(store, foreign, [hit('s3://lake/quiet', foreign)])
  expect((await claim(60_000, 3, 1))[0]?.tenant).toBe(foreign)
  await suspendTenant(store, home)
  expect(await claim()).toEqual([])
})

test('a foreign tenant finds no run of another', async () => {
  const [own] = (await listRuns(store, home)).items
  expect(await findRun(store, foreign, own?.id ?? '')).toBeUndefined()
  expect((await listRuns(store, foreign)).items.every(({ id }) => id !== own?.id)).toBe(true)
})

test('the webhook answers 410 switched off, before all else, and 503 where the store fails', async () => {
  const post = (url: URL, body = '') => fetch(new URL('/v1/webhooks/alpha', url), { method: 'POST', body })
  const off = await startTestService({ env: { SVC_ALPHA_WEBHOOK_ENABLED: '0' } })
  expect((await post(off.app.url)).status).toBe(410)
  await off[Symbol.asyncDispose]()

  const broken = await startTestService({
    wrapStore: (inner) => {
      const failing = failingStore(inner, /insert into svc\.detection_run/)
      return {
        ...failing,
        adminQuery: (text, params) =>
          lookUpFails && text.includes('webhook') === false && text.includes("catalog_kind = 'alpha'")
            ? Promise.reject(new Error('gone'))
            : inner.adminQuery(text, params),
      }
    },
  })
  const { tenant } = broken.owner
  await (await import('../../src/store/catalog-credential/catalog-credentials.ts')).rotateCatalogCredential(
    broken.store,
    tenant,
    'main',
    {
      webhook_secret: 'secret',
    },
  )
  const body = JSON.stringify({ tenant_id: tenant, metadata_location: 's3://lake/x.metadata.json' })
  const signed = () =>
    fetch(new URL('/v1/webhooks/alpha', broken.app.url), {
      method: 'POST',
      body,
      headers: { 'x-alpha-signature': createHmac('sha256', 'secret').update(body).digest('hex') },
    })
  const queueing = await signed()
  expect([queueing.status, queueing.headers.get('retry-after')]).toEqual([503, '1'])
  lookUpFails = true
  expect((await signed()).status).toBe(503)
  await broken[Symbol.asyncDispose]()
})
let lookUpFails = false
