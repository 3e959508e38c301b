/** Check runs: one at a time for a table, resumed after their last finished step, cancelled, scheduled, settled. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Fault } from '../../../src/base/fault.ts'
import { TableStates } from '../../../src/catalog/table-states.ts'
import { CheckRunner, type CheckRunnerParts } from '../../../src/contract/checks/check-runner.ts'
import type { RunStep } from '../../../src/contract/checks/run-kind.ts'
import { scheduleChecks } from '../../../src/contract/quality/schedule-checks.ts'
import type { CheckFinding } from '../../../src/core/check-run.ts'
import { findCatalogCredential } from '../../../src/store/catalog-credential/catalog-credentials.ts'
import { claimCheckRun, finishStep } from '../../../src/store/check/check-runs.ts'
import { openIntent } from '../../../src/store/commit/commit-intents.ts'
import { recordVerdict } from '../../../src/store/commit/verdicts.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { rejectsWhenAborted } from '../../support/aborted.ts'
import { requestRun } from '../../support/check-rows.ts'
import { approvedOf, intentOf } from '../../support/commits.ts'
import { contractOf, type Json, type QualityWorld, startQualityWorld } from '../quality/world.ts'

setDefaultTimeout(180_000)

const log = createLogger({ level: 'silent' })
let world: QualityWorld
beforeAll(async () => {
  world = await startQualityWorld()
  await world.deploy(
    contractOf('2.0.0', {
      '': `[{id: rows, metric: rowCount, mustBe: 1000, schedule: 0 3 * * *, scheduler: cron}]`,
      qty: '[{id: nulls, metric: nullValues, mustBe: 0, schedule: commit}, {id: other, metric: nullValues, mustBe: 0}]',
    }),
  )
  await world.lake.app.checks.runner.runDue()
})
afterAll(() => world[Symbol.asyncDispose]())

const finding: CheckFinding = {
  ...{
    key: 'k',
    element: '',
    metric: 'm',
    severity: 'error',
    outcome: 'passed',
    fieldIds: [],
    custom: false,
  },
}

/** A runner whose runs have these steps. */
function runnerOf(steps: readonly RunStep[], more: Partial<CheckRunnerParts> = {}): CheckRunner {
  const { store } = world.lake
  return new CheckRunner({
    ...{ store, log, metrics: createMetrics(), lookMs: 0, retryMs: 0, onEnd: async () => {} },
    kinds: [{ name: 'quality', open: async () => steps }],
    reads: { open: async () => ({}) as never },
    ...more,
  })
}
const step = (key: string, run: (signal: AbortSignal) => Promise<void> = async () => {}): RunStep => ({
  key,
  run: async (signal) => {
    await run(signal)
    return { findings: [{ ...finding, key }], rows: 5, bytes: 7 }
  },
})
async function wanted(): Promise<string> {
  const { store, tenant } = world.lake
  return await requestRun(store, tenant, { contract: 'orders', number: 1, catalog: 'lake' })
}
const shown = async (id: string) =>
  (await world.ask('GET', `/api/v1/checks/runs/${id}`, world.stella))[1] as Json & {
    readonly results: readonly { readonly key: string }[]
  }

test('a run whose process died goes on after its last finished step, under another lease', async () => {
  const id = await wanted()
  const { store } = world.lake
  const lost = await claimCheckRun(store, -1_000)
  expect(lost?.runId).toBe(id)
  if (lost === undefined) return
  // Only a lease that is still held may write.
  expect(
    await finishStep(store, lost, { key: 'a', ms: 1, result: { findings: [{ ...finding, key: 'a' }] } }),
  ).toBe(true)
  const done: string[] = []
  const noted = (key: string) => step(key, async () => void done.push(key))
  await runnerOf([noted('a'), noted('b')]).runDue()
  expect(done).toEqual(['b'])
  expect(await shown(id)).toMatchObject({ state: 'passed', progress: { steps: 2, steps_done: 2 } })
  expect((await shown(id)).results.map(({ key }) => key)).toEqual(['a', 'b'])
  expect(await finishStep(store, lost, { key: 'c', ms: 1, result: { findings: [] } })).toBe(false)
})

test('the end of each attempt is counted, by kind and outcome', async () => {
  const metrics = createMetrics()
  const counted = async () =>
    Object.fromEntries(
      (await metrics.checkRuns.get()).values
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [`${labels.kind} ${labels.outcome}`, value]),
    )
  await wanted()
  await runnerOf([step('a')], { metrics }).runDue()
  expect(await counted()).toEqual({ 'quality passed': 1 })
  const failing = (first: Error): RunStep => {
    let thrown = false
    return step('b', async () => {
      if (thrown) throw new Fault('forbidden', 'No.')
      thrown = true
      throw first
    })
  }
  await wanted()
  await runnerOf([failing(new Fault('unavailable', 'Later.'))], { metrics }).runDue()
  expect(await counted()).toEqual({ 'quality passed': 1, 'quality retried': 1, 'quality error': 1 })
  const [{ value } = { value: 0 }] = (await metrics.checkRunSeconds.get()).values.filter(
    ({ metricName }) => metricName === 'svc_check_run_duration_seconds_count',
  )
  expect(value).toBe(3)
})

test('two runs of one table are never under way together', async () => {
  const { store } = world.lake
  const [first, second] = [await wanted(), await wanted()]
  const claimed = await claimCheckRun(store, 60_000)
  expect(claimed?.runId).toBe(first)
  expect(await claimCheckRun(store, 60_000)).toBeUndefined()
  expect((await world.ask('POST', `/api/v1/checks/runs/${second}/cancel`, world.stella))[1]).toMatchObject({
    state: 'cancelled',
  })
  const { endCheckRun } = await import('../../../src/store/check/check-runs.ts')
  if (claimed !== undefined) await endCheckRun(store, claimed)
})

test('a run is cancelled between its steps, and resumed after the last one that was done', async () => {
  const id = await wanted()
  const done: string[] = []
  const cancelled = runnerOf(
    [
      step('a', async () => void done.push('a')),
      step('b', async (signal) => {
        await world.ask('POST', `/api/v1/checks/runs/${id}/cancel`, world.stella)
        await rejectsWhenAborted(signal)
      }),
    ],
    { leaseMs: 60 },
  )
  await cancelled.runDue()
  expect(await shown(id)).toMatchObject({
    state: 'cancelled',
    progress: { steps: 2, steps_done: 1, bytes: '7' },
  })
  expect((await world.ask('POST', `/api/v1/checks/runs/${id}/resume`, world.stella))[0]).toBe(200)
  await runnerOf([step('a', async () => void done.push('again')), step('b')]).runDue()
  expect(await shown(id)).toMatchObject({
    state: 'passed',
    progress: { steps_done: 2, rows: '5', bytes: '14' },
  })
  expect(done).toEqual(['a'])
})

test('what fails for a while is tried again, and given up as an error, never as passed', async () => {
  const id = await wanted()
  let tries = 0
  const failing = runnerOf([
    step('a', async () => {
      tries++
      throw new Error('away')
    }),
  ])
  await failing.runDue()
  expect(tries).toBe(5)
  expect(await shown(id)).toMatchObject({ state: 'error', reason: 'internal', results: [] })
})

test('a run that takes too long ends in error', async () => {
  const id = await wanted()
  const waits = step('a', rejectsWhenAborted)
  await runnerOf([waits], { runMs: 1 }).runDue()
  expect(await shown(id)).toMatchObject({ state: 'error', reason: 'time limit' })
})

test('a cron pattern makes one run of its checks when it came due, and a commit one of its snapshot', async () => {
  const { store, tenant, app } = world.lake
  const states = new TableStates(app.gateway.catalogs, 1_000_000)
  const at = (text: string) => ({ store, states, log, clock: { now: () => Date.parse(text) } })
  const runs = async () => {
    const [, { items }] = await world.ask('GET', '/api/v1/checks/runs?contract=orders', world.stella)
    return (items as unknown as Json[]).filter(({ cause }) => cause === 'schedule' || cause === 'commit')
  }
  await scheduleChecks(at('2026-01-01T00:00:00Z'), tenant)
  await scheduleChecks(at('2026-01-01T02:59:00Z'), tenant)
  expect(await runs()).toEqual([])
  await scheduleChecks(at('2026-01-03T03:01:00Z'), tenant)
  await scheduleChecks(at('2026-01-03T03:02:00Z'), tenant)
  expect(await runs()).toMatchObject([{ cause: 'schedule', state: 'queued' }])

  const credential = await findCatalogCredential(store, tenant, 'lake')
  const [, run] = await world.ask('GET', `/api/v1/checks/runs/${(await runs())[0]?.id}`, world.stella)
  const moves = `{"updates":[{"action":"set-snapshot-ref","ref-name":"main","snapshot-id":${run.snapshot_id}}]}`
  for (const body of [moves, '{"updates":[]}']) {
    const intent = intentOf({
      ...{ table: { namespace: ['sales'], name: 'orders' }, body: Bun.zstdCompressSync(body) },
      credentialId: credential?.id ?? '',
    })
    await openIntent(store, tenant, intent)
    await recordVerdict(store, tenant, approvedOf(intent))
  }
  await scheduleChecks(at('2026-01-03T03:03:00Z'), tenant)
  await scheduleChecks(at('2026-01-03T03:04:00Z'), tenant)
  expect(await runs()).toMatchObject([
    { cause: 'commit', state: 'queued', snapshot_id: run.snapshot_id },
    { cause: 'schedule' },
  ])
  await app.checks.runner.runDue()
  const [ofCommit, ofCron] = await runs()
  const keys = async (one: Json | undefined) => (await shown(String(one?.id))).results.map(({ key }) => key)
  expect(await keys(ofCommit)).toEqual(['readable', 'qty.nulls'])
  expect(await keys(ofCron)).toEqual(['readable', 'rows'])
})
