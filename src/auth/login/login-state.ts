/**
 * Seals the state of a login between /login and /callback in a cookie of the browser that started it. So /login writes
 * nothing to the store, and a callback in another browser fails.
 */

import { sameSecret } from '../../base/same-secret.ts'
import { type OpeningKeys, seal, unseal } from '../../store/database/sealing.ts'
import type { AuthorizationRequest } from '../authorization/tickets.ts'
import type { LoginChecks } from './identity-provider.ts'

/** What a login is for: a path of this service to return to, or a client that a person lets act. */
export type LoginPurpose =
  | { readonly returnTo: string; readonly authorization?: never }
  | { readonly authorization: AuthorizationRequest; readonly returnTo?: never }

type LoginState = LoginChecks &
  LoginPurpose & {
    /** Milliseconds since the Unix epoch. */
    readonly expiresAtMs: number
  }

const place = ['login']

/** The cookie's value. */
export function sealLogin(key: Uint8Array, state: LoginState): string {
  return Buffer.from(seal(key, place, JSON.stringify(state))).toString('base64url')
}

/**
 * Opens the login state in `cookie`, if it matches `state` and has not expired.
 * @param state the query parameter of the callback
 * @returns undefined for anything else
 */
export function openLogin(
  keys: OpeningKeys,
  cookie: string | undefined,
  state: string | null,
  nowMs: number,
): LoginState | undefined {
  if (cookie === undefined || state === null) return undefined
  let login: LoginState
  try {
    login = JSON.parse(unseal(keys, place, Buffer.from(cookie, 'base64url'))) as LoginState
  } catch {
    return undefined
  }
  return sameSecret(login.state, state) && login.expiresAtMs > nowMs ? login : undefined
}

/** A browser need not store a cookie above 4096 bytes (RFC 6265, 6.1), and the sealed state is a cookie. */
const pathLengthMax = 1_000

/** `text` as a path of this service to return to after a login; `fallback` where it leads elsewhere. */
export function localPath(text: string | null, fallback: string): string {
  const base = 'http://service.invalid'
  const url = text?.startsWith('/') ? URL.parse(text, base) : null
  if (url === null || url.origin !== base) return fallback
  const path = `${url.pathname}${url.search}`
  // `/.//host` has the path `//host`, which a browser reads as another host's address.
  return path.startsWith('//') || path.length > pathLengthMax ? fallback : path
}
