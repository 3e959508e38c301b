/** Goes through many items in turns of the event loop, so that other work on this thread never waits for all of them. */

import { threadTurn } from './thread-turns.ts'

/** Items after which the next turn begins; earlier where they take long. */
export const turnItemsMax = 256
const turnMsMax = 2
/** Items between two looks at the clock. */
const clockItems = 8

/**
 * Asked before each item: undefined while this turn may go on, else what resolves in the next turn. It rejects once the
 * signal has fired.
 */
export function turnTaker(signal?: AbortSignal): () => Promise<void> | undefined {
  let items = 0
  let startedMs = performance.now()
  return () => {
    items++
    if (items <= turnItemsMax && (items % clockItems !== 0 || performance.now() - startedMs < turnMsMax))
      return undefined
    return threadTurn().then(() => {
      signal?.throwIfAborted()
      items = 1
      startedMs = performance.now()
    })
  }
}

/** Does work for each item. @throws the signal's reason once it has fired */
export async function eachInTurns<T>(
  items: Iterable<T>,
  signal: AbortSignal | undefined,
  work: (item: T, index: number) => void,
): Promise<void> {
  const turn = turnTaker(signal)
  let index = 0
  for (const item of items) {
    const next = turn()
    if (next !== undefined) await next
    work(item, index++)
  }
}

/** The result for each item, in their order. @throws the signal's reason once it has fired */
export async function mapInTurns<T, R>(
  items: readonly T[],
  signal: AbortSignal | undefined,
  work: (item: T, index: number) => R,
): Promise<R[]> {
  const results: R[] = []
  await eachInTurns(items, signal, (item, index) => results.push(work(item, index)))
  return results
}

/** The items that are kept, in their order. @throws the signal's reason once it has fired */
export async function filterInTurns<T>(
  items: readonly T[],
  signal: AbortSignal | undefined,
  keeps: (item: T) => boolean,
): Promise<T[]> {
  const kept: T[] = []
  await eachInTurns(items, signal, (item) => {
    if (keeps(item)) kept.push(item)
  })
  return kept
}

/** The texts of the items, with a separator between them. @throws the signal's reason once it has fired */
export async function joinInTurns<T>(
  items: readonly T[],
  separator: string,
  signal: AbortSignal | undefined,
  textOf: (item: T) => string,
): Promise<string> {
  let joined = ''
  await eachInTurns(items, signal, (item, index) => {
    joined += index === 0 ? textOf(item) : `${separator}${textOf(item)}`
  })
  return joined
}
