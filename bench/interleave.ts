/** Times several functions side by side, so that other load on the machine affects all of them. */

import { type Random, shuffled } from './statistics.ts'

/** Calls the functions in turns, in random order. @returns milliseconds of each call, by function */
export async function interleavedTimes(
  functions: readonly (() => Promise<void>)[],
  rounds: number,
  random: Random,
): Promise<readonly (readonly number[])[]> {
  for (const one of functions) await one()
  const times: number[][] = functions.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const index of shuffled([...functions.keys()], random)) {
      const startMs = performance.now()
      await functions[index]?.()
      times[index]?.push(performance.now() - startMs)
    }
  return times
}
