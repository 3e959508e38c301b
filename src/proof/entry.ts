/**
 * The entry of a leaf: what is proven of one row. It holds names, numbers and times as they are, and everything that a
 * person wrote or is called by as a salted hash. Without the salt nobody finds out what was hashed, so a text may be
 * erased and the proof stays whole.
 */

import { createHmac } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './hash.ts'

/**
 * What a leaf may be of, each with the number by which the store knows it. A number is never used again. Decisions have the
 * greatest, because an index grows best at its end.
 */
export const leafKinds = {
  change: 2,
  'sign-off': 3,
  attestation: 4,
  'attestation-end': 5,
  pin: 6,
  grant: 7,
  'grant-end': 8,
  administration: 9,
  month: 10,
  'usage-hour': 11,
  'detection-hour': 12,
  verdict: 127,
} as const

export type LeafKind = keyof typeof leafKinds

/** A row as it is proven. */
interface ProvenRow {
  readonly kind: LeafKind
  /** Its number among those of its kind. */
  readonly ref: bigint
  /** Members that the entry shows. */
  readonly open: JsonObject
  /** Members of which it holds salted hashes. */
  readonly sealed: JsonObject
  /** Whether the row was there before the tree was. */
  readonly imported: boolean
}

/**
 * The salt of one row, from that of the person whom it is about. It tells nothing of other rows of that person.
 * @param person 32 secret bytes
 */
export function rowSalt(person: Uint8Array, kind: LeafKind, ref: bigint): Uint8Array {
  return new Uint8Array(createHmac('sha256', person).update(`${kind}/${ref}`).digest()).subarray(0, 16)
}

/** The salted hash of a member, as hex. */
export function sealedMember(salt: Uint8Array, value: JsonValue): string {
  return Buffer.from(sha256(salt, canonicalJson(value))).toString('hex')
}

/** The entry of a row. @param salt of this row; undefined where nothing is sealed */
export function entryOf(row: ProvenRow, salt: Uint8Array | undefined): Uint8Array {
  const members = new Map<string, JsonValue>(row.open)
  members.set('ref', row.ref)
  if (row.imported) members.set('imported', true)
  const sealed = new Map<string, JsonValue>()
  for (const [name, value] of row.sealed) {
    if (value === null) continue
    if (salt === undefined) throw new RangeError('a sealed member without a salt')
    sealed.set(name, sealedMember(salt, value))
  }
  if (sealed.size > 0) members.set('sealed', sealed)
  for (const [name, value] of row.open) if (value === null) members.delete(name)
  return Buffer.from(`covenant/${row.kind}/v1\n${canonicalJson(members)}`)
}

/** Reads an entry. @returns undefined where it is none of ours */
export function readEntry(
  entry: Uint8Array,
  parse: (text: string) => JsonValue,
): { readonly kind: LeafKind; readonly members: JsonObject } | undefined {
  const text = Buffer.from(entry).toString('utf8')
  const end = text.indexOf('\n')
  const [, kind] = /^covenant\/([a-z-]+)\/v1$/.exec(text.slice(0, Math.max(end, 0))) ?? []
  if (kind === undefined || !Object.hasOwn(leafKinds, kind)) return undefined
  const members = parse(text.slice(end + 1))
  return isJsonObject(members) ? { kind: kind as LeafKind, members } : undefined
}
