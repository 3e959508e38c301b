/** Breaches of checks are reported to the chat webhook, once each, and what a dead process left is ended by the job. */

import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { CheckRunner } from '../../../src/contract/checks/check-runner.ts'
import { qualityKind } from '../../../src/contract/quality/quality-kind.ts'
import { lastEvent, readEvents } from '../../../src/store/event/events.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { eventually } from '../../support/eventually.ts'
import { contractOf, type QualityWorld, startQualityWorld } from '../quality/world.ts'

setDefaultTimeout(180_000)

let world: QualityWorld
let received: string[] = []
let status = 200
const channel = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1' },
  async fetch(request) {
    received.push(((await request.json()) as { text: string }).text)
    return new Response(null, { status })
  },
})
const logged: string[] = []

beforeAll(async () => {
  const log = createLogger({ level: 'warn', destination: { write: (line) => void logged.push(line) } })
  const chat = new URL('/hooks/s3cret', channel.url).href
  world = await startQualityWorld({ log, env: { SVC_CHAT_WEBHOOK_URL: chat } })
  await world.deploy(
    contractOf('2.0.0', {
      '': '[{id: "<b>*rows*", metric: rowCount, mustBe: 1000}]',
      qty: '[{id: few, metric: nullValues, mustBe: 0}, {id: soft, metric: rowCount, mustBe: 7, severity: warning}]',
    }),
  )
  await work()
  await report()
})
afterAll(async () => {
  await channel.stop(true)
  await world[Symbol.asyncDispose]()
})
beforeEach(() => {
  received = []
  status = 200
})

const work = () => world.lake.app.checks.runner.runDue()
const report = () => world.lake.app.jobs.run('report-checks')
/** Some checks, or all. */
const measure = (checks?: readonly string[]) => world.measure(checks === undefined ? {} : { checks })

test('a run with a missed check is told by names and outcomes, without a number, and once', async () => {
  const run = await measure()
  expect(run.state).toBe('passed' as never)
  await report()
  await report()
  expect(received).toEqual([
    `Checks of sales.orders (orders, version 1): passed\nqty.soft: warned\n${new URL(`/api/v1/checks/runs/${run.id}`, world.lake.app.url).href}`,
  ])
  expect(logged.join('\n')).toContain('checks of a table did not pass')
  expect(logged.join('\n')).not.toContain('s3cret')
})

test('the end of each run is an event for webhooks, by names and states alone', async () => {
  const { store, tenant } = world.lake
  const before = await lastEvent(store, tenant)
  const run = await measure()
  const events = (await readEvents(store, tenant, before)).filter(({ type }) => type === 'checks.ended')
  expect(events.map(({ subject, data }) => [subject, data])).toEqual([
    [
      String(run.id),
      {
        ...{
          run_id: run.id,
          kind: 'quality',
          contract: 'orders',
          number: 1,
          cause: 'request',
          state: 'passed',
        },
        ...{ namespace: ['sales'], table: 'orders', snapshot_id: expect.anything() },
      },
    ],
  ])
  await report()
})

test('a run whose checks all hold is not told, nor one that somebody cancelled', async () => {
  await measure(['qty.few'])
  const asked = { contract: 'orders', namespace: ['sales'], table: 'orders' }
  const [, { id }] = await world.ask('POST', '/api/v1/checks/runs', world.stella, asked)
  expect((await world.ask('POST', `/api/v1/checks/runs/${id}/cancel`, world.stella))[0]).toBe(200)
  await work()
  await report()
  expect(received).toEqual([])
})

test('a channel that fails for a while is told later, one that refuses is not asked again', async () => {
  await measure()
  status = 503
  await report()
  status = 200
  await report()
  expect(received).toHaveLength(2)
  expect(new Set(received).size).toBe(1)

  await measure()
  received = []
  status = 404
  await report()
  status = 200
  await report()
  expect(received).toHaveLength(1)
  expect(logged.join('\n')).toContain('a breach could not be sent')
})

test('the names of checks are no markup', async () => {
  const at = await world.deploy(
    contractOf('3.0.0', { '': '[{id: "<b>*rows*", metric: rowCount, mustBe: 5}]' }),
  )
  await work()
  expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'failed' })
  await report()
  expect(received).toHaveLength(1)
  expect(received[0]).toContain('&lt;b&gt;*\u200brows*\u200b: failed')
})

test('a deployment whose process died after its last check is ended by the job, and once', async () => {
  const { app, store } = world.lake
  const passing = contractOf('4.0.0', { '': '[{id: rows, metric: rowCount, mustBe: 1000}]' })
  const at = await world.deploy(passing)
  // It performs the run, and dies before it ends the deployment.
  const dies = new CheckRunner({
    ...{
      store,
      log: createLogger({ level: 'silent' }),
      metrics: createMetrics(),
      lookMs: 0,
      reads: app.checks.reads,
    },
    kinds: [qualityKind({ now: () => Date.now() })],
    onEnd: () => new Promise(() => {}),
  })
  void dies.runDue()
  const states = async () => {
    const [, runs] = await world.ask('GET', '/api/v1/checks/runs?contract=orders&limit=1', world.stella)
    return (runs.items as unknown as readonly { state: string }[]).map(({ state }) => state)
  }
  await eventually(async () => (await states())[0] === 'passed')
  expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'deploying' })
  await report()
  expect((await world.ask('GET', at, world.stella))[1]).toMatchObject({ state: 'active', unverified: false })
  await report()
  expect(received).toEqual([])
})
