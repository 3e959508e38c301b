/** A queue in which owners take turns. */

import { expect, test } from 'bun:test'
import { FairQueue } from '../../src/base/fair-queue.ts'

const drain = (queue: FairQueue<string, string>) => {
  const order: string[] = []
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) order.push(next)
  return order
}

test('an owner with much waiting delays another by one turn', () => {
  const queue = new FairQueue<string, string>()
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.push('a', item)
  queue.push('b', 'b1')
  queue.push('c', 'c1')
  queue.push('b', 'b2')
  expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
})

test('what is removed has no turn, and leaves the order of the others', () => {
  const queue = new FairQueue<string, string>()
  for (const [owner, item] of [
    ['a', 'a1'],
    ['a', 'a2'],
    ['b', 'b1'],
  ] as const)
    queue.push(owner, item)
  expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('c', 'c1')]).toEqual([
    true,
    false,
    false,
  ])
  expect({ count: queue.count, ofA: queue.countOf('a'), ofC: queue.countOf('c') }).toEqual({
    count: 2,
    ofA: 1,
    ofC: 0,
  })
  expect(drain(queue)).toEqual(['a2', 'b1'])
})

test('where the queue is full there is room for an owner of whom nothing waits, and for no other', () => {
  const queue = new FairQueue<string, string>()
  for (const item of ['a1', 'a2']) queue.push('a', item)
  expect([
    queue.hasRoom('a', 3),
    queue.hasRoom('a', 2),
    queue.hasRoom('b', 2),
    queue.hasRoom('b', 0),
  ]).toEqual([true, false, true, false])
})
