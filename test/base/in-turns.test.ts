/** Work over many items in turns: how many items a turn takes, in which order, and when it ends early. */

import { describe, expect, test } from 'bun:test'
import { eachInTurns, filterInTurns, joinInTurns, mapInTurns, turnItemsMax } from '../../src/base/in-turns.ts'
import { itemsOfTurns } from '../support/turns.ts'

const numbers = Array.from({ length: 10 * turnItemsMax }, (_, at) => at)

describe('work in turns', () => {
  test('never does more items in one turn than a turn may take', async () => {
    const turns = itemsOfTurns()
    await eachInTurns(numbers, undefined, turns.touch)
    expect(turns.most()).toBeLessThanOrEqual(turnItemsMax)
    expect(turns.all()).toBe(numbers.length)
  })

  test('gives its results in the order of the items', async () => {
    expect(await mapInTurns(numbers, undefined, (number) => number * 2)).toEqual(numbers.map((n) => n * 2))
    expect(await filterInTurns(numbers, undefined, (n) => n % 3 === 0)).toEqual(
      numbers.filter((n) => n % 3 === 0),
    )
    expect(await joinInTurns(numbers, ', ', undefined, String)).toBe(numbers.join(', '))
    expect(await joinInTurns([], ', ', undefined, String)).toBe('')
  })

  test('ends in the next turn after its signal fired', async () => {
    const stop = new AbortController()
    let done = 0
    const work = eachInTurns(numbers, stop.signal, () => {
      if (++done === 1) stop.abort(new Error('left'))
    })
    expect(work).rejects.toThrow('left')
    await work.catch(() => {})
    expect(done).toBeLessThanOrEqual(turnItemsMax)
  })
})
