/**
 * Keys of subjects (docs/reference/transform.md 9): a random key for each subject of a kind, from which a column's key is
 * derived. The service keeps them; destroying one makes what it encrypted unreadable, in every copy.
 */

import { createHmac } from 'node:crypto'
import {
  bindingOf,
  hkdf,
  type KeyName,
  keyBytes,
  makeWriterKey,
  openKey,
  sealKey,
  sharedKey,
  type WriterKey,
} from './derive-keys.ts'
import type { KeyMethod, KeyPurpose } from './plan.ts'

export const subjectKeysType = 'covenant-subject-keys+jwt'
/** Bytes of a subject's key, and of its id. */
export const subjectKeyBytes = 32
export const subjectIdBytes = 16
/** base64url of 16 bytes. */
export const subjectIdPattern = /^[A-Za-z0-9_-]{22}$/

/** One subject of a tenant. `ref` tells it apart from the others of its kind and names nobody. */
export interface Subject {
  readonly kind: string
  readonly ref: string
}

/** A column's key for one subject. */
export interface SubjectKey {
  readonly sid: string
  readonly key: Uint8Array
}

/** By {@link subjectKeyLabel}; of an erased subject by {@link subjectLabel}. */
export type SubjectKeySet = ReadonlyMap<string, SubjectKey | 'shredded'>

/** What a column's key is derived for, besides the subject. */
export interface ColumnKeyName {
  readonly scope: string
  readonly method: KeyPurpose
  readonly kid: string
}

/** As the service sends it. */
export interface WrappedSubjectKey extends Subject, ColumnKeyName {
  readonly sid: string
  readonly key: string
}

/** The payload of the service's answer, a JWS of the type {@link subjectKeysType}. */
export interface SubjectKeysAnswer {
  readonly v: 1
  readonly iss: string
  readonly tenant: string
  readonly table_uuid: string
  /** Of the plan that they are for. */
  readonly nonce: string
  readonly iat: number
  readonly epk: string
  readonly keys: readonly WrappedSubjectKey[]
  /** Subjects that were erased. */
  readonly shredded: readonly Subject[]
}

/** The name of the key by which subjects of a kind are told apart. It does not rotate: a subject stays the same. */
export function refKeyName(kind: string): ColumnKeyName {
  return { scope: kind, method: 'subject', kid: 'k1' }
}

/** The reference of a subject: numbers as decimal text. */
export function subjectRef(refKey: Uint8Array, value: string): string {
  return createHmac('sha256', refKey).update(value).digest().subarray(0, subjectIdBytes).toString('base64url')
}

/** What stands for a subject in a set of keys. */
export function subjectLabel({ kind, ref }: Subject): string {
  return `${kind}|${ref}`
}

/** What stands for a subject's key of one column in a set of keys. */
export function subjectKeyLabel(subject: Subject, { scope, method, kid }: ColumnKeyName): string {
  return `${subjectLabel(subject)}|${scope}|${method}|${kid}`
}

/** A column's key below the key of a subject. */
export function deriveSubjectKey(
  root: Uint8Array,
  { tenant, scope, method, kid }: KeyName,
  sid: string,
): Uint8Array {
  const info = `${tenant}|${scope}|${method}|${kid}|${sid}`
  return hkdf(root, Buffer.from('covenant/1'), info, keyBytes(method as KeyMethod))
}

function boundTo(
  tenant: string,
  { scope, method, kid, kind, ref, sid }: Omit<WrappedSubjectKey, 'key'>,
): string {
  return `${bindingOf({ tenant, scope, kid, sid })}|${method}|${kind}|${ref}`
}

/**
 * Wraps keys for the writer that brought `recipient`.
 * @throws where `recipient` is no X25519 public key
 */
export function wrapSubjectKeys(
  recipient: string,
  nonce: string,
  tenant: string,
  keys: readonly (Omit<WrappedSubjectKey, 'key'> & { readonly key: Uint8Array })[],
  random: (bytes: number) => Uint8Array,
  ephemeral: WriterKey = makeWriterKey(),
): Pick<SubjectKeysAnswer, 'epk' | 'keys'> {
  const epk = ephemeral.publicKey
  const wrapping = sharedKey(ephemeral.privateKey, epk, recipient, recipient, `subject-keys|${nonce}`)
  return {
    epk,
    keys: keys.map(({ key, ...named }) => ({
      ...named,
      key: sealKey(wrapping, random(12), boundTo(tenant, named), key),
    })),
  }
}

/**
 * Opens the keys of an answer whose signature was verified.
 * @throws where one was wrapped for another writer, changed, or is not well-formed
 */
export function unwrapSubjectKeys(writer: WriterKey, answer: SubjectKeysAnswer): SubjectKeySet {
  const { epk, nonce, tenant, keys, shredded } = answer
  const wrapping = sharedKey(writer.privateKey, epk, writer.publicKey, epk, `subject-keys|${nonce}`)
  const found = new Map<string, SubjectKey | 'shredded'>()
  for (const { key: wrapped, ...named } of keys) {
    const key = openKey(wrapping, boundTo(tenant, named), wrapped)
    if (key.length !== keyBytes(named.method) || !subjectIdPattern.test(named.sid))
      throw new Error('malformed')
    found.set(subjectKeyLabel(named, named), { sid: named.sid, key })
  }
  for (const subject of shredded) found.set(subjectLabel(subject), 'shredded')
  return found
}
