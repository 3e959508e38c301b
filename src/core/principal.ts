/** Who acts (docs/reference/policies.md 2.3) and how that was learned (docs/reference/identity.md 3.1). */

export interface Principal {
  readonly sub: string
  readonly email?: string
  readonly roles: readonly string[]
}

/** Roles that open more than a tenant's own reading and writing. */
export type PrivilegedRole = 'steward' | 'administrator'

export const principalSources = ['mtls_san', 'auth_header', 'session'] as const
export type PrincipalSource = (typeof principalSources)[number]

export interface IdentifiedPrincipal {
  readonly principal: Principal
  readonly source: PrincipalSource
  /** True only where the credential was verified here; unverified claims count for the write gateway alone. */
  readonly verified: boolean
}
