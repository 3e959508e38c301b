/** Follows clones to the tables whose files they share. Pure. */

/** The ids of the tables whose files a table shares, directly or through others. */
export function sourcesOf(
  id: string,
  sources: readonly (readonly [table: string, source: string])[],
): readonly string[] {
  const found = new Set<string>()
  const follow = (table: string) => {
    for (const [clone, source] of sources)
      if (clone === table && source !== id && !found.has(source)) {
        found.add(source)
        follow(source)
      }
  }
  follow(id)
  return [...found]
}
