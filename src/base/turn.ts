/** Waits for turns of the event loop, so that messages are sent before other work runs. */

/** Resolves in the next turn, when the writes of this turn have been sent. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Resolves once the requests just made to store and upstream are sent. It takes two turns, because the database client
 * delays a short message by a turn to join others to it.
 */
export async function afterSending(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/** Runs bookkeeping that no response waits for. Errors of `work` are dropped, because no caller is left to receive them. */
export function inNextTurn(work: () => void): void {
  setImmediate(() => {
    try {
      work()
    } catch {
      // See above.
    }
  })
}
