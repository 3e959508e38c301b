/** Finds variables of the environment that are misspelled, or empty where that would lower a protection. */

import { type Variable, variables } from './config-variables.ts'

interface NameProblem {
  readonly variable: string
  readonly message: string
}

/** Variables that look like the service's and are none of them. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): NameProblem[] {
  const known = Object.keys(variables)
  return Object.keys(env)
    .filter((name) => /^(SVC|IDP)_(?!TEST_)/.test(name) && !known.includes(name))
    .sort()
    .map((variable) => {
      const distances = known.map((name) => ({ name, distance: editDistance(variable, name) }))
      const nearest = distances.reduce((best, next) => (next.distance < best.distance ? next : best))
      const hint = nearest.distance <= variable.length / 2 ? `; did you mean ${nearest.name}?` : ''
      return { variable, message: `is not a variable of this service${hint}` }
    })
}

/** Variables that are set and empty, where that must not count as unset. */
export function emptyVariables(env: Readonly<Record<string, string | undefined>>): NameProblem[] {
  const entries: [string, Variable][] = Object.entries(variables)
  return entries
    .filter(([name, variable]) => variable.emptyRefused && env[name]?.trim() === '')
    .map(([variable]) => ({ variable, message: 'is set but empty: unset it or give it a value' }))
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
