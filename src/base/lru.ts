/** A least-recently-used cache with a bound on the sum of its entries' sizes. */

interface Entry<V> {
  readonly value: V
  readonly size: number
}

export class Lru<K, V> {
  readonly #entries = new Map<K, Entry<V>>()
  #size = 0

  /** @param sizeMax bound on the sum of entry sizes, in the unit that callers pass to `set` */
  constructor(readonly sizeMax: number) {}

  get size(): number {
    return this.#size
  }

  get count(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Stores `value`, unless it alone exceeds the bound. */
  set(key: K, value: V, size = 1): void {
    this.delete(key)
    if (size > this.sizeMax) return
    this.#entries.set(key, { value, size })
    this.#size += size
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.sizeMax) break
      this.delete(oldest)
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#size -= entry.size
  }

  clear(): void {
    this.#entries.clear()
    this.#size = 0
  }
}
