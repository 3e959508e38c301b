import { expect, test } from 'bun:test'
import { SpacedSends } from '../../src/gateway/base/spaced-sends.ts'

test('what is sent to one table at once is spaced, and what is sent to others does not wait', async () => {
  const waits: number[] = []
  let now = 1_000
  const spaced = new SpacedSends(
    25,
    () => now,
    async (ms) => void waits.push(ms),
  )
  await spaced.take(['a', 'b'])
  await spaced.take(['c'])
  expect(waits).toEqual([])
  await spaced.take(['b', 'd'])
  await spaced.take(['d'])
  expect(waits).toEqual([25, 50])
  now += 100
  await spaced.take(['a', 'b', 'c', 'd'])
  expect(waits).toEqual([25, 50])
})
