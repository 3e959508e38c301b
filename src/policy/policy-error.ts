/** Defines the errors of policies: problems in a text, and failures to give a verdict, which never allow a commit. */

import type { PolicyErrorCode } from '../core/decision.ts'

/** One problem in a policy's text, for its author. */
export interface PolicyProblem {
  /** A sentence that says what is wrong and, if possible, what to write instead. */
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
