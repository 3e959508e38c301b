/** The decision of the policies about one commit on one table (docs/reference/gateway.md 5.1). */

import type { PolicyMode } from './policy.ts'

export const decisions = ['APPROVED', 'REJECTED'] as const
export type Decision = (typeof decisions)[number]

/** One policy's outcome. `value` is set where it evaluated; `error` where it did not. */
export interface PolicyOutcome {
  readonly policyId: string
  readonly name: string
  readonly mode: PolicyMode
  readonly value?: boolean
  readonly error?: PolicyErrorCode
  /** From when on a policy of mode `shadow` is enforced, in milliseconds since 1970. */
  readonly enforceFromMs?: number
  /** The grant by which a policy of mode `enforce` only warned. */
  readonly grant?: string
  /** From the second evaluation after the commit, because another commit had landed between verdict and forward. */
  readonly raced?: boolean
  /** For stewards only: the failing sub-expression and the values seen. */
  readonly explanation?: string
}

/** Outcomes of policies that are not enforced, and would have refused the change. */
export function shadowDenials(outcomes: readonly PolicyOutcome[]): readonly PolicyOutcome[] {
  return outcomes.filter(
    ({ mode, value, error }) => mode === 'shadow' && value === false && error === undefined,
  )
}

export const policyErrorCodes = [
  'ErrPolicyLoad',
  'ErrPolicyCompile',
  'ErrPolicyEval',
  'ErrPolicyNonBool',
  'ErrPolicyBudget',
  'ErrPolicyTimeout',
  'ErrManifestRead',
  'ErrEvalPanic',
] as const
export type PolicyErrorCode = (typeof policyErrorCodes)[number]

export type Verdict =
  | { readonly kind: 'allow'; readonly outcomes: readonly PolicyOutcome[] }
  | {
      readonly kind: 'deny'
      /** `<policy name>: <message>`; the reason in docs/reference/errors.md 1.2. */
      readonly reason: string
      readonly policyId: string
      readonly outcomes: readonly PolicyOutcome[]
    }
  | {
      readonly kind: 'unavailable'
      readonly error: PolicyErrorCode
      readonly policyId?: string
      /** What failed, in words of ours that hold no value of the table. */
      readonly detail?: string
      readonly outcomes: readonly PolicyOutcome[]
    }
