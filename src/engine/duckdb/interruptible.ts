/** DuckDB work that ends when a signal fires. */

import type { DuckDBConnection } from '@duckdb/node-api'

/** Milliseconds between two interrupts: one that comes before DuckDB has begun is forgotten by it. */
const againMs = 5

/**
 * Runs work on a connection, interrupting it from when the signal fires until it has ended.
 * @throws the signal's reason once it has fired, else what the work throws
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

/** Runs one work after another on a connection, as `interruptible` does one. */
export interface Interruptible {
  /** @throws as `interruptible` */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Stops listening to the signal. */
  release(): void
}

/** As `interruptible`, for a connection that has many works: listening anew for each costs more than some of them. */
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

/** Interrupts whatever the connection does until `busy` has settled; it must not reject. */
export async function interruptedUntil(connection: DuckDBConnection, busy: Promise<unknown>): Promise<void> {
  connection.interrupt()
  const timer = setInterval(() => connection.interrupt(), againMs)
  await busy
  clearInterval(timer)
}
