/** Jobs stand back for requests, and end with the service. */

import { expect, test } from 'bun:test'
import { RightOfWay } from '../../src/base/right-of-way.ts'
import { startJobs } from '../../src/server/jobs.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { handPace } from '../support/hand-pace.ts'

const quietMs = 100
const waitMsMax = 10_000

function sweepJob(requests: RightOfWay, run: (signal: AbortSignal) => void | Promise<void>) {
  const never = '0 0 1 1 *'
  const alone = async (_name: string, work: (signal: AbortSignal) => Promise<void>) => {
    await work(new AbortController().signal)
    return true
  }
  const job = { name: 'sweep', schedule: never, run: async (signal: AbortSignal) => run(signal) }
  return startJobs([job], alone, requests, createLogger({ level: 'silent' }))
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
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  })
  const ran = jobs.run('sweep')
  await begun.promise
  await jobs.stop()
  await ran
})
