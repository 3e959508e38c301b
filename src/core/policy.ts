/** A policy as it is stored (SPEC 2.4; modes from DESIGN). */

export const policyKinds = ['schema', 'write_acl', 'retention'] as const
/** P1, P2 and P3 of SPEC 2.4. `schema` is SPEC's stored value; the others follow its form. */
export type PolicyKind = (typeof policyKinds)[number]

export const policyModes = ['enforce', 'warn', 'shadow'] as const
export type PolicyMode = (typeof policyModes)[number]

export interface Policy {
  readonly id: string
  readonly kind: PolicyKind
  readonly mode: PolicyMode
  /** Shown to a writer who is denied. */
  readonly name: string
  /** What the writer should do about a denial; '' where the author left none. */
  readonly message: string
  readonly definitionCel: string
}
