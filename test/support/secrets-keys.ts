/** A store as processes with several secrets keys have it. */

import type { SecretsKeys } from '../../src/store/database/sealing.ts'
import type { Store } from '../../src/store/store.ts'

/** A secrets key of one byte, 32 times. */
export function keyOf(byte: number): Uint8Array {
  return new Uint8Array(32).fill(byte)
}

/** The store as a process with these keys has it. */
export function under(store: Store, keys: SecretsKeys): Store {
  return { ...store, nextKey: undefined, formerKey: undefined, ...keys }
}
