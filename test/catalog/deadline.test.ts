/** The deadline of one upstream call: it ends the call, the caller may end it earlier, and it ends with the call. */

import { expect, test } from 'bun:test'
import { startDeadline } from '../../src/catalog/deadline.ts'

const aborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    else signal.addEventListener('abort', () => resolve(signal.reason))
  })

test('once the time is over the signal is aborted with a TimeoutError', async () => {
  using deadline = startDeadline(1, undefined)
  expect(await aborted(deadline.signal)).toMatchObject({ name: 'TimeoutError' })
})

test('a caller who leaves aborts it with a reason of his own, before or after it began', async () => {
  const reason = new Error('gone')
  const caller = new AbortController()
  using during = startDeadline(60_000, caller.signal)
  caller.abort(reason)
  expect(await aborted(during.signal)).toBe(reason)
  using after = startDeadline(60_000, caller.signal)
  expect(await aborted(after.signal)).toBe(reason)
})

test('when the call is over neither the time nor the caller aborts it any more', async () => {
  const caller = new AbortController()
  const over = startDeadline(1, caller.signal)
  over[Symbol.dispose]()
  using later = startDeadline(2, undefined)
  await aborted(later.signal)
  caller.abort(new Error('gone'))
  expect(over.signal.aborted).toBe(false)
})
