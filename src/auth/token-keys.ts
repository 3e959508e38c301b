/** Keys that verify the tokens of identity providers, and what holds for all such tokens. */

import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { Fault } from '../base/fault.ts'
import { limits } from '../limits.ts'

/** The keys of one issuer. */
export interface TokenKeys {
  /** Finds the key that a token's header names. @throws Fault `unavailable` where the keys cannot be fetched */
  readonly find: JWTVerifyGetKey
  /**
   * Fetches the keys again, at most every few seconds, and once for all who ask meanwhile. Absent where they are given.
   * @param sinceMs when the keys were looked at, in milliseconds since 1970
   * @returns whether they were fetched after that
   */
  readonly renewedSince?: (sinceMs: number) => Promise<boolean>
}

/** Milliseconds by which the clock of an identity provider may differ from ours. */
export const tokenSkewMs = 60_000
/** Least milliseconds between two fetches of a key set for an unknown key or a signature that does not fit. */
export const keySetCooldownMs = 5_000

/** Characters of a token; longer ones are refused, except on the PostgreSQL wire, whose password message has its own bound. */
export const tokenCharsMax = 32 * 1024

/** Algorithms of public keys. With others, a key set that anyone can read would be a shared secret. */
const tokenAlgorithms = [
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
  // The same by its name of its own (RFC 9864).
  'Ed25519',
] as const

/** Errors about the token rather than about fetching the key set. */
const aboutToken = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]

/**
 * The keys at an address, which are cached, and fetched again for a key that they lack.
 * @param fetch sends the request; default: the runtime's own
 */
export function remoteKeys(url: string, fetch?: FetchImplementation): TokenKeys {
  const keys = createRemoteJWKSet(new URL(url), {
    cooldownDuration: keySetCooldownMs,
    timeoutDuration: limits.identityProviderMs,
    ...(fetch !== undefined && { [customFetch]: fetch }),
  })
  let renewal: Promise<boolean> | undefined
  let [triedMs, renewedMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const renew = async () => {
    try {
      await keys.reload()
      renewedMs = Date.now()
      return true
    } catch {
      // The keys that there are decide then.
      return false
    } finally {
      renewal = undefined
    }
  }
  return {
    async find(header, token) {
      try {
        return await keys(header, token)
      } catch (cause) {
        if (aboutToken.some((kind) => cause instanceof kind)) throw cause
        throw new Fault('unavailable', 'The keys that verify tokens could not be fetched. Try again.', {
          cause,
        })
      }
    },
    async renewedSince(sinceMs) {
      if (renewal !== undefined) return await renewal
      if (renewedMs >= sinceMs) return true
      if (keys.coolingDown || Date.now() < triedMs + keySetCooldownMs) return false
      triedMs = Date.now()
      renewal = renew()
      return await renewal
    },
  }
}

/**
 * Verifies a token by the keys of its issuer, with an algorithm of public keys. Where its signature does not fit, the
 * keys are fetched again, because some providers replace a key under the same id.
 * @throws Fault `unavailable` where the keys cannot be fetched, and as jose for a token that is not valid
 */
export async function verifyByKeys(
  token: string,
  keys: TokenKeys,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  const verify = () =>
    jwtVerify(token, keys.find, {
      algorithms: [...tokenAlgorithms],
      clockTolerance: tokenSkewMs / 1000,
      ...options,
    })
  const lookedMs = Date.now()
  try {
    return await verify()
  } catch (thrown) {
    const isForged = thrown instanceof errors.JWSSignatureVerificationFailed
    if (!isForged || !(await keys.renewedSince?.(lookedMs))) throw thrown
    return await verify()
  }
}
