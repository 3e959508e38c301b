/** Why a policy gave no verdict: the one error of this layer. Never turned into "allowed". */

import type { PolicyErrorCode } from '../core/decision.ts'

/** One fault in a policy's text, for its author. */
export interface PolicyProblem {
  /** A sentence that says what is wrong and, where it can, what to write instead. */
  readonly message: string
  /** UTF-16 code units from the start of the text. */
  readonly offset: number
}

export class PolicyError extends Error {
  override readonly name = 'PolicyError'

  /** @param code what failed, from the closed list of docs/reference/policies.md 7.2 */
  constructor(
    readonly code: PolicyErrorCode,
    message: string,
    options: { readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
  }
}
