/** Keys that verify the tokens of identity providers, and what holds for all such tokens. */

import { createRemoteJWKSet, customFetch, errors, type FetchImplementation, type JWTVerifyGetKey } from 'jose'
import { Fault } from '../base/fault.ts'
import { limits } from '../limits.ts'

/** Milliseconds by which the clock of an identity provider may differ from ours. */
export const tokenSkewMs = 60_000
/** Least milliseconds between two fetches of a key set for an unknown key. */
export const keySetCooldownMs = 5_000

/** Algorithms of public keys. With others, a key set that anyone can read would be a shared secret. */
export const tokenAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const

/** Errors about the token rather than about fetching the key set. */
const aboutToken = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]

/**
 * The keys at an address, which are cached, and fetched again for a key that they lack.
 * @param fetch sends the request; default: the runtime's own
 * @returns a function that throws Fault `unavailable` where the keys cannot be fetched
 */
export function remoteKeys(url: string, fetch?: FetchImplementation): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(url), {
    cooldownDuration: keySetCooldownMs,
    timeoutDuration: limits.identityProviderMs,
    ...(fetch !== undefined && { [customFetch]: fetch }),
  })
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (cause) {
      if (aboutToken.some((kind) => cause instanceof kind)) throw cause
      throw new Fault('unavailable', 'The keys that verify tokens could not be fetched. Try again.', {
        cause,
      })
    }
  }
}
