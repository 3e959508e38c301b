/**
 * Asks the upstream for the tables' states while the store is still asked what governs them, on the assumption that
 * the store says what it said for the last load. What was assumed wrongly is discarded.
 */

import type { ReadCall } from '../../store/governance/read-call.ts'

type Stored = Pick<ReadCall, 'credential' | 'governances'>

export interface SpeculativeStates<States> {
  /**
   * The states, if the store has said now what was assumed. What governs the tables was the same before the
   * upstream was asked and after, so it was when the upstream replied.
   * @returns undefined where they must be loaded again
   */
  confirm(stored: Stored): Promise<States> | undefined
}

/** @param assumed what the last load was made from; nothing is asked where it is absent */
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
