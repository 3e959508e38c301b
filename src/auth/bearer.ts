/**
 * Bearer tokens (SPEC 5, step 2). Without a verifier a token's claims are read unverified, as SPEC says,
 * and count for the write gateway alone; with one, signature, issuer and audience must hold.
 */

import { createRemoteJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose'
import { Fault } from '../base/fault.ts'
import type { Principal } from '../core/principal.ts'

export interface BearerPrincipal {
  readonly principal: Principal
  readonly verified: boolean
}

/** @returns undefined where there is no bearer to speak of and the chain goes on */
export type ReadBearer = (authorization: string | null) => Promise<BearerPrincipal | undefined>

export interface JwksOptions {
  readonly url: string
  readonly issuer: string
  readonly audience: string
}

/** Reads claims without verifying them: a proxy or the identity provider in front is trusted to have. */
export const readUnverifiedBearer: ReadBearer = async (authorization) => {
  const token = bearerToken(authorization)
  if (token === undefined) return undefined
  let claims: JWTPayload
  try {
    claims = decodeJwt(token)
  } catch {
    return undefined
  }
  return { principal: principalOf(claims), verified: false }
}

/**
 * Verifies bearers against a JWKS, which is cached and fetched again when a key is unknown.
 * The returned function throws Fault `unauthenticated` for all but an absent bearer or the literal `None`.
 */
export function verifyingBearerReader(options: JwksOptions): ReadBearer {
  const keys = createRemoteJWKSet(new URL(options.url))
  return async (authorization) => {
    const token = bearerToken(authorization)
    if (token === undefined || token === 'None') return undefined
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: options.issuer,
        audience: options.audience,
        algorithms: [
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
        ],
      })
      return { principal: principalOf(payload), verified: true }
    } catch (cause) {
      if (cause instanceof Fault) throw cause
      throw new Fault('unauthenticated', 'The bearer token could not be verified.', { cause })
    }
  }
}

function bearerToken(authorization: string | null): string | undefined {
  const match = authorization === null ? null : /^Bearer +(\S+) *$/i.exec(authorization)
  return match?.[1]
}

function principalOf(claims: JWTPayload): Principal {
  const { sub, email } = claims
  if (typeof sub !== 'string' || sub === '')
    throw new Fault(
      'unauthenticated',
      'The bearer token names no subject: its claim `sub` is missing or empty.',
    )
  const roles = rolesOf(claims.roles) ?? rolesOf(claims.groups) ?? []
  return typeof email === 'string' ? { sub, email, roles } : { sub, roles }
}

/** A claim that is a string array or a space-delimited string; undefined for anything else. */
function rolesOf(claim: unknown): readonly string[] | undefined {
  if (typeof claim === 'string') return claim.split(' ').filter((role) => role !== '')
  if (Array.isArray(claim) && claim.every((role) => typeof role === 'string')) return claim
  return undefined
}
