/** Turns of the event loop: what is to be sent first, and what can wait until it was. */

/** Resolves in the next turn, when what this one has written is on its way. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Resolves once what was just asked of store and upstream is on its way: the database client holds a short message
 * back for a turn, so that more may join it.
 */
export async function afterSending(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/** Keeps books that no answer waits for. What `work` throws has nobody to go to, and must not end the process. */
export function inNextTurn(work: () => void): void {
  setImmediate(() => {
    try {
      work()
    } catch {
      // See above.
    }
  })
}
