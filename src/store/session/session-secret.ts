/**
 * Makes and checks session secrets: 20 random bytes and 12 bytes of their HMAC under the root of sessions. The HMAC alone
 * detects a secret that was not made with it, so guesses cost the database nothing.
 */

import { createHash, createHmac, randomBytes } from 'node:crypto'
import { sameSecret } from '../../base/same-secret.ts'
import type { Store } from '../store.ts'

export const serviceSecretPrefix = 'svc_'
export const browserSecretPrefix = 'svc_web_'
type SecretPrefix = typeof serviceSecretPrefix | typeof browserSecretPrefix

const randomCount = 20
const checkCount = 12
const bodyPattern = /^[A-Za-z0-9_-]{43}$/

function checkOf(store: Store, prefix: SecretPrefix, random: Uint8Array): Uint8Array {
  const hmac = createHmac('sha256', store.roots.sessions)
  return hmac.update(`session secret ${prefix}\0`).update(random).digest().subarray(0, checkCount)
}

/** A new secret, and its SHA-256 `digest`, which is all that the store keeps. */
export function newSessionSecret(
  store: Store,
  prefix: SecretPrefix,
): { readonly secret: string; readonly digest: Uint8Array } {
  const random = randomBytes(randomCount)
  const body = Buffer.concat([random, checkOf(store, prefix, random)]).toString('base64url')
  const secret = `${prefix}${body}`
  return { secret, digest: createHash('sha256').update(secret).digest() }
}

/** The SHA-256 by which a secret is looked up; undefined for a secret that was not made with this root. */
export function sessionSecretDigest(
  store: Store,
  prefix: SecretPrefix,
  secret: string,
): Uint8Array | undefined {
  if (!isSessionSecret(prefix, secret)) return undefined
  const bytes = Buffer.from(secret.slice(prefix.length), 'base64url')
  const check = checkOf(store, prefix, bytes.subarray(0, randomCount))
  if (!sameSecret(check, bytes.subarray(randomCount))) return undefined
  return createHash('sha256').update(secret).digest()
}

/** Whether a text has the form of a session secret. */
export function isSessionSecret(prefix: SecretPrefix, text: string): boolean {
  return text.startsWith(prefix) && bodyPattern.test(text.slice(prefix.length))
}
