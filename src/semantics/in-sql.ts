/** Writes the condition that a column holds one of some keys, each as a parameter. */

/**
 * The condition, in brackets where it has parts.
 * @param keys null is the key of NULL
 * @param place writes a key as a parameter
 */
export function inSql(sql: string, keys: Iterable<string | null>, place: (key: string) => string): string {
  const all = [...keys]
  const given = all.flatMap((key) => (key === null ? [] : [place(key)]))
  const parts = [
    ...(given.length === 1
      ? [`${sql} = ${given[0]}`]
      : given.length > 1
        ? [`${sql} IN (${given.join(', ')})`]
        : []),
    ...(given.length < all.length ? [`${sql} IS NULL`] : []),
  ]
  return parts.length === 1 ? parts.join('') : `(${parts.join(' OR ')})`
}
