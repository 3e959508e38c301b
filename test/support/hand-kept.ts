/** Lists that a test keeps by hand, so that the code does not prove itself: a difference says what to write where. */

/**
 * @param kept the list of the test
 * @param found what the code has
 * @param place the list's name and file, and by what a line is written
 * @returns a sentence for each line that is missing or needless; empty where the two are equal
 */
export function differences(
  kept: Iterable<string>,
  found: Iterable<string>,
  place: string,
): readonly string[] {
  const [here, there] = [new Set(kept), new Set(found)]
  return [
    ...[...there].filter((name) => !here.has(name)).map((name) => `add '${name}' to ${place}`),
    ...[...here].filter((name) => !there.has(name)).map((name) => `remove '${name}' from ${place}`),
  ].sort()
}
