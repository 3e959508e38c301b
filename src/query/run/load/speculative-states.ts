/**
 * Loads the tables' states from the upstream while the store still loads their governance, assuming that the store's
 * reply equals that of the last load. If it does not, the states are discarded.
 */

import type { ReadCall } from '../../../store/governance/read-call.ts'

type Stored = Pick<ReadCall, 'credential' | 'governances'>

interface SpeculativeStates<States> {
  /**
   * The states, if the store's reply equals what was assumed. The governance was then the same before and after the
   * upstream was asked, so it was the same when the upstream replied.
   * @returns undefined where the states must be loaded again
   */
  confirm(stored: Stored): Promise<States> | undefined
}

/** @param assumed the store's reply for the last load; without it nothing is loaded */
export function loadSpeculativeStates<States>(
  assumed: Stored | undefined,
  load: (stored: Stored) => Promise<States>,
): SpeculativeStates<States> {
  const states = assumed && load(assumed)
  states?.catch(() => {})
  return {
    confirm: ({ credential, governances }) =>
      governances === assumed?.governances && Bun.deepEquals(credential, assumed.credential, true)
        ? states
        : undefined,
  }
}
