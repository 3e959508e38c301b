/** Waits for an abort signal, also for one that fired before the wait began: such a signal tells nothing any more. */

/** Resolves once the signal has fired. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Rejects with the signal's reason once it has fired. */
export async function rejectsWhenAborted(signal: AbortSignal): Promise<never> {
  await aborted(signal)
  throw signal.reason
}
