/** Waits for work until a signal aborts the wait. */

/**
 * Rejections of the waits for one signal. They share one listener: with a listener for each wait, adding them took
 * time that grew with the square of their number, 17 s for 50,000 files.
 */
const waiting = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>()

/**
 * The outcome of `work`, or a rejection with the signal's reason as soon as it fires. The outcome of `work` after that,
 * failure included, is ignored.
 */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {})
    return Promise.reject(signal.reason)
  }
  return new Promise((resolve, reject) => {
    const waits = waitsFor(signal)
    waits.add(reject)
    work.then(resolve, reject).finally(() => waits.delete(reject))
  })
}

function waitsFor(signal: AbortSignal): Set<(reason: unknown) => void> {
  const known = waiting.get(signal)
  if (known !== undefined) return known
  const waits = new Set<(reason: unknown) => void>()
  waiting.set(signal, waits)
  signal.addEventListener(
    'abort',
    () => {
      for (const reject of waits) reject(signal.reason)
      waits.clear()
    },
    { once: true },
  )
  return waits
}
