/** Who acts (docs/reference/policies.md 2.3), and how the principal was identified (docs/reference/identity.md 3.1). */

export interface Principal {
  readonly sub: string
  readonly email?: string
  readonly roles: readonly string[]
}

/** Roles that allow more than a tenant's own reading and writing. */
export type PrivilegedRole = 'steward' | 'administrator'

export const principalSources = ['mtls_san', 'auth_header', 'session'] as const
export type PrincipalSource = (typeof principalSources)[number]

export interface IdentifiedPrincipal {
  readonly principal: Principal
  readonly source: PrincipalSource
  /** True only where the credential was verified here. Unverified claims are for the write gateway alone. */
  readonly verified: boolean
}
