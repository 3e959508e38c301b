/** Which form of a long test runs: `npm run test:walks` asks for the whole, `npm test` for a part that has some of each. */

export const isLongForm = process.env.SVC_TEST_WALKS !== undefined

/** All in the long form; else each `every`th, from `start` on. */
export function someInShortForm<T>(items: readonly T[], every: number, start = 0): readonly T[] {
  return isLongForm ? items : items.filter((_, index) => (index + start) % every === 0)
}

/** How often something random is tried: as often as said in the long form, else a fifth of that. */
export function roundsOf(count: number): number {
  return isLongForm ? count : Math.ceil(count / 5)
}
