/**
 * Remembers whose each credential was when it was last used, so that what a request takes before its session is found
 * counts for its tenant. Nothing is admitted by it. It keeps digests, never credentials.
 */

import { Lru } from '../base/lru.ts'
import { becomeOwned, nobody } from '../base/owner.ts'
import { bearerToken } from './bearer.ts'
import { readCookie, sessionCookie } from './credentials.ts'
import type { FindSession } from './guard.ts'

/** Credentials that are remembered. */
const cachedMax = 10_000

export class CachedOwners {
  readonly #byDigest = new Lru<string, string>(cachedMax)

  /** Whose the request seems to be. All strangers together are one owner, because anybody may make up credentials. */
  of({ headers }: Request): string {
    const credential =
      headers.get('x-svc-session') ||
      bearerToken(headers.get('authorization')) ||
      readCookie(headers, sessionCookie)
    return (credential && this.#byDigest.get(digestOf(credential))) ?? nobody
  }

  /** The look-up of sessions, which tells whose the work is. */
  telling(find: FindSession): FindSession {
    return async (credential, prefix) => {
      const session = await find(credential, prefix)
      if (session === undefined) {
        // It was revoked, or never was: its holder counts for no tenant any more.
        this.#byDigest.delete(digestOf(credential))
        return undefined
      }
      becomeOwned(session.tenant)
      this.#byDigest.set(digestOf(credential), session.tenant)
      return session
    }
  }
}

function digestOf(credential: string): string {
  return new Bun.CryptoHasher('sha256').update(credential).digest('base64')
}
