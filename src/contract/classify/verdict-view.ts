/** The verdict about a change of a contract in the form of the API. */

import { described, flag, list, maybe, object, oneOf, text } from '../../http/schemas.ts'
import type { Finding } from './finding.ts'
import { type ChangeVerdict, steps } from './judge-change.ts'

const impacts = ['info', 'warning', 'breaking'] as const
const finding = object({
  at: described(text, 'object and property; empty for the contract'),
  change: text,
  consumer: described(oneOf(impacts), 'for who reads the tables'),
  producer: described(oneOf(impacts), 'for who writes them'),
  access: described(oneOf(['none', 'tightened', 'loosened']), 'whether protection became stricter or looser'),
  message: text,
})

/** A verdict about a change. */
export const verdictSchema = object({
  breaking: described(flag, 'whether it breaks whom `compatibility` protects'),
  loosens_access: described(flag, 'whether somebody sees more than before'),
  step_needed: described(oneOf(steps), 'how far the version number must move at least'),
  because: maybe(described(text, 'the finding that asks for that step')),
  findings: list(finding),
})

/** Shows a verdict. */
export function verdictView({ findings, breaking, loosensAccess, step, because }: ChangeVerdict) {
  return {
    breaking,
    loosens_access: loosensAccess,
    step_needed: step,
    ...(because !== undefined && { because: sentence(because) }),
    findings: findings.map((one) => ({ ...one })),
  }
}

/** A finding as a sentence without a full stop. */
export function sentence({ at, message }: Finding): string {
  return at === '' ? message : `${at}: ${message}`
}
