/** Rows of a run that has ended are checked as long as they are held. */

import { describe, expect, test } from 'bun:test'
import { SqlError } from '../../../../src/query/compile/base/sql-error.ts'
import { checkHeld } from '../../../../src/query/run/watch/held-check.ts'

const idleMs = 1_000

function held(look: () => Promise<void> | undefined = () => undefined) {
  let nowMs = 0
  const confirm = checkHeld({ look }, { now: () => nowMs }, idleMs)
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { confirm, pass }
}

describe('rows that are held', () => {
  test('are given as long as they are asked for in time', () => {
    const { confirm, pass } = held()
    for (let step = 0; step < 3; step++) {
      pass(idleMs)
      expect(confirm()).toBeUndefined()
    }
  })

  test('are given no more once nobody has asked for them for too long', async () => {
    const { confirm, pass } = held()
    pass(idleMs + 1)
    for (let step = 0; step < 2; step++) await expect(confirm()).rejects.toMatchObject({ sqlState: '57014' })
  })

  test('are given no more after a check that failed, though the next would pass', async () => {
    const failures = [new SqlError('55000', 'changed')]
    const { confirm } = held(() => {
      const failure = failures.pop()
      return failure && Promise.reject(failure)
    })
    for (let step = 0; step < 2; step++) await expect(confirm()).rejects.toMatchObject({ sqlState: '55000' })
  })
})
