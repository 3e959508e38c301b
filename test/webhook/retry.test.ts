/** What follows from an attempt to send an event. */

import { describe, expect, test } from 'bun:test'
import type { Attempt } from '../../src/core/webhook.ts'
import { consequenceOf, retryWaitsMs } from '../../src/webhook/retry.ts'

const failed = (more: Partial<Attempt> = {}): Attempt => ({
  ...{ outcome: 'refused', status: 503, at: new Date(0), durationMs: 1, afterMs: 0 },
  ...more,
})
const fresh = { failures: 0, failingMs: 0 }
const middle = () => 0.5
const dayMs = 86_400_000

describe('after a failed attempt', () => {
  test('the waits grow, and after the last the event is dead', () => {
    const all = Array.from({ length: retryWaitsMs.length + 1 }, (_, tries) =>
      consequenceOf(failed(), tries, fresh, middle),
    )
    expect(all.map(({ retryMs }) => retryMs)).toEqual([...retryWaitsMs, 0])
    expect(retryWaitsMs).toEqual(retryWaitsMs.toSorted((a, b) => a - b))
    expect(all.map(({ state }) => state)).toEqual([...retryWaitsMs.map(() => 'waiting' as const), 'dead'])
  })

  test('a wait is a fifth more or less', () => {
    expect(consequenceOf(failed(), 0, fresh, () => 0).retryMs).toBe(4_000)
    expect(consequenceOf(failed(), 0, fresh, () => 1).retryMs).toBe(6_000)
  })

  test('the webhook rests twice as long each time, for five minutes at most', () => {
    const rest = (failures: number) =>
      consequenceOf(failed(), 0, { failures, failingMs: 0 }, middle).restMs / 1_000
    expect([0, 1, 2, 3, 6, 7, 1_000].map(rest)).toEqual([5, 10, 20, 40, 300, 300, 300])
  })

  test('what the receiver asks for is heeded, for a day at most', () => {
    expect(consequenceOf(failed({ afterMs: 3_600_000 }), 0, fresh, middle)).toMatchObject({
      retryMs: 3_600_000,
      restMs: 3_600_000,
    })
    expect(consequenceOf(failed({ afterMs: 30 * dayMs }), 0, fresh, middle).retryMs).toBe(dayMs)
  })

  test('the webhook ends by 410, or where it failed often for five days', () => {
    const ends = (attempt: Attempt, failures: number, days: number) =>
      consequenceOf(attempt, 0, { failures, failingMs: days * dayMs }, middle).ends
    expect(ends(failed({ status: 410 }), 0, 0)).toBe('gone')
    expect(ends(failed(), 50, 6)).toBe('failing')
    expect(ends(failed(), 3, 6)).toBeUndefined()
    expect(ends(failed(), 50, 4)).toBeUndefined()
  })
})
