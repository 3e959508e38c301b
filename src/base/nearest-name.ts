/** Finds the name that somebody may have meant who wrote another one. */

/** The nearest of the names; undefined where none is near. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  const [first, ...others] = names.map((name) => ({ name, distance: editDistance(written, name) }))
  if (first === undefined) return undefined
  const nearest = others.reduce((best, next) => (next.distance < best.distance ? next : best), first)
  return nearest.distance <= written.length / 2 ? nearest.name : undefined
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, charA] of [...a].entries()) {
    const row = [i + 1]
    for (const [j, charB] of [...b].entries())
      row.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (previous[j + 1] ?? 0) + 1,
          (previous[j] ?? 0) + (charA === charB ? 0 : 1),
        ),
      )
    previous = row
  }
  return previous[b.length] ?? 0
}
