/** Finds variables of the environment that are misspelled, or empty where that would lower a protection. */

import { nearestName } from './base/nearest-name.ts'
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
      const nearest = nearestName(variable, known)
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
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
