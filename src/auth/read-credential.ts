/**
 * Checks the credentials of long-lived connections, which send one at their start: principal, tenant, still valid. The
 * tenant comes from the credential alone, and the credential must be verified.
 */

import type { JWTPayload } from 'jose'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import type { Principal, PrincipalSource } from '../core/principal.ts'
import type { Session } from '../core/session.ts'
import type { TenantId } from '../core/tenant.ts'
import { hasLoginEnded, type Login } from '../store/session/ended-logins.ts'
import { standingOf } from '../store/session/provisioning.ts'
import {
  findScramVerifier,
  findServiceSession,
  findServiceSessionById,
  findSuspendedSession,
  serviceSecretDigest,
} from '../store/session/sessions.ts'
import { tokenIssuersOf } from '../store/session/token-issuers.ts'
import type { Store } from '../store/store.ts'
import { findTenantByOrganization } from '../store/tenant/tenants.ts'
import type { ScramVerifier } from '../wire/postgres/scram.ts'
import type { AccessTokens } from './access-token.ts'
import { claimsToBeOurs, principalOf, type VerifyToken } from './bearer.ts'
import { type ClaimNames, organizationOf } from './claims.ts'
import { admitPerson } from './people.ts'
import { principalByIssuer, type TokenIssuers } from './token-issuers.ts'
import { tokenSkewMs } from './token-keys.ts'

export interface ReadCredential {
  readonly tenant: TenantId
  readonly principal: Principal
  readonly principalSource: PrincipalSource
  /** Milliseconds since 1970 at which it expires; absent where it only ends when it is revoked. */
  readonly expiresAtMs?: number | undefined
  /**
   * Whether the credential is valid now: not revoked or expired, its tenant active, its scope `read`.
   * @throws Fault where that cannot be checked; then the request must be refused
   */
  readonly stillValid: () => Promise<boolean>
  /**
   * The id of the service session that alone decides `stillValid` now, so that a store query can check it instead.
   * Undefined where more decides it.
   */
  readonly sessionToCheck?: () => string | undefined
}

interface CredentialParts {
  readonly store: Store
  readonly tokens: AccessTokens
  /** Absent: identity providers' tokens are refused. */
  readonly verifyToken?: VerifyToken | undefined
  /** The issuers that tenants trust, besides that one. */
  readonly issuers?: TokenIssuers | undefined
  /** The claim of such a token that names the tenant's organization. */
  readonly claims: ClaimNames
  readonly clock: Clock
}

/** A credential that would be valid, were its tenant not suspended. */
export interface SuspendedCredential {
  readonly sub: string
  /** Of a service session. */
  readonly verifier?: ScramVerifier | undefined
}

export interface CredentialReader {
  /**
   * Reads a service session's secret, an access token of this service, or an identity provider's token.
   * @returns undefined for anything invalid, whatever the reason
   * @throws Fault where validity cannot be checked
   */
  readonly bySecret: (secret: string) => Promise<ReadCredential | undefined>
  /** The service session of an id, with the verifier that SCRAM checks its secret against. */
  readonly byVerifier: (
    sessionId: string,
  ) => Promise<{ readonly credential: ReadCredential; readonly verifier: ScramVerifier } | undefined>
  /**
   * Whether only the suspension of its tenant makes invalid what the others refused, so that its owner can be told.
   * @throws Fault where that cannot be checked
   */
  readonly suspended: (
    refused: { readonly secret: string } | { readonly sessionId: string },
  ) => Promise<SuspendedCredential | undefined>
}

/** The reader over a store. */
export function credentialReader(parts: CredentialParts): CredentialReader {
  return {
    async bySecret(secret) {
      if (claimsToBeOurs(secret)) return await byAccessToken(parts, secret)
      const session = await findServiceSession(parts.store, secret)
      if (session !== undefined) return ofSession(parts, session)
      return isToken(secret) ? await byProviderToken(parts, secret) : undefined
    },
    async byVerifier(sessionId) {
      const found = await findScramVerifier(parts.store, sessionId)
      const credential = found && ofSession(parts, found.session)
      return credential && { credential, verifier: found.verifier }
    },
    async suspended(refused) {
      const { store, tokens } = parts
      if ('sessionId' in refused) return await ofSuspended(store, { id: refused.sessionId })
      const { secret } = refused
      if (claimsToBeOurs(secret)) {
        const claims = await tokens.verify(secret)
        return claims?.scopes.includes('read')
          ? await ofSuspended(store, { id: claims.sessionId })
          : undefined
      }
      const digest = serviceSecretDigest(store, secret)
      if (digest !== undefined) return await ofSuspended(store, { digest })
      return isToken(secret) ? await tokenOfSuspended(parts, secret) : undefined
    },
  }
}

async function ofSuspended(
  store: Store,
  key: { readonly digest: Uint8Array } | { readonly id: string },
): Promise<SuspendedCredential | undefined> {
  const found = await findSuspendedSession(store, key)
  return found?.scopes.includes('read') ? found : undefined
}

async function tokenOfSuspended(
  parts: CredentialParts,
  token: string,
): Promise<SuspendedCredential | undefined> {
  const verified = await verifyProviderToken(parts, token).catch(unlessUnauthenticated)
  if (typeof verified?.organizationId !== 'string') return undefined
  const tenant = await findTenantByOrganization(parts.store, verified.organizationId)
  return tenant?.state === 'suspended' ? verified.principal : undefined
}

function mayRead({ scopes }: Session): boolean {
  return scopes.includes('read')
}

function ofSession(
  { store, clock }: CredentialParts,
  session: Session,
  tokenEndsMs = Number.POSITIVE_INFINITY,
): ReadCredential | undefined {
  if (!mayRead(session)) return undefined
  const alsoValid = () => tokenEndsMs > clock.now()
  return {
    tenant: session.tenant,
    principal: session.principal,
    principalSource: 'session',
    expiresAtMs: Math.min(session.expiresAtMs ?? Number.POSITIVE_INFINITY, tokenEndsMs),
    sessionToCheck: () => (alsoValid() ? session.sessionId : undefined),
    async stillValid() {
      if (!alsoValid()) return false
      const now = await findServiceSessionById(store, session.sessionId)
      return now !== undefined && now.tenant === session.tenant && mayRead(now)
    },
  }
}

async function byAccessToken(parts: CredentialParts, token: string): Promise<ReadCredential | undefined> {
  const claims = await parts.tokens.verify(token)
  if (claims === undefined || !claims.scopes.includes('read')) return undefined
  const session = await findServiceSessionById(parts.store, claims.sessionId)
  return session && ofSession(parts, session, claims.expiresAtMs)
}

function isToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)
}

/** Takes the tenant from the token's organization, as a login does (docs/reference/identity.md 6.2). */
async function byProviderToken(parts: CredentialParts, token: string): Promise<ReadCredential | undefined> {
  const { store, clock } = parts
  const verified = await verifyProviderToken(parts, token).catch(unlessUnauthenticated)
  if (verified === undefined) return undefined
  const { claims, organizationId, stillTrusted } = verified
  if (typeof organizationId !== 'string' || claims.exp === undefined) return undefined
  const expiresAtMs = claims.exp * 1000 + tokenSkewMs
  const tenant = await findTenantByOrganization(store, organizationId)
  const login = loginOf(claims, verified.principal.sub)
  if (tenant?.state !== 'active' || (await hasLoginEnded(store, login))) return undefined
  const standing = () => standingOf(store, tenant.id, verified.principal)
  const first = await standing()
  if (first.kind === 'refused') return undefined
  const principal = admitPerson(verified.principal, first)
  return {
    tenant: tenant.id,
    principal,
    principalSource: 'auth_header',
    expiresAtMs,
    async stillValid() {
      if (expiresAtMs <= clock.now() || (await hasLoginEnded(store, login))) return false
      const now = await findTenantByOrganization(store, organizationId)
      if (now?.id !== tenant.id || now.state !== 'active' || !(await stillTrusted())) return false
      // With other groups it is another reader.
      return Bun.deepEquals(await standing(), first)
    },
  }
}

interface ProviderToken {
  readonly claims: JWTPayload
  readonly principal: Principal
  readonly organizationId: string | undefined | null
  /** Whether the tenant still trusts the issuer, unchanged since the token was verified. */
  readonly stillTrusted: () => Promise<boolean>
}

/** By an issuer of the tenant that the token names, else by that of the configuration. @throws Fault */
async function verifyProviderToken(
  { store, verifyToken, issuers, claims: names }: CredentialParts,
  token: string,
): Promise<ProviderToken | undefined> {
  const issued = await issuers?.verifyForOrganization(token)
  if (issued !== undefined) {
    const { claims, issuer } = issued
    return {
      claims,
      principal: principalByIssuer(claims, issuer),
      organizationId: organizationOf(claims, issuer.organizationClaim),
      stillTrusted: async () =>
        (await tokenIssuersOf(store, issuer.tenant)).some(
          ({ name, changedAt }) => name === issuer.name && changedAt.getTime() === issuer.changedAt.getTime(),
        ),
    }
  }
  const claims = await verifyToken?.(token)
  if (claims === undefined) return undefined
  return {
    claims,
    principal: principalOf(claims, names),
    organizationId: organizationOf(claims, names.organization),
    stillTrusted: async () => true,
  }
}

/** The login from which a token comes. A token that does not say when it was issued is taken for an old one. */
function loginOf({ sid, iat = 0 }: JWTPayload, sub: string): Login {
  return { sid: typeof sid === 'string' ? sid : undefined, sub, atMs: iat * 1000 }
}

function unlessUnauthenticated(thrown: unknown): undefined {
  if (thrown instanceof Fault && thrown.kind === 'unauthenticated') return undefined
  throw thrown
}
