/**
 * Reads bearer tokens (docs/reference/identity.md 3.3). With a verifier, signature, issuer and audience must be valid.
 * Without one, claims are unverified and only the write gateway uses them.
 */

import { decodeJwt, type JWTPayload } from 'jose'
import { Fault } from '../base/fault.ts'
import { isReservedSubject, type Principal } from '../core/principal.ts'
import type { Session } from '../core/session.ts'
import { type AccessTokens, tokenIssuer } from './access-token.ts'
import { assertAuthorizedParty } from './authorized-party.ts'
import { type ClaimNames, emailIn, organizationOf, rolesIn } from './claims.ts'
import { remoteKeys, type TokenKeys, verifyByKeys } from './token-keys.ts'

interface BearerPrincipal {
  readonly principal: Principal
  readonly verified: boolean
}

/**
 * Reads the bearer of one request.
 * @returns undefined where there is none to read, and the principal chain tries its next step
 */
export type ReadBearer = (
  authorization: string | null,
  session: Session,
) => Promise<BearerPrincipal | undefined>

interface JwksOptions {
  readonly url: string
  readonly issuer: string
  readonly audience: string
  /** The clients whose tokens are taken, by `azp`; undefined: any. */
  readonly authorizedParties?: readonly string[] | undefined
}

/** Reads claims without verifying them. It trusts the proxy or identity provider in front to have verified the token. */
export function unverifiedBearerReader(names: Pick<ClaimNames, 'roles'>): ReadBearer {
  return async (authorization) => {
    const token = bearerToken(authorization)
    if (token === undefined) return undefined
    let claims: JWTPayload
    try {
      claims = decodeJwt(token)
    } catch {
      return undefined
    }
    return { principal: principalOf(claims, names), verified: false }
  }
}

/**
 * Verifies one token.
 * @throws Fault `unauthenticated` for an invalid token, `unavailable` where its key cannot be fetched
 */
export type VerifyToken = (token: string) => Promise<JWTPayload>

/**
 * Verifies tokens against a JWKS, which is cached and fetched again for an unknown key. A token must say when it ends,
 * and be one for access. Clocks may differ by `tokenSkewMs`.
 */
export function tokenVerifier(options: JwksOptions): VerifyToken {
  const keys = remoteKeys(options.url)
  return (token) => verifyAccess(token, keys, options)
}

/**
 * Verifies a token for access by the keys of its issuer.
 * @throws Fault as {@link VerifyToken}
 */
export async function verifyAccess(
  token: string,
  keys: TokenKeys,
  recipients: Omit<JwksOptions, 'url'>,
): Promise<JWTPayload> {
  try {
    const { issuer, audience } = recipients
    const { payload, protectedHeader } = await verifyByKeys(token, keys, {
      ...{ issuer, audience },
      requiredClaims: ['exp'],
    })
    assertForAccess(protectedHeader.typ, payload)
    assertAuthorizedParty(payload, recipients)
    return payload
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('unauthenticated', 'The bearer token could not be verified.', { cause })
  }
}

/** `typ` of the header. Most providers send no other than `JWT`. */
const accessTypes: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt'])
/** The claim `typ`, by which Keycloak tells its tokens apart. */
const accessClaims: ReadonlySet<unknown> = new Set([undefined, 'Bearer', 'ID'])

/** @throws Error for a token of another use, such as a logout token, which the same keys sign */
export function assertForAccess(typ: string | undefined, { events, typ: claim }: JWTPayload): void {
  const isForAccess = (typ === undefined || accessTypes.has(typ.toLowerCase())) && accessClaims.has(claim)
  if (!isForAccess || events !== undefined) throw new Error('the token is of another use')
}

/**
 * Reads bearers that verify against a JWKS. A token's roles belong to the organization that it names. So a token of
 * another organization than the session's is refused. The returned function throws Fault as `VerifyToken` for all but
 * an absent bearer or the literal `None`.
 */
export function verifyingBearerReader(verify: VerifyToken, names: ClaimNames): ReadBearer {
  return async (authorization, { organizationId }) => {
    if (authorization === null || !/^Bearer\b/i.test(authorization)) return undefined
    const token = bearerToken(authorization) ?? ''
    if (token === 'None') return undefined
    const claims = await verify(token)
    const named = organizationOf(claims, names.organization)
    if (named !== undefined && named !== organizationId)
      throw new Fault('unauthenticated', 'The bearer token belongs to another organization than the session.')
    return { principal: principalOf(claims, names), verified: true }
  }
}

/**
 * Reads this service's access tokens, which must verify and belong to the request's session. Their subject is the
 * session's. Other tokens go on to `otherwise`. The returned function throws Fault `unauthenticated` for an invalid
 * token that names this service as its issuer.
 */
export function ownBearerReader(tokens: AccessTokens, otherwise: ReadBearer): ReadBearer {
  return async (authorization, session) => {
    const token = bearerToken(authorization)
    if (token === undefined || !claimsToBeOurs(token)) return await otherwise(authorization, session)
    const claims = await tokens.verify(token)
    if (claims === undefined || claims.sessionId !== session.sessionId)
      throw new Fault('unauthenticated', 'The access token is not valid for this session.')
    return { principal: session.principal, verified: true }
  }
}

/** Whether a token names this service as its issuer; verifies nothing. */
export function claimsToBeOurs(token: string): boolean {
  // Every request checks its session secret here, and the thrown decoding error would cost more than all else.
  if (token.split('.').length !== 3) return false
  try {
    return decodeJwt(token).iss === tokenIssuer
  } catch {
    return false
  }
}

/** The token of an `Authorization: Bearer` header; undefined for any other form. */
export function bearerToken(authorization: string | null): string | undefined {
  const match = authorization === null ? null : /^Bearer +(\S+) *$/i.exec(authorization)
  return match?.[1]
}

/**
 * The principal that claims name.
 * @throws Fault `unauthenticated` where they name no subject, or a reserved one, and as `rolesIn`
 */
export function principalOf(claims: JWTPayload, names: Pick<ClaimNames, 'roles'>): Principal {
  const { sub } = claims
  if (typeof sub !== 'string' || sub === '')
    throw new Fault(
      'unauthenticated',
      'The bearer token names no subject: its claim `sub` is missing or empty.',
    )
  assertPerson(sub)
  const roles = rolesIn(claims, names.roles)
  const email = emailIn(claims)
  return email === undefined ? { sub, roles } : { sub, email, roles }
}

/**
 * Refuses a subject that only a service session or the operator has (docs/reference/identity.md 5.4).
 * @throws Fault `unauthenticated`
 */
export function assertPerson(sub: string): void {
  if (isReservedSubject(sub))
    throw new Fault(
      'unauthenticated',
      'The subject is reserved: `service:…` names service sessions, and `operator` the operator.',
    )
}
