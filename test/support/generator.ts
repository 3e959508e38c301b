/** Random numbers that a seed repeats. */

/** A small linear congruential generator: the same seed, the same numbers, from 0 up to 1. */
export function generator(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
