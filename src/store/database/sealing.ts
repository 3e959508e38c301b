/** Seals secrets at rest by AES-256-GCM. A secret is bound to its place, so it cannot be opened in another row. */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Fault } from '../../base/fault.ts'

/** The secrets keys of a process: one seals, all open. */
export interface SecretsKeys {
  /** 32 bytes: AES-256 for secrets at rest. Everything new is sealed by it. */
  readonly secretsKey: Uint8Array
  /** The key that seals after the next start. Until then it only opens what other replicas sealed. */
  readonly nextKey?: Uint8Array | undefined
  /** The key that sealed before. It only opens. */
  readonly formerKey?: Uint8Array | undefined
}

/** Whether each key has the length of one. */
export function areSecretsKeys({ secretsKey, nextKey, formerKey }: SecretsKeys): boolean {
  return [secretsKey, nextKey, formerKey].every((key) => key === undefined || key.length === 32)
}

/** One key, or all of a process. */
export type OpeningKeys = Uint8Array | SecretsKeys

const version = 1
const ivBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

/**
 * Encrypts a secret.
 * @param key 32 bytes
 * @param place what the secret belongs to; authenticated, not stored
 * @returns version, initialization vector, tag and ciphertext
 */
export function seal(key: Uint8Array, place: readonly string[], text: string): Uint8Array {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(JSON.stringify(place)))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Uint8Array.of(version), iv, cipher.getAuthTag(), sealed])
}

/**
 * Decrypts a secret by the first key that opens it.
 * @throws Fault `misconfigured` where no key does, or the bytes were changed or moved
 */
export function unseal(keys: OpeningKeys, place: readonly string[], sealed: Uint8Array): string {
  if (keys instanceof Uint8Array) return unsealBy(keys, place, sealed)
  const { secretsKey, nextKey, formerKey } = keys
  for (const key of [nextKey, formerKey]) {
    const text = key && tryUnseal(key, place, sealed)
    if (text !== undefined) return text
  }
  return unsealBy(secretsKey, place, sealed)
}

/** What the key opens; undefined where it does not. */
export function tryUnseal(key: Uint8Array, place: readonly string[], sealed: Uint8Array): string | undefined {
  try {
    return unsealBy(key, place, sealed)
  } catch {
    return undefined
  }
}

function unsealBy(key: Uint8Array, place: readonly string[], sealed: Uint8Array): string {
  try {
    if (sealed[0] !== version) throw new Error(`sealing version ${sealed[0]}`)
    const iv = sealed.subarray(1, 1 + ivBytes)
    const tag = sealed.subarray(1 + ivBytes, 1 + ivBytes + tagBytes)
    const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes })
      .setAAD(Buffer.from(JSON.stringify(place)))
      .setAuthTag(tag)
    return Buffer.concat([
      decipher.update(sealed.subarray(1 + ivBytes + tagBytes)),
      decipher.final(),
    ]).toString('utf8')
  } catch (cause) {
    throw new Fault(
      'misconfigured',
      'A stored secret cannot be opened: start with the secrets key under which it was stored.',
      { cause },
    )
  }
}
