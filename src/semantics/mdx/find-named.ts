/** Finds what a name stands for among things with names: the exact one first, then the only one that differs in case. */

import { refuseMdx } from '../../wire/mdx/tokens.ts'

/**
 * The thing of that name.
 * @param namesOf its names, of which any may be written
 * @returns undefined where there is none
 * @throws Fault `bad_request` where several differ from the name in case alone
 */
export function findNamed<T>(
  all: readonly T[],
  namesOf: (one: T) => readonly string[],
  wanted: string,
): T | undefined {
  const exact = findExact(all, namesOf, wanted)
  if (exact !== undefined) return exact
  const lower = wanted.toLowerCase()
  const [only, ...more] = all.filter((one) => namesOf(one).some((name) => name.toLowerCase() === lower))
  if (more.length > 0) refuseMdx('several names differ from it in case alone: write one of them exactly')
  return only
}

/** The thing of exactly that name; undefined where there is none. */
export function findExact<T>(
  all: readonly T[],
  namesOf: (one: T) => readonly string[],
  wanted: string,
): T | undefined {
  return all.find((one) => namesOf(one).includes(wanted))
}
