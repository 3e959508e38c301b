/** Who acts (docs/reference/policies.md 2.3), and how the principal was identified (docs/reference/identity.md 3.1). */

export interface Principal {
  readonly sub: string
  readonly email?: string
  readonly roles: readonly string[]
}

/** Roles that allow more than a tenant's own reading and writing. The owner may mint every role. */
export type PrivilegedRole = 'steward' | 'administrator' | 'owner' | 'auditor'

/** Why a principal that is an auditor and nothing else is refused data. */
export const recordsOnly =
  'The role `auditor` reads records and no data. Reading data needs another role beside it.'

/** Whether a principal is an auditor and nothing else: it reads records, and no data (docs/reference/visibility.md 1.5). */
export function readsRecordsOnly({ roles }: Pick<Principal, 'roles'>): boolean {
  return roles.length > 0 && roles.every((role) => role === 'auditor')
}

const overseers: readonly string[] = ['steward', 'administrator', 'owner'] satisfies readonly PrivilegedRole[]

/** Whether a principal oversees the tables of its tenant, and so may know of those that nobody reads. */
export function oversees({ roles }: Pick<Principal, 'roles'>): boolean {
  return roles.some((role) => overseers.includes(role))
}

const servicePrefix = 'service:'

/** The subject of a service session: a name of its own, which no person has (docs/reference/identity.md 5.4). */
export function serviceSubject(name: string): string {
  return name.startsWith(servicePrefix) ? name : `${servicePrefix}${name}`
}

/**
 * Whether a subject is reserved for services and for the operator. A login, a bearer token or a certificate with such a
 * subject is refused. Upper case is reserved too, because a row filter may compare subjects in lower case.
 */
export function isReservedSubject(sub: string): boolean {
  return /^(?:service:|operator$)/i.test(sub)
}

export const principalSources = ['mtls_san', 'auth_header', 'session'] as const
export type PrincipalSource = (typeof principalSources)[number]

export interface IdentifiedPrincipal {
  readonly principal: Principal
  readonly source: PrincipalSource
  /** True only where the credential was verified here. Unverified claims are for the write gateway alone. */
  readonly verified: boolean
  /** The session of a commit, and whom it was minted for. */
  readonly session?: { readonly id: string; readonly kind: 'service' | 'browser'; readonly sub: string }
}

/**
 * Whose grants exempt a commit: the verified principal, or whom the session was minted for where nobody else is named.
 * Undefined where the claims were not verified here.
 */
export function committerOf({
  principal,
  source,
  verified,
  session,
}: IdentifiedPrincipal): Pick<Principal, 'sub' | 'roles'> | undefined {
  if (!verified) return undefined
  if (source !== 'session') return principal
  return session && { sub: session.sub, roles: principal.roles }
}
