/** A session as every surface sees it: tenant, principal and scopes (docs/reference/identity.md 2). */

import type { SealedCatalogCredential } from './catalog.ts'
import type { IdentifiedPrincipal, Principal } from './principal.ts'
import type { TenantId } from './tenant.ts'

/**
 * `lineage:text` adds SQL texts and error messages to what `read` shows of lineage. `scim` provisions people, and
 * opens nothing else.
 */
export const sessionScopes = ['commit', 'read', 'lineage', 'lineage:text', 'admin', 'scim'] as const
export type SessionScope = (typeof sessionScopes)[number]

/** A service session is minted for a machine client. A browser session comes from a person's login. */
export const sessionKinds = ['service', 'browser'] as const
export type SessionKind = (typeof sessionKinds)[number]

/**
 * - `active`: it can act
 * - `quarantined`: it was revoked or has expired, but storage credentials that it was issued have not
 * - `revoked`: it was revoked or has expired, and holds nothing
 */
export const sessionStates = ['active', 'quarantined', 'revoked'] as const
export type SessionState = (typeof sessionStates)[number]

/** The state of a session. @param outUntil when the last credential that it holds expires */
export function sessionStateOf(
  session: {
    readonly revokedAt: Date | undefined
    readonly expiresAt?: Date | undefined
    readonly outUntil: Date | undefined
  },
  nowMs: number,
): SessionState {
  const { revokedAt, expiresAt, outUntil } = session
  const hasEnded = revokedAt !== undefined || (expiresAt !== undefined && expiresAt.getTime() <= nowMs)
  if (!hasEnded) return 'active'
  return outUntil !== undefined && outUntil.getTime() > nowMs ? 'quarantined' : 'revoked'
}

/** Whether a stored value names a kind of session. */
export function isSessionKind(value: unknown): value is SessionKind {
  return sessionKinds.some((kind) => kind === value)
}

export interface Session {
  readonly sessionId: string
  readonly kind: SessionKind
  readonly tenant: TenantId
  /** The identity provider's organization, where the tenant has one. */
  readonly organizationId: string | undefined
  /** Decimal: it changes with the issuers of bearer tokens that the tenant trusts. Absent or `0`: it never had one. */
  readonly issuersVersion?: string
  /** Whom the session was minted for. The write gateway uses its roles only (docs/reference/identity.md 3.1). */
  readonly principal: Principal
  readonly scopes: readonly SessionScope[]
  /** Milliseconds since 1970; absent where it only ends when it is revoked, or where the look-up did not read it. */
  readonly expiresAtMs?: number
  /** The catalog credential under a {prefix}, where the session was looked up together with it. */
  readonly registered?: {
    readonly prefix: string
    readonly credential: SealedCatalogCredential | undefined
    /** Covers session and credential: it changes when either changes. */
    readonly fingerprint: string
  }
}

/** A principal with the session through which it came. */
export function throughSession(
  identified: IdentifiedPrincipal,
  { sessionId, kind, principal }: Pick<Session, 'sessionId' | 'kind' | 'principal'>,
): IdentifiedPrincipal {
  return { ...identified, session: { id: sessionId, kind, sub: principal.sub } }
}
