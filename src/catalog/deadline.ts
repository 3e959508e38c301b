/**
 * The deadline of one exchange, which can be disposed. `AbortSignal.timeout` holds its timer, and all that its signal
 * references, until the time is over: a minute of commits would stay in memory.
 */

interface Deadline extends Disposable {
  /** Aborted by the deadline, with a TimeoutError, or by the caller, with the caller's reason. */
  readonly signal: AbortSignal
}

/** Starts a deadline. Disposing of it stops the timer, and the signal is never aborted afterwards. */
export function startDeadline(ms: number, callerSignal: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  const onAbort = () => controller.abort(callerSignal?.reason)
  const timer = setTimeout(
    () => controller.abort(new DOMException('The deadline has passed.', 'TimeoutError')),
    ms,
  )
  if (callerSignal?.aborted) onAbort()
  else callerSignal?.addEventListener('abort', onAbort, { once: true })
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      callerSignal?.removeEventListener('abort', onAbort)
    },
  }
}
