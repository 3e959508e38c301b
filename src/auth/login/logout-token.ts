/**
 * Verifies logout tokens by which the identity provider ends logins (OpenID Connect Back-Channel Logout 1.0, 2.6). Does
 * not know which were used before.
 */

import type { JWTPayload } from 'jose'
import type { ServerMetadata } from 'openid-client'
import { Fault } from '../../base/fault.ts'
import type { LoggedOut } from '../../store/session/ended-logins.ts'
import { remoteKeys, verifyByKeys } from '../token-keys.ts'

/**
 * Verifies one token.
 * @throws Fault `bad_request` where it is not valid, `unavailable` where its key cannot be fetched
 */
export type VerifyLogoutToken = (token: string, nowMs: number) => Promise<LoggedOut>

/** Milliseconds for which a token is accepted, whenever it says that it ends. */
export const logoutTokenMs = 300_000

const event = 'http://schemas.openid.net/event/backchannel-logout'
/** The type that the standard asks for, and those that providers send instead. */
const types: ReadonlySet<string | undefined> = new Set([undefined, 'logout+jwt', 'jwt'])

/** The verifier of the tokens that a provider issues for one client. */
export function logoutTokenVerifier(provider: ServerMetadata, clientId: string): VerifyLogoutToken {
  const { issuer, jwks_uri: url } = provider
  if (url === undefined) throw new Fault('unavailable', 'The identity provider publishes no keys.')
  const keys = remoteKeys(url)
  return async (token, nowMs) => {
    try {
      const { payload, protectedHeader } = await verifyByKeys(token, keys, {
        ...{ issuer, audience: clientId },
        requiredClaims: ['iat', 'exp', 'jti'],
        maxTokenAge: logoutTokenMs / 1000,
        currentDate: new Date(nowMs),
      })
      if (!types.has(protectedHeader.typ?.toLowerCase())) throw new Error('the token is of another use')
      return readLogout(payload)
    } catch (cause) {
      if (cause instanceof Fault) throw cause
      throw new Fault('bad_request', 'The logout token is not valid.', { cause })
    }
  }
}

/** @throws Error for a token that is no logout token, or names nobody */
function readLogout(claims: JWTPayload): LoggedOut {
  const { events, iss, jti, iat, sub, sid } = claims
  if (!isObject(events) || !isObject(events[event])) throw new Error('the token is no logout token')
  // So that no ID token is taken for a logout token.
  if ('nonce' in claims) throw new Error('the token has a nonce')
  const [login, person] = [nameOf(sid), nameOf(sub)]
  if (login === undefined && person === undefined) throw new Error('the token names no login')
  return { id: JSON.stringify([iss, jti]), sid: login, sub: person, atMs: Number(iat) * 1000 }
}

/** @throws Error for a name that could not be one of ours */
function nameOf(claim: unknown): string | undefined {
  if (claim === undefined) return undefined
  if (typeof claim === 'string' && claim !== '') return claim
  throw new Error('the token names a login in another form')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
