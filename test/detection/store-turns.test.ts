/** Detection's store calls run one at a time. */

import { expect, test } from 'bun:test'
import { StoreTurns } from '../../src/detection/store-turns.ts'

test('calls of the store are made one after another, and one that fails holds up none', async () => {
  const turns = new StoreTurns({ clear: async () => {} })
  let open = 0
  const made: number[] = []
  const call = (i: number) => async () => {
    expect(++open).toBe(1)
    made.push(i)
    await Promise.resolve()
    open--
    if (i === 1) throw new Error('gone')
    return i
  }
  const answers = await Promise.allSettled([0, 1, 2, 3].map((i) => turns.take(call(i))))
  expect(answers.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).toEqual([
    0,
    'failed',
    2,
    3,
  ])
  expect(made).toEqual([0, 1, 2, 3])
})
