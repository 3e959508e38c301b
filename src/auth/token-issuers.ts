/**
 * Verifies bearer tokens of the issuers that a tenant trusts (docs/reference/identity.md 3.3). A token is verified by the
 * keys, audience and claims of the issuer that it names, and of no other.
 */

import { decodeJwt, type JWTPayload } from 'jose'
import { Fault } from '../base/fault.ts'
import { Lru } from '../base/lru.ts'
import type { Session } from '../core/session.ts'
import { type StoredIssuer, tokenIssuersNamed, tokenIssuersOf } from '../store/session/token-issuers.ts'
import type { Store } from '../store/store.ts'
import { bearerToken, principalOf, type ReadBearer, verifyAccess } from './bearer.ts'
import { type ClaimNames, organizationOf } from './claims.ts'
import type { TellMissingClaims } from './missing-claims.ts'
import type { FindIssuerKeys } from './workload/issuer-keys.ts'

/** A verified token of a tenant's issuer. */
interface IssuedToken {
  readonly claims: JWTPayload
  readonly issuer: StoredIssuer
}

interface TokenIssuerParts {
  readonly store: Store
  readonly findKeys: FindIssuerKeys
  /** Told of claims that are set and yield nothing. */
  readonly tell?: TellMissingClaims
}

const cachedMax = 1_000

/** Each replica has one. */
export class TokenIssuers {
  /** By tenant and version, so that a change holds from the next request on. */
  readonly #known = new Lru<string, Promise<readonly StoredIssuer[]>>(cachedMax)

  constructor(private readonly parts: TokenIssuerParts) {}

  /** The issuers of a session's tenant. @throws Fault where the store fails; that is not cached */
  async ofTenant({ tenant, issuersVersion = '0' }: Session): Promise<readonly StoredIssuer[]> {
    if (issuersVersion === '0') return []
    const key = `${tenant} ${issuersVersion}`
    const known = this.#known.get(key)
    if (known !== undefined) return await known
    const issuers = tokenIssuersOf(this.parts.store, tenant)
    this.#known.set(key, issuers)
    issuers.catch(() => this.#known.delete(key))
    return await issuers
  }

  /**
   * Verifies a token by one issuer.
   * @throws Fault `unauthenticated` for a token that is not valid for it, `unavailable` where keys cannot be fetched
   */
  async verify(token: string, by: StoredIssuer): Promise<JWTPayload> {
    const claims = await verifyAccess(token, await this.parts.findKeys(by.keySource), by)
    this.parts.tell?.(claims, claimNamesOf(by), { kind: 'tenant', issuer: by.issuer, tenant: by.tenant })
    return claims
  }

  /**
   * Verifies a token that comes without a session: its tenant is the one of the organization that it names, if that
   * tenant trusts its issuer.
   * @returns undefined where no tenant of that organization has the issuer
   * @throws as `verify`
   */
  async verifyForOrganization(token: string): Promise<IssuedToken | undefined> {
    const claimed = decoded(token)
    if (typeof claimed?.iss !== 'string') return undefined
    for (const issuer of await tokenIssuersNamed(this.parts.store, claimed.iss)) {
      // What an unverified token says only selects by what it is verified.
      if (organizationOf(claimed, issuer.organizationClaim) !== issuer.organizationId) continue
      return { claims: await this.verify(token, issuer), issuer }
    }
    return undefined
  }
}

/** The names of the claims that an issuer declares. */
function claimNamesOf({ organizationClaim, rolesClaim }: StoredIssuer): ClaimNames {
  return { organization: organizationClaim, roles: rolesClaim }
}

/** The principal that claims of an issuer name. @throws Fault as `principalOf` */
export function principalByIssuer(claims: JWTPayload, issuer: StoredIssuer) {
  const { sub } = claims
  const named =
    typeof sub === 'string' && sub !== '' ? { ...claims, sub: `${issuer.subjectPrefix}${sub}` } : claims
  return principalOf(named, claimNamesOf(issuer))
}

/**
 * Reads bearers of the issuers of the session's tenant. A tenant with issuers takes no token that is read without
 * verification. The returned function throws Fault `unauthenticated` for a token that its issuer did not sign for this
 * tenant.
 * @param otherwise reads tokens of other issuers
 * @param verifies whether `otherwise` verifies tokens
 */
export function issuerBearerReader(
  issuers: TokenIssuers,
  otherwise: ReadBearer,
  verifies: boolean,
): ReadBearer {
  return async (authorization, session) => {
    if (authorization === null || !/^Bearer\b/i.test(authorization))
      return await otherwise(authorization, session)
    const token = bearerToken(authorization) ?? ''
    if (token === 'None') return await otherwise(authorization, session)
    const own = await issuers.ofTenant(session)
    const iss = own.length === 0 ? undefined : decoded(token)?.iss
    const issuer = own.find((one) => one.issuer === iss)
    if (issuer === undefined) {
      if (own.length === 0 || verifies) return await otherwise(authorization, session)
      throw new Fault('unauthenticated', 'The tenant does not trust the issuer of the bearer token.')
    }
    const claims = await issuers.verify(token, issuer)
    const named = organizationOf(claims, issuer.organizationClaim)
    if (named !== undefined && named !== session.organizationId)
      throw new Fault('unauthenticated', 'The bearer token belongs to another organization than the session.')
    return { principal: principalByIssuer(claims, issuer), verified: true }
  }
}

function decoded(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token)
  } catch {
    return undefined
  }
}
