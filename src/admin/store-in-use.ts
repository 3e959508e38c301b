/** How a call opens the store, and what it says where a service has the embedded store open. */

import { Fault } from '../base/fault.ts'
import type { Config } from '../config.ts'
import type { Store } from '../store/store.ts'

/** Opens the store that the settings name. */
export type OpenStore = (config: Config) => Promise<Store>

/** Adds to the refusal of an embedded store that another process holds what to do instead. */
export function hintAtService(thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.type !== 'StoreInUse') return thrown
  const hint = 'If a service runs on it, send the command to the service: --url http://127.0.0.1:8080'
  return new Fault(thrown.kind, `${thrown.publicMessage}\n${hint}`)
}
