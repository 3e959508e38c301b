/** Jobs stand back for requests. */

import { expect, test } from 'bun:test'
import { RightOfWay } from '../../src/base/right-of-way.ts'
import { startJobs } from '../../src/server/jobs.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { handPace } from '../support/hand-pace.ts'

const quietMs = 100
const waitMsMax = 10_000

function sweepJob(requests: RightOfWay, run: () => void) {
  const never = '0 0 1 1 *'
  const alone = async (_name: string, work: (signal: AbortSignal) => Promise<void>) => {
    await work(new AbortController().signal)
    return true
  }
  const job = { name: 'sweep', schedule: never, run: async () => run() }
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
