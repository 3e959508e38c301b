/**
 * Chooses PostgreSQL's operator for the types of its operands (its manual, 10.2), over the facts of its catalogs. What
 * engines have for the operator is another matter: apply-operator.ts.
 */

import { isArray, type SqlType } from '../../../core/sql-type.ts'
import type { Typed } from '../base/ir.ts'
import { operatorFacts } from '../base/operator-facts.ts'
import {
  type Candidate,
  type CandidateChoice,
  isPolymorphicName,
  selectCandidate,
  servedNamed,
} from './candidate-choice.ts'

const operators: ReadonlyMap<string, readonly Candidate[]> = new Map(
  Object.entries(operatorFacts).map(([sign, text]) => [
    sign,
    text.split(',').map((each) => {
      const names = each.trim().split(' ')
      return { operands: names.slice(0, -1), result: names.at(-1) ?? '' }
    }),
  ]),
)

interface ChosenOperator extends Candidate {
  /** The types of the operands where all are served; undefined for others, and for polymorphic ones. */
  readonly served: readonly SqlType[] | undefined
  /** Whether an operand may be of any type. */
  readonly isPolymorphic: boolean
}

type OperatorChoice = ChosenOperator | 'none' | 'ambiguous'

/** By sign, then by the types of the operands. */
const choices = new Map<string, Map<SqlType, Map<SqlType | undefined, OperatorChoice>>>()

/** @returns undefined for a sign or types without facts: arrays have rules of their own */
export function chooseOperator(sign: string, args: readonly Typed[]): OperatorChoice | undefined {
  const [first, second] = args
  if (first === undefined || args.length > 2) return undefined
  const ofSign = choices.get(sign) ?? new Map<SqlType, Map<SqlType | undefined, OperatorChoice>>()
  const ofFirst = ofSign.get(first.type) ?? new Map<SqlType | undefined, OperatorChoice>()
  const last = ofFirst.get(second?.type)
  if (last !== undefined) return last
  const types = args.map(({ type }) => type)
  if (types.some(isArray) || !operators.has(sign)) return undefined
  const choice = described(choose(sign, types))
  choices.set(sign, ofSign)
  ofSign.set(first.type, ofFirst)
  ofFirst.set(second?.type, choice)
  return choice
}

function described(choice: CandidateChoice): OperatorChoice {
  if (typeof choice === 'string') return choice
  const types = choice.operands.map(servedNamed)
  return {
    ...choice,
    served: types.every((type) => type !== undefined) ? types : undefined,
    isPolymorphic: choice.operands.some(isPolymorphicName),
  }
}

function choose(sign: string, types: readonly SqlType[]): CandidateChoice {
  const known = operators.get(sign) ?? []
  const candidates = known.filter(({ operands }) => operands.length === types.length)
  const [left, right] = types
  if (types.length === 2 && (left === 'unknown') !== (right === 'unknown')) {
    const type = left === 'unknown' ? right : left
    const exact = candidates.find(({ operands }) => operands.every((each) => each === type))
    if (exact !== undefined) return exact
  }
  const exact = candidates.find(({ operands }) => operands.every((each, index) => each === types[index]))
  return exact ?? selectCandidate(candidates, types)
}
