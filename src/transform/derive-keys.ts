/**
 * Keys of the transform (docs/reference/transform.md 4): a tenant's key gives scope keys by HKDF, and a scope key travels
 * to one writer, wrapped to the public key that its request brought. Where tenant keys are kept is not this file's.
 */

import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { KeyPurpose, WrappedKey } from './plan.ts'

/** What a key is for; one scope's keys for two purposes share nothing. */
export interface KeyName {
  readonly tenant: string
  readonly scope: string
  readonly method: KeyPurpose
  readonly kid: string
}

const salt = Buffer.from('covenant/1')

/** Bytes of a scope key: two AES-256 keys for SIV, else one. */
export function keyBytes(method: KeyPurpose): number {
  return method === 'siv' ? 64 : 32
}

/** HKDF-SHA-256 (RFC 5869). */
export function hkdf(key: Uint8Array, saltBytes: Uint8Array, info: string, bytes: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, saltBytes, Buffer.from(info), bytes))
}

/** The scope key of `name` below a tenant's key of 32 bytes. */
export function deriveScopeKey(tenantKey: Uint8Array, { tenant, scope, method, kid }: KeyName): Uint8Array {
  return hkdf(tenantKey, salt, `${tenant}|${scope}|${method}|${kid}`, keyBytes(method))
}

/** What ciphertext and tweak are bound to, as text: version, tenant, scope, key, and the subject's key where there is one. */
export function bindingOf({
  tenant,
  scope,
  kid,
  sid,
}: Omit<KeyName, 'method'> & { readonly sid?: string }): string {
  return `covenant/1|${tenant}|${scope}|${kid}${sid === undefined ? '' : `|${sid}`}`
}

export interface WriterKey {
  readonly privateKey: KeyObject
  /** base64url of the 32 bytes. */
  readonly publicKey: string
}

/** A key pair for one request. */
export function makeWriterKey(): WriterKey {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  return { privateKey, publicKey: publicKey.export({ format: 'jwk' }).x ?? '' }
}

/** A private X25519 key of its 32 bytes, for vectors. */
export function writerKeyOf(bytes: Uint8Array): WriterKey {
  // PKCS #8 of RFC 8410: a fixed prefix, then the key.
  const der = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), bytes])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return { privateKey, publicKey: createPublicKey(privateKey).export({ format: 'jwk' }).x ?? '' }
}

/** The wrapping key of a request: `own` and `other` are of two pairs, of which one is the request's. */
export function sharedKey(
  own: KeyObject,
  epk: string,
  recipient: string,
  other: string,
  info: string,
): Uint8Array {
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: other }, format: 'jwk' })
  const secret = diffieHellman({ privateKey: own, publicKey })
  const both = Buffer.concat([Buffer.from(epk, 'base64url'), Buffer.from(recipient, 'base64url')])
  return hkdf(secret, both, `covenant/1|${info}`, 32)
}

/** A key under a wrapping key, as base64url of nonce, ciphertext and tag. */
export function sealKey(wrapping: Uint8Array, iv: Uint8Array, bound: string, key: Uint8Array): string {
  const cipher = createCipheriv('aes-256-gcm', wrapping, iv)
  cipher.setAAD(Buffer.from(bound))
  return Buffer.concat([iv, cipher.update(key), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** Opens what {@link sealKey} sealed. @throws where it was changed, or is bound to something else */
export function openKey(wrapping: Uint8Array, bound: string, text: string): Uint8Array {
  const sealed = Buffer.from(text, 'base64url')
  const cipher = createDecipheriv('aes-256-gcm', wrapping, sealed.subarray(0, 12))
  cipher.setAAD(Buffer.from(bound))
  cipher.setAuthTag(sealed.subarray(-16))
  return new Uint8Array(Buffer.concat([cipher.update(sealed.subarray(12, -16)), cipher.final()]))
}

/**
 * Wraps scope keys for the writer that brought `recipient`, a base64url X25519 public key.
 *
 * @throws where `recipient` is no such key
 */
export function wrapKeys(
  recipient: string,
  nonce: string,
  keys: readonly (KeyName & { readonly key: Uint8Array })[],
  ephemeral: WriterKey = makeWriterKey(),
  random: (bytes: number) => Uint8Array = randomBytes,
): { readonly epk: string; readonly wrapped: readonly WrappedKey[] } {
  const epk = ephemeral.publicKey
  const wrapping = sharedKey(ephemeral.privateKey, epk, recipient, recipient, `plan-keys|${nonce}`)
  const wrapped = keys.map(({ key, ...name }) => {
    const { scope, method, kid } = name
    return { scope, method, kid, key: sealKey(wrapping, random(12), `${bindingOf(name)}|${method}`, key) }
  })
  return { epk, wrapped }
}

/** The key that was wrapped for `writer`; undefined where it was wrapped for another, or changed. */
export function unwrapKey(
  writer: WriterKey,
  epk: string,
  nonce: string,
  tenant: string,
  { scope, method, kid, key }: WrappedKey,
): Uint8Array | undefined {
  try {
    const wrapping = sharedKey(writer.privateKey, epk, writer.publicKey, epk, `plan-keys|${nonce}`)
    const opened = openKey(wrapping, `${bindingOf({ tenant, scope, kid })}|${method}`, key)
    return opened.length === keyBytes(method) ? opened : undefined
  } catch {
    return undefined
  }
}
