/** Less urgent work waits for urgent work, but not for ever. */

import { expect, test } from 'bun:test'
import { RightOfWay } from '../../src/base/right-of-way.ts'
import { handPace } from '../support/hand-pace.ts'

const options = { quietMs: 100, waitMsMax: 1_000 }

function commitAtWork(way: RightOfWay) {
  const commit = Promise.withResolvers<void>()
  const done = way.during(() => commit.promise)
  return async () => {
    commit.resolve()
    await done
  }
}

test('where nothing has been at work nobody waits', async () => {
  const pace = handPace()
  await new RightOfWay(options, pace).standBack().clear()
  expect(pace.now()).toBe(0)
})

test('what stands back goes on once it has been quiet for as long as it must', async () => {
  const pace = handPace()
  const way = new RightOfWay(options, pace)
  const [end, endOther] = [commitAtWork(way), commitAtWork(way)]
  let isClear = false
  const clear = way
    .standBack()
    .clear()
    .then(() => {
      isClear = true
    })
  await pace.slept()
  await end()
  await pace.slept()
  expect(isClear).toBe(false)
  await endOther()
  const endedMs = pace.now()
  await clear
  expect(pace.now() - endedMs).toBe(100)
})

test('a commit that fails has ended, too', async () => {
  const pace = handPace()
  const way = new RightOfWay(options, pace)
  const failure = await way
    .during(() => Promise.reject(new Error('refused')))
    .catch((err: Error) => err.message)
  expect(failure).toBe('refused')
  expect(way.restMs).toBe(100)
  pace.advance(100)
  expect(way.restMs).toBe(0)
})

test('patience begins with the first wait, ends for good and is whole again once renewed', async () => {
  const pace = handPace()
  const way = new RightOfWay(options, pace)
  commitAtWork(way)
  const standBack = way.standBack()
  await standBack.clear()
  expect(pace.now()).toBe(1_000)
  await standBack.clear()
  expect(pace.now()).toBe(1_000)
  standBack.renew()
  await standBack.clear()
  expect(pace.now()).toBe(2_000)
})

test('at the end nobody stands back any more', async () => {
  const pace = handPace()
  const way = new RightOfWay({ ...options, waitMsMax: Number.POSITIVE_INFINITY }, pace)
  commitAtWork(way)
  const clear = way.standBack().clear()
  await pace.slept()
  way.end()
  await clear
})
