/**
 * Keeps a short time between what is sent to the same tables. It is for transactions whose reply names no file, on
 * catalogs whose files cannot be read: a load between two of them shows the file of the first. It is no lock, and no
 * evidence: what the load shows decides.
 */

import { Lru } from '../../base/lru.ts'

/** Keys that are remembered at most. */
const keysMax = 10_000
const waitMsMax = 500

export class SpacedSends {
  /** When the last place of each key is, by the monotonic clock. */
  readonly #taken = new Lru<string, number>(keysMax)

  /** @param spaceMs between two sends of one key */
  constructor(
    readonly spaceMs: number,
    readonly nowMs: () => number = () => performance.now(),
    readonly sleep: (ms: number) => Promise<void> = (ms) => Bun.sleep(ms),
  ) {}

  /** Resolves when something may be sent for all of these keys, or at once where that is too long to wait for. */
  async take(keys: readonly string[]): Promise<void> {
    const now = this.nowMs()
    const free = keys.map((key) => (this.#taken.get(key) ?? Number.NEGATIVE_INFINITY) + this.spaceMs)
    const place = Math.max(now, ...free)
    // An intent is durable meanwhile, whose lease counts on a short way to the upstream.
    if (place - now > waitMsMax) return
    for (const key of keys) this.#taken.set(key, place)
    if (place > now) await this.sleep(place - now)
  }
}
