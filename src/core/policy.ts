/** A policy as it is stored (docs/reference/policies.md 1.2). */

export const policyKinds = ['schema', 'write_acl', 'retention'] as const
/** P1, P2 and P3 of docs/reference/policies.md 4.1, as stored. */
export type PolicyKind = (typeof policyKinds)[number]

export const policyModes = ['enforce', 'warn', 'shadow'] as const
export type PolicyMode = (typeof policyModes)[number]

export interface Policy {
  readonly id: string
  readonly kind: PolicyKind
  readonly mode: PolicyMode
  /** Shown to a writer who is denied. */
  readonly name: string
  /** What the writer should do about a denial; '' where the author wrote nothing. */
  readonly message: string
  readonly definitionCel: string
}
