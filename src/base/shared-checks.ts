/**
 * Shares checks among those who ask at the same time, without an answer older than the question: each is answered by a
 * check that began after it was asked.
 */

interface Open<T> {
  readonly running: Promise<T>
  /** Begins when `running` has ended, for all who asked meanwhile. */
  next?: Promise<T>
}

export class SharedChecks<T> {
  readonly #open = new Map<string, Open<T>>()

  /** The result of a check that begins now or later. @param key of what is checked */
  ask(key: string, check: () => Promise<T>): Promise<T> {
    const open = this.#open.get(key)
    if (open === undefined) return this.#start(key, check)
    const start = () => this.#start(key, check)
    open.next ??= open.running.then(start, start)
    return open.next
  }

  #start(key: string, check: () => Promise<T>): Promise<T> {
    const open: Open<T> = { running: check() }
    this.#open.set(key, open)
    const end = () => {
      if (this.#open.get(key) === open && open.next === undefined) this.#open.delete(key)
    }
    open.running.then(end, end)
    return open.running
  }
}
