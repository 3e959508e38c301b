/** Interrupts DuckDB's work when a signal fires. */

import type { DuckDBConnection } from '@duckdb/node-api'

/** Milliseconds between interrupts. They are repeated because DuckDB forgets one that comes before it has begun. */
const againMs = 5

/**
 * Runs work on a connection and interrupts it once the signal fires, until it has ended.
 * @throws the signal's reason once it has fired; otherwise what the work throws
 */
export async function interruptible<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const works = interruptibleWorks(connection, signal)
  try {
    return await works.run(work)
  } finally {
    works.release()
  }
}

/** Runs several pieces of work on a connection, one after the other. */
export interface Interruptible {
  /** @throws as `interruptible` */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Stops listening to the signal. */
  release(): void
}

/** As `interruptible`, for many short pieces of work: adding a listener for each costs more than some of them. */
export function interruptibleWorks(connection: DuckDBConnection, signal: AbortSignal): Interruptible {
  let isWorking = false
  let timer: ReturnType<typeof setInterval> | undefined
  const stop = () => {
    if (!isWorking) return
    connection.interrupt()
    timer = setInterval(() => connection.interrupt(), againMs)
  }
  signal.addEventListener('abort', stop, { once: true })
  return {
    async run(work) {
      signal.throwIfAborted()
      isWorking = true
      try {
        const value = await work()
        signal.throwIfAborted()
        return value
      } catch (thrown) {
        throw signal.aborted ? signal.reason : thrown
      } finally {
        isWorking = false
        clearInterval(timer)
      }
    },
    release: () => signal.removeEventListener('abort', stop),
  }
}

/** Interrupts the connection until `busy`, which must not reject, is fulfilled. */
export async function interruptedUntil(connection: DuckDBConnection, busy: Promise<unknown>): Promise<void> {
  connection.interrupt()
  const timer = setInterval(() => connection.interrupt(), againMs)
  await busy
  clearInterval(timer)
}
