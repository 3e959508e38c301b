/** The hashes of an RFC 6962 tree, and the comparison of public ones. */

import { createHash } from 'node:crypto'

/** Bytes of a hash. */
export const hashBytes = 32

const leafPrefix = Uint8Array.of(0)
const nodePrefix = Uint8Array.of(1)

/** SHA-256 of parts, one after another. */
export function sha256(...parts: readonly (Uint8Array | string)[]): Uint8Array {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return new Uint8Array(hash.digest())
}

/** The hash of a leaf that holds `entry`. */
export function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(leafPrefix, entry)
}

/** The hash of a node over two. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(nodePrefix, left, right)
}

/** Whether two public values are equal. Not for secrets: it ends at the first difference. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one.buffer, one.byteOffset, one.byteLength).equals(other)
}
