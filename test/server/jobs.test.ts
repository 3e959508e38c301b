/** Background jobs give way to requests, and end with the service. */

import { expect, test } from 'bun:test'
import { AsyncLocalStorage } from 'node:async_hooks'
import { RightOfWay } from '../../src/base/right-of-way.ts'
import { type JobGauges, startJobs, type WithReplicaLock } from '../../src/server/jobs.ts'
import { findJobGauge, putJobGauge } from '../../src/store/jobs/job-gauges.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { aborted } from '../support/aborted.ts'
import { handPace } from '../support/hand-pace.ts'
import { openTestStore } from '../support/store.ts'

const quietMs = 100
const waitMsMax = 10_000

const noGauges = { keep: async () => {}, find: async () => undefined }

function sweepJob(requests: RightOfWay, run: (signal: AbortSignal) => void | Promise<void>) {
  const never = '0 0 1 1 *'
  const alone = async (_name: string, work: (signal: AbortSignal) => Promise<void>) => {
    await work(new AbortController().signal)
    return true
  }
  const job = { name: 'sweep', schedule: never, run: async (signal: AbortSignal) => run(signal) }
  return startJobs([job], alone, noGauges, requests, createLogger({ level: 'silent' }))
}

test('a job does not begin while a commit is at work, nor right after it', async () => {
  const pace = handPace()
  const requests = new RightOfWay({ quietMs, waitMsMax }, pace)
  const commit = Promise.withResolvers<void>()
  const committed = requests.during(() => commit.promise)
  let begunMs: number | undefined
  const jobs = sweepJob(requests, () => {
    begunMs = pace.now()
  })
  const ran = jobs.run('sweep')
  await pace.slept()
  expect(begunMs).toBeUndefined()
  const endedMs = pace.now()
  commit.resolve()
  await committed
  await ran
  expect(begunMs).toBe(endedMs + quietMs)
  await jobs.stop()
})

test('a job that a request wakes has nothing of the request: neither its trace nor its memory', async () => {
  const request = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const jobs = sweepJob(new RightOfWay({ quietMs, waitMsMax }, handPace()), () => {
    seen.push(request.getStore())
  })
  await request.run('of a request', () => jobs.run('sweep'))
  expect(seen).toEqual([undefined])
  await jobs.stop()
})

test('a job begins in the end, however busy the service is', async () => {
  const pace = handPace()
  const requests = new RightOfWay({ quietMs, waitMsMax }, pace)
  void requests.during(() => new Promise<void>(() => {}))
  let begunMs: number | undefined
  const jobs = sweepJob(requests, () => {
    begunMs = pace.now()
  })
  await jobs.run('sweep')
  expect(begunMs).toBe(waitMsMax)
  await jobs.stop()
})

test('a job that is under way when the service stops is told to end', async () => {
  const begun = Promise.withResolvers<void>()
  const jobs = sweepJob(new RightOfWay({ quietMs, waitMsMax }, handPace()), async (signal) => {
    begun.resolve()
    await aborted(signal)
  })
  const ran = jobs.run('sweep')
  await begun.promise
  await jobs.stop()
  await ran
})

test('a job for every replica runs where another one holds its lock, and shares no gauge', async () => {
  let runs = 0
  const job = {
    ...{ name: 'measure', schedule: '0 0 1 1 *', everyReplica: true as const },
    run: async () => {
      runs += 1
    },
  }
  const held: WithReplicaLock = async () => false
  const quiet = new RightOfWay({ quietMs: 0, waitMsMax: 0 })
  const jobs = startJobs([job], held, noGauges, quiet, createLogger({ level: 'silent' }))
  await jobs.run('measure')
  await jobs.run('measure')
  expect(runs).toBe(2)
  await jobs.stop()
})

test('a replica shows what a run left on another one, and no longer what its own had left before', async () => {
  await using store = await openTestStore()
  const gauges: JobGauges = {
    keep: (job, value) => putJobGauge(store, job, value),
    find: (job) => findJobGauge(store, job),
  }
  const quiet = new RightOfWay({ quietMs: 0, waitMsMax: 0 })
  let elected = 0
  const lefts = [3, 0]
  const replicas = [0, 1].map((replica) => {
    const gauge = createMetrics().lineageCycles
    const job = {
      name: 'sweep',
      schedule: '0 0 1 1 *',
      run: async () => gauge.set(lefts.shift() ?? Number.NaN),
      gauge,
    }
    const withLock: WithReplicaLock = async (_, work) => {
      if (replica === elected) await work(new AbortController().signal)
      return replica === elected
    }
    return { gauge, jobs: startJobs([job], withLock, gauges, quiet, createLogger({ level: 'silent' })) }
  })
  const shown = async () => {
    for (const { jobs } of replicas) await jobs.run('sweep')
    const values = await Promise.all(replicas.map(({ gauge }) => gauge.get()))
    return values.map(({ values: [one] }) => one?.value)
  }
  expect(await shown()).toEqual([3, 3])
  elected = 1
  // The first asks before the second has run: what is known by then is what it left itself.
  expect(await shown()).toEqual([3, 0])
  for (const { jobs } of replicas) await jobs.stop()
  const [first] = replicas
  elected = -1
  await first?.jobs.run('sweep')
  expect((await first?.gauge.get())?.values[0]?.value).toBe(0)
})

test('a job may have several gauges, each shared by its place', async () => {
  const stored = new Map<string, number>()
  const gauges: JobGauges = {
    keep: async (name, value) => void stored.set(name, value),
    find: async (name) => stored.get(name),
  }
  const replicas = [true, false].map((isElected) => {
    const { auditUnsigned, auditWaiting } = createMetrics()
    const run = async () => {
      auditUnsigned.set(2)
      auditWaiting.set(60)
    }
    const job = { name: 'prove', schedule: '0 0 1 1 *', run, gauge: [auditUnsigned, auditWaiting] }
    const withLock: WithReplicaLock = async (_, work) => {
      if (isElected) await work(new AbortController().signal)
      return isElected
    }
    const quiet = new RightOfWay({ quietMs: 0, waitMsMax: 0 })
    return { job, jobs: startJobs([job], withLock, gauges, quiet, createLogger({ level: 'silent' })) }
  })
  for (const { job, jobs } of replicas) {
    await jobs.run('prove')
    const values = await Promise.all(job.gauge.map((gauge) => gauge.get()))
    expect(values.map(({ values: [one] }) => one?.value)).toEqual([2, 60])
    await jobs.stop()
  }
})
