/**
 * Caches the last load of each statement, which a speculative start assumes. A cached load is never trusted: it is
 * compared with the run's own load before anything made from it is used.
 */

import { Lru } from '../../../base/lru.ts'
import type { Load } from '../attempt/attempt.ts'

/** Estimated memory of the last load of each statement, on which the next run starts speculatively. */
const lastLoadBytes = 32 * 1024 * 1024

interface LastLoad {
  readonly load: Load
  /** Whether it equals the load before it. A load that changes with every run is not worth assuming. */
  readonly isSteady: boolean
}

/** Last loads by the statement's key. */
export class LastLoads {
  readonly #loads = new Lru<string, LastLoad>(lastLoadBytes)

  get(key: string): Load | undefined {
    return this.#loads.get(key)?.load
  }

  /** @returns undefined where there is none, or it differed from the load before it */
  steady(key: string): Load | undefined {
    const last = this.#loads.get(key)
    return last?.isSteady ? last.load : undefined
  }

  set(key: string, load: Load): void {
    const last = this.#loads.get(key)
    if (last?.isSteady && isSameLoad(last.load, load)) return
    const isSteady = last === undefined || isSameLoad(last.load, load)
    this.#loads.set(key, { load, isSteady }, key.length + loadBytes(load))
  }

  /** Forgets a statement that could not be loaded or compiled. */
  delete(key: string): void {
    this.#loads.delete(key)
  }
}

/**
 * Whether two loads yield the same rows. The compiled statement is the same object only where text, principal, search
 * path, types and the governance of the tables are equal (CompileCache).
 */
export function isSameLoad(one: Load, other: Load): boolean {
  return (
    one.compiled === other.compiled &&
    Bun.deepEquals(one.loaded.credential, other.loaded.credential, true) &&
    Bun.deepEquals(one.loaded.snapshots, other.loaded.snapshots, true)
  )
}

/** Estimated bytes in memory of a load and its compiled statement, per character of its JSON. */
const loadWeight = 8

function loadBytes({ loaded: { tables, credential } }: Load): number {
  return loadWeight * JSON.stringify([tables, credential.config]).length
}
