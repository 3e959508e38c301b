/** Waits for work that a signal may abort. */

import { describe, expect, test } from 'bun:test'
import { unlessAborted } from '../../src/base/unless-aborted.ts'

describe('a wait for work', () => {
  test('has the outcome of the work', async () => {
    const { signal } = new AbortController()
    expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1)
    expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken')
  })

  test('is rejected with the reason of a signal that fired before or fires while it waits', async () => {
    const stop = new AbortController()
    const never = new Promise<void>(() => {})
    const waits = [unlessAborted(never, stop.signal), unlessAborted(never, stop.signal)]
    stop.abort(new Error('left'))
    const settled = await Promise.allSettled([...waits, unlessAborted(never, stop.signal)])
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    for (const wait of settled) expect(wait).toMatchObject({ reason: new Error('left') })
  })

  test('ignores a failure of work after the signal fired', async () => {
    const stop = new AbortController()
    const { promise, reject } = Promise.withResolvers<void>()
    const wait = unlessAborted(promise, stop.signal)
    stop.abort(new Error('left'))
    reject(new Error('late'))
    expect(wait).rejects.toThrow('left')
  })

  test('adds one listener to the signal, however many wait', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    await Promise.all(Array.from({ length: 1000 }, (_, at) => unlessAborted(Promise.resolve(at), signal)))
    expect(listeners).toBe(1)
  })
})
