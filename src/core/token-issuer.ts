/** Issuers of bearer tokens that a tenant trusts to name its people (docs/reference/identity.md 3.3). */

import type { KeySource } from './workload-trust.ts'

export interface TokenIssuer {
  readonly name: string
  /** The claim `iss`. */
  readonly issuer: string
  /** What the claim `aud` must hold. */
  readonly audience: string
  /** The clients whose tokens are taken, by the claim `azp`; undefined: any. */
  readonly authorizedParties: readonly string[] | undefined
  readonly keySource: KeySource
  /** The claim that names the organization, or a path to it. */
  readonly organizationClaim: string
  /** The claim that names the roles, or a path to it. Undefined: `roles`, else `groups`. */
  readonly rolesClaim: string | undefined
  /** Stands before each subject. */
  readonly subjectPrefix: string
}

/** Issuers of one tenant. */
export const tokenIssuersMax = 20
