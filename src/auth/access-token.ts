/**
 * Issues and verifies this service's access tokens (docs/reference/identity.md 7): JWTs bound to a service session. A
 * valid signature proves only who issued the token. Every request also looks up the session, because it may have been
 * revoked.
 */

import { createHash } from 'node:crypto'
import { type CryptoKey, decodeProtectedHeader, importJWK, jwtVerify, SignJWT } from 'jose'
import { type Clock, systemClock } from '../base/clock.ts'
import { Lru } from '../base/lru.ts'
import { type Session, type SessionScope, sessionScopes } from '../core/session.ts'
import { limits } from '../limits.ts'
import { loadSigningKeys } from '../store/session/signing-keys.ts'
import type { Store } from '../store/store.ts'

/** The `iss` and `aud` of this service's tokens. A token that names it must verify here. */
export const tokenIssuer = 'urn:covenant:access-token'
const algorithm = 'ES256'
/** Least milliseconds between two reads of the key table for a key that is not cached. */
const reloadMs = 1_000
const verifiedMax = 10_000

interface AccessTokenClaims {
  readonly sessionId: string
  readonly scopes: readonly SessionScope[]
  /** Milliseconds since the Unix epoch. */
  readonly expiresAtMs: number
}

/** Signs and verifies with the store's keys, which it caches. Each replica has one. */
export class AccessTokens {
  readonly #public = new Map<string, CryptoKey>()
  /** Claims of verified tokens by digest, because an engine sends the same token thousands of times. */
  readonly #verified = new Lru<string, AccessTokenClaims>(verifiedMax)
  #loadedAtMs = Number.NEGATIVE_INFINITY
  #loading: Promise<void> | undefined

  constructor(
    readonly store: Store,
    readonly clock: Clock = systemClock,
  ) {}

  /**
   * Issues a token for the session with `scopes`, which the session must hold.
   * @returns the JWT and its life in seconds
   */
  async issue(
    session: Session,
    scopes: readonly SessionScope[],
  ): Promise<{ readonly token: string; readonly expiresInSeconds: number }> {
    const [key] = await loadSigningKeys(this.store)
    const nowSeconds = Math.floor(this.clock.now() / 1000)
    const expiresInSeconds = limits.accessTokenMs / 1000
    const token = await new SignJWT({ sid: session.sessionId, scope: scopes.join(' ') })
      .setProtectedHeader({ alg: algorithm, kid: key.id, typ: 'at+jwt' })
      .setIssuer(tokenIssuer)
      .setAudience(tokenIssuer)
      .setSubject(session.principal.sub)
      .setJti(crypto.randomUUID())
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + expiresInSeconds)
      .sign(await importJWK(key.privateJwk, algorithm))
    return { token, expiresInSeconds }
  }

  /** The claims of a token; undefined where its signature, form or time is invalid. */
  async verify(token: string): Promise<AccessTokenClaims | undefined> {
    const digest = createHash('sha256').update(token).digest('base64')
    const cached = this.#verified.get(digest)
    if (cached !== undefined) return cached.expiresAtMs > this.clock.now() ? cached : undefined
    const claims = await this.#verifySignature(token)
    if (claims !== undefined) this.#verified.set(digest, claims)
    return claims
  }

  async #verifySignature(token: string): Promise<AccessTokenClaims | undefined> {
    const key = await this.#publicKey(keyIdOf(token))
    if (key === undefined) return undefined
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        issuer: tokenIssuer,
        audience: tokenIssuer,
        typ: 'at+jwt',
        requiredClaims: ['sid', 'exp', 'scope'],
        currentDate: new Date(this.clock.now()),
      })
      const named = String(payload.scope).split(' ')
      return {
        sessionId: String(payload.sid),
        scopes: sessionScopes.filter((scope) => named.includes(scope)),
        expiresAtMs: Number(payload.exp) * 1000,
      }
    } catch {
      return undefined
    }
  }

  async #publicKey(id: string | undefined): Promise<CryptoKey | undefined> {
    if (id === undefined) return undefined
    const cached = this.#public.get(id)
    if (cached !== undefined) return cached
    if (this.#loading === undefined) {
      if (this.clock.now() - this.#loadedAtMs < reloadMs) return undefined
      this.#loadedAtMs = this.clock.now()
      this.#loading = this.#load()
        .catch((error: unknown) => {
          // A failed read does not show that the key is missing, so the next request reads again.
          this.#loadedAtMs = Number.NEGATIVE_INFINITY
          throw error
        })
        .finally(() => {
          this.#loading = undefined
        })
    }
    await this.#loading
    return this.#public.get(id)
  }

  async #load(): Promise<void> {
    for (const { id, publicJwk } of await loadSigningKeys(this.store))
      if (!this.#public.has(id)) this.#public.set(id, (await importJWK(publicJwk, algorithm)) as CryptoKey)
  }
}

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid
  } catch {
    return undefined
  }
}
