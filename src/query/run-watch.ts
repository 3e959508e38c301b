/** The end of a run by its client or by its time, as one signal that everything the run waits for is raced against. */

import { SqlError } from './sql-error.ts'

export interface RunWatch {
  /** Fires when the client cancels or the time is up. */
  readonly signal: AbortSignal
  /** Why it fired; undefined where it has not. */
  reason(): SqlError | undefined
  /** `work`, or as soon as the signal fires, its reason: what does not heed the signal holds nobody up. */
  race<T>(work: Promise<T>): Promise<T>
  /** Stops watching. */
  end(): void
}

/** @param timeMs milliseconds that the run may take */
export function watchRun(client: AbortSignal, timeMs: number): RunWatch {
  const controller = new AbortController()
  const aborted = Promise.withResolvers<never>()
  aborted.promise.catch(() => {})
  let reason: SqlError | undefined
  const stop = (message: string) => {
    if (reason !== undefined) return
    reason = new SqlError('57014', message)
    aborted.reject(reason)
    controller.abort(reason)
  }
  const onCancel = () => stop('canceling statement due to user request')
  const timer = setTimeout(() => stop('canceling statement due to statement timeout'), timeMs)
  client.addEventListener('abort', onCancel, { once: true })
  if (client.aborted) onCancel()
  return {
    signal: controller.signal,
    reason: () => reason,
    race(work) {
      work.catch(() => {})
      return reason === undefined ? Promise.race([work, aborted.promise]) : Promise.reject(reason)
    },
    end() {
      clearTimeout(timer)
      client.removeEventListener('abort', onCancel)
    },
  }
}
