/** The checks behind the probes: a probe is answered in time, and a database that hangs is asked once. */

import { expect, test } from 'bun:test'
import { Fault } from '../../src/base/fault.ts'
import { bounded, type Check, remembered, reported } from '../../src/server/checks.ts'

const failed = (check: Promise<void>): Promise<string> =>
  check.then(
    () => 'passed',
    (fault: Fault) => fault.publicMessage,
  )
const broken = async () => {
  throw new Fault('unavailable', 'The disk is full.')
}

test('a check that never ends fails in time, and is not begun a second time', async () => {
  let begun = 0
  const check = bounded(() => {
    begun++
    return new Promise<never>(() => {})
  }, 1)
  expect(await Promise.all([failed(check()), failed(check())])).toEqual([
    'The check took too long.',
    'The check took too long.',
  ])
  expect(await failed(check())).toBe('The check took too long.')
  expect(begun).toBe(1)
})

test('a check that ends is begun again by the next probe, and its failure is passed on', async () => {
  let begun = 0
  const check = bounded(async () => {
    if (++begun === 1) await broken()
  }, 60_000)
  expect(await failed(check())).toBe('The disk is full.')
  expect(await failed(check())).toBe('passed')
  expect(begun).toBe(2)
})

test('an outcome holds until its time is over, a failure as long as a success', async () => {
  let nowMs = 0
  const outcomes: Check[] = [broken, async () => {}]
  const check = remembered(
    () => outcomes.shift()?.() ?? broken(),
    1_000,
    () => nowMs,
  )
  expect(await failed(check())).toBe('The disk is full.')
  nowMs = 999
  expect(await failed(check())).toBe('The disk is full.')
  nowMs = 1_000
  expect(await failed(check())).toBe('passed')
  nowMs = 1_999
  expect(await failed(check())).toBe('passed')
})

test('a change is reported once, with the fault when it begins', async () => {
  const outcomes: Check[] = [async () => {}, broken, broken, async () => {}, async () => {}]
  const changes: (string | undefined)[] = []
  const check = reported(
    () => outcomes.shift()?.() ?? broken(),
    (fault) => changes.push(fault?.publicMessage),
  )
  const passed: boolean[] = []
  for (const _ of Array.from({ length: 5 })) passed.push(await check())
  expect(passed).toEqual([true, false, false, true, true])
  expect(changes).toEqual(['The disk is full.', undefined])
})
