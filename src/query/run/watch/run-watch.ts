/**
 * Ends a run when its client cancels, its time is up or its check fails. All three become one signal, against which
 * the run races everything that it waits for.
 */

import { SqlError } from '../../compile/base/sql-error.ts'
import { notFetched } from './held-check.ts'
import type { RunCheck } from './run-check.ts'

export interface RunWatch {
  /** Fires when the client cancels, the time is up, or the run may not go on. */
  readonly signal: AbortSignal
  /** Why the signal fired; undefined where it has not. */
  reason(): SqlError | undefined
  /** Whether the signal fired for another reason than the client's cancel. */
  isEndedByService(): boolean
  /** Resolves with `work`, or rejects as soon as the signal fires, because some work ignores the signal. */
  race<T>(work: Promise<T>): Promise<T>
  /** Starts the time that the run may wait for its client; `busy` stops it. */
  idle(): void
  busy(): void
  /** As in QueryRun. Fires the signal where the run may not go on. A call restarts the idle time. */
  confirm(check: Pick<RunCheck, 'look'>): Promise<void> | undefined
  /** Stops watching. */
  end(): void
}

/**
 * @param timeMs milliseconds that the run may take
 * @param idleMs milliseconds that the run may wait for its client at a time
 */
export function watchRun(client: AbortSignal, timeMs: number, idleMs: number): RunWatch {
  const controller = new AbortController()
  const aborted = Promise.withResolvers<never>()
  aborted.promise.catch(() => {})
  let reason: SqlError | undefined
  let isByClient = false
  const stop = (why: SqlError) => {
    if (reason !== undefined) return
    reason = why
    aborted.reject(reason)
    controller.abort(reason)
  }
  const cancel = (message: string) => stop(new SqlError('57014', message))
  const onCancel = () => {
    isByClient ||= reason === undefined
    cancel('canceling statement due to user request')
  }
  const timer = setTimeout(() => cancel('canceling statement due to statement timeout'), timeMs)
  let idling: Timer | undefined
  client.addEventListener('abort', onCancel, { once: true })
  if (client.aborted) onCancel()
  return {
    signal: controller.signal,
    reason: () => reason,
    isEndedByService: () => reason !== undefined && !isByClient,
    race(work) {
      work.catch(() => {})
      return reason === undefined ? Promise.race([work, aborted.promise]) : Promise.reject(reason)
    },
    idle() {
      idling = setTimeout(() => stop(notFetched()), idleMs)
    },
    busy() {
      clearTimeout(idling)
      idling = undefined
    },
    confirm(check) {
      if (reason !== undefined) return Promise.reject(reason)
      idling?.refresh()
      const looked = check.look()
      return looked?.catch((thrown: SqlError) => {
        stop(thrown)
        throw thrown
      })
    },
    end() {
      clearTimeout(timer)
      clearTimeout(idling)
      client.removeEventListener('abort', onCancel)
    },
  }
}
