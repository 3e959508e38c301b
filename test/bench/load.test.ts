/** The load loops, on exchanges that the test ends itself. */

import { expect, test } from 'bun:test'
import { closedLoop, openLoop } from '../../bench/load.ts'

test('a closed loop has one exchange a worker under way, and gives every time', async () => {
  const underWay = [0, 0, 0]
  let mostTogether = 0
  const exchanges = underWay.map((_, worker) => async () => {
    underWay[worker] = (underWay[worker] ?? 0) + 1
    expect(underWay[worker]).toBe(1)
    mostTogether = Math.max(
      mostTogether,
      underWay.reduce((sum, count) => sum + count, 0),
    )
    await Promise.resolve()
    underWay[worker] = 0
    return worker
  })
  expect(await closedLoop(exchanges, 4)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
  expect(mostTogether).toBe(3)
})

test('an open loop counts the time that an exchange waited for a worker', async () => {
  const stall = Promise.withResolvers<void>()
  let begun = 0
  const exchange = async () => {
    begun++
    if (begun === 1) await stall.promise
    return 0
  }
  // At a million a second all are due at once; the one worker stalls on the first.
  const loop = openLoop([exchange], 1e6, 3)
  const stalledMs = 20
  const startMs = performance.now()
  while (performance.now() - startMs < stalledMs) await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toBe(1)
  stall.resolve()
  const { times, lateness } = await loop
  expect(begun).toBe(3)
  expect(times).toHaveLength(3)
  expect(lateness).toHaveLength(3)
  for (const time of times) expect(time).toBeGreaterThanOrEqual(stalledMs - 1)
})

test('a failed exchange fails the loop', async () => {
  const failing = () => Promise.reject(new Error('refused'))
  await expect(closedLoop([failing], 1)).rejects.toThrow('refused')
  await expect(openLoop([failing], 1e6, 2)).rejects.toThrow('refused')
})
