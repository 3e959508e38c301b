/** The order in which sessions get their turns. */

import { expect, test } from 'bun:test'
import { FairTurns } from '../../src/base/fair-turns.ts'

test('a tenant with much waiting holds up others for one turn, and works on when nobody else waits', async () => {
  let now = 0
  const turns = new FairTurns<string>(100, () => now)
  const done: string[] = []
  const take = (owner: string, ms: number) =>
    turns.take(owner, async () => {
      now += ms
      done.push(owner)
    })
  const all = [
    ...Array.from({ length: 6 }, () => take('a', 60)),
    take('b', 10),
    take('b', 10),
    take('c', 500),
  ]
  await Promise.all(all)
  expect(done.join('')).toBe('aabbcaaaa')
  await Promise.all([take('c', 1), take('a', 1)])
  expect(done.slice(-2)).toEqual(['c', 'a'])
})

test('work never overlaps, and goes on after what has failed', async () => {
  const turns = new FairTurns<number>(0, () => 0)
  let underWay = 0
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      turns.take(index % 3, async () => {
        expect(++underWay).toBe(1)
        await Promise.resolve()
        underWay--
        if (index % 4 === 0) throw new Error('failed')
        return index
      }),
    ),
  )
  expect(outcomes.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'))).toEqual(
    Array.from({ length: 20 }, (_, index) => (index % 4 === 0 ? 'failed' : index)),
  )
})
