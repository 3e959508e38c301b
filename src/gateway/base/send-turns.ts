/**
 * Lets what is sent to the same tables go one after another, until the tables were looked at. It is for transactions
 * whose reply names no file, on catalogs whose files cannot be read: a load between two of them shows the file of the
 * first. It is no lock, and no evidence: one that waited long enough goes ahead, and what the load shows decides.
 */

/** Many times of a commit and a load, and well below what clients wait for. */
const waitMsMax = 5_000

export class SendTurns {
  /** The end of the turn that was taken last, by key. */
  readonly #last = new Map<string, Promise<void>>()

  constructor(readonly waitMs: number = waitMsMax) {}

  /**
   * Waits for the turns of these keys that were taken before, but no longer than `waitMs`.
   * @returns what ends the turn
   */
  async take(keys: readonly string[]): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const earlier = keys.flatMap((key) => this.#last.get(key) ?? [])
    for (const key of keys) this.#last.set(key, promise)
    if (earlier.length > 0) await within(this.waitMs, Promise.all(earlier))
    return {
      [Symbol.dispose]: () => {
        resolve()
        for (const key of keys) if (this.#last.get(key) === promise) this.#last.delete(key)
      },
    }
  }
}

async function within(waitMs: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, waitMs)
  await Promise.race([work, late.promise])
  clearTimeout(timer)
}
