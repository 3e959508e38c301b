/**
 * Chooses PostgreSQL's function for the types of its arguments (its manual, 10.3), over the facts of its catalogs. What
 * engines have for the function is another matter: apply-function.ts.
 */

import type { SqlType } from '../../../core/sql-type.ts'
import { functionFacts } from '../base/function-facts.ts'
import {
  type Candidate,
  type CandidateChoice,
  determined,
  nameOf,
  selectCandidate,
  type Undetermined,
} from './candidate-choice.ts'

interface Fact extends Candidate {
  /** How many of the last arguments have defaults. */
  readonly defaults: number
  readonly isVariadic: boolean
}

export const factsOfFunctions: ReadonlyMap<string, readonly Fact[]> = new Map(
  functionFacts.split(';').flatMap((line) => {
    const [names = '', texts = ''] = line.split(':')
    const facts = texts.split(',').map((text): Fact => {
      const words = text.trim().split(/\s+/)
      const operands = words.slice(0, -1)
      return {
        operands: operands.map((word) => word.replace(/[?.]+$/, '')),
        result: words.at(-1) ?? '',
        defaults: operands.filter((word) => word.endsWith('?')).length,
        isVariadic: operands.some((word) => word.endsWith('...')),
      }
    })
    return names
      .trim()
      .split(/\s+/)
      .map((name) => [name, facts] as const)
  }),
)

/** Statements make any number of combinations; this many are kept. */
const choicesMax = 5_000
const choices = new Map<string, CandidateChoice | Undetermined>()

/** @returns undefined for a name without facts */
export function chooseFunction(
  name: string,
  types: readonly SqlType[],
): CandidateChoice | Undetermined | undefined {
  const facts = factsOfFunctions.get(name)
  if (facts === undefined) return undefined
  const key = `${name} ${types.join(' ')}`
  const known = choices.get(key)
  if (known !== undefined) return known
  if (choices.size >= choicesMax) choices.clear()
  const names = types.map(nameOf)
  const choice = choose(facts, names)
  const made = typeof choice === 'string' ? choice : determined(choice, names)
  choices.set(key, made)
  return made
}

function choose(facts: readonly Fact[], types: readonly string[]): CandidateChoice {
  const candidates = facts.flatMap((fact): Candidate[] => {
    const { operands, defaults, isVariadic, result } = fact
    if (isVariadic && types.length >= operands.length) {
      const last = operands.at(-1) ?? 'any'
      return [{ operands: types.map((_, index) => operands[index] ?? last), result }]
    }
    const isEnough = types.length <= operands.length && types.length >= operands.length - defaults
    return isEnough && !isVariadic ? [{ operands: operands.slice(0, types.length), result }] : []
  })
  const exact = candidates.find(({ operands }) => operands.every((each, index) => each === types[index]))
  return exact ?? selectCandidate(candidates, types)
}
