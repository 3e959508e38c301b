/** Runs work over a list with bounded concurrency. */

/** Runs `work` on each item, at most `countMax` at once. @returns the results in the order of the items */
export async function inParallel<T, R>(
  items: readonly T[],
  countMax: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Array<R>(items.length)
  const queue = items.entries()
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(countMax, items.length) }, worker))
  return results
}
