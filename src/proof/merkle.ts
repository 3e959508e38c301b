/**
 * An RFC 6962 Merkle tree over hashes that are stored elsewhere: its root and its proofs, computed from complete subtrees.
 * A node is named by its level, 0 for leaves, and its number on that level; it covers 2^level leaves. What is stored where
 * is in tiles.ts.
 */

import { nodeHash, sameBytes, sha256 } from './hash.ts'

/**
 * Gives the hash of a complete subtree.
 * @param level 0 for a leaf
 * @param index on that level
 */
export type HashAt = (level: number, index: number) => Uint8Array

/** The greatest power of two below `count`, which is at least 2. */
function split(count: number): number {
  let half = 1
  while (half * 2 < count) half *= 2
  return half
}

/** The root of the leaves from `begin` up to `end`. `begin` is a multiple of every subtree's size in it. */
function rootOfRange(begin: number, end: number, hashAt: HashAt): Uint8Array {
  const count = end - begin
  if (Number.isInteger(Math.log2(count))) {
    const level = Math.log2(count)
    return hashAt(level, begin / count)
  }
  const half = split(count)
  return nodeHash(rootOfRange(begin, begin + half, hashAt), rootOfRange(begin + half, end, hashAt))
}

/** The root of the first `size` leaves. */
export function treeRoot(size: number, hashAt: HashAt): Uint8Array {
  return size === 0 ? sha256() : rootOfRange(0, size, hashAt)
}

/** The root of a list of leaf hashes. */
export function rootOfLeaves(leaves: readonly Uint8Array[]): Uint8Array {
  return treeRoot(leaves.length, hashesOfLeaves(leaves))
}

/** Computes every subtree from a list of leaf hashes. Each one is computed once. */
export function hashesOfLeaves(leaves: readonly Uint8Array[]): HashAt {
  const levels: Uint8Array[][] = [[...leaves]]
  for (let below = levels[0]; below !== undefined && below.length > 1; below = levels.at(-1)) {
    const hashes: Uint8Array[] = []
    for (let at = 0; at + 1 < below.length; at += 2)
      hashes.push(nodeHash(below[at] as Uint8Array, below[at + 1] as Uint8Array))
    if (hashes.length === 0) break
    levels.push(hashes)
  }
  return (level, index) => {
    const found = levels[level]?.[index]
    if (found === undefined) throw new RangeError('there is no such subtree')
    return found
  }
}

/**
 * The hashes that prove a leaf to be in the tree of `size`, from the leaf upwards.
 * @throws RangeError where the tree has no such leaf
 */
export function inclusionProof(index: number, size: number, hashAt: HashAt): readonly Uint8Array[] {
  if (index < 0 || index >= size) throw new RangeError('there is no such leaf')
  const path: Uint8Array[] = []
  let begin = 0
  let end = size
  while (end - begin > 1) {
    const middle = begin + split(end - begin)
    if (index < middle) {
      path.push(rootOfRange(middle, end, hashAt))
      end = middle
    } else {
      path.push(rootOfRange(begin, middle, hashAt))
      begin = middle
    }
  }
  return path.toReversed()
}

/**
 * The hashes that prove the tree of `from` to be the beginning of the tree of `to`.
 * @throws RangeError where `from` is not between 1 and `to`
 */
export function consistencyProof(from: number, to: number, hashAt: HashAt): readonly Uint8Array[] {
  if (from < 1 || from > to) throw new RangeError('there is no such tree')
  const path: Uint8Array[] = []
  let begin = 0
  let end = to
  let isWhole = true
  while (from !== end) {
    const middle = begin + split(end - begin)
    if (from <= middle) {
      path.push(rootOfRange(middle, end, hashAt))
      end = middle
    } else {
      path.push(rootOfRange(begin, middle, hashAt))
      begin = middle
      isWhole = false
    }
  }
  if (!isWhole) path.push(rootOfRange(begin, end, hashAt))
  return path.toReversed()
}

/** Whether a proof shows that a leaf is at `index` of the tree with this size and root (RFC 9162, 2.1.3.2). */
export function verifyInclusion(
  at: { readonly index: number; readonly size: number; readonly root: Uint8Array },
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  const { index, size, root } = at
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false
  let node = index
  let last = size - 1
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash)
      while (node % 2 === 0 && node !== 0) {
        node /= 2
        last = Math.floor(last / 2)
      }
    } else {
      hash = nodeHash(hash, sibling)
    }
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && sameBytes(hash, root)
}

interface SizedRoot {
  readonly size: number
  readonly root: Uint8Array
}

/** Whether a proof shows that one tree is the beginning of another (RFC 9162, 2.1.4.2). An empty tree begins every one. */
export function verifyConsistency(from: SizedRoot, to: SizedRoot, proof: readonly Uint8Array[]): boolean {
  if (!Number.isSafeInteger(from.size) || !Number.isSafeInteger(to.size)) return false
  if (from.size < 0 || from.size > to.size) return false
  if (from.size === 0) return proof.length === 0 && sameBytes(from.root, sha256())
  if (from.size === to.size) return proof.length === 0 && sameBytes(from.root, to.root)
  const isWhole = Number.isInteger(Math.log2(from.size))
  const path = isWhole ? [from.root, ...proof] : proof
  const [first, ...others] = path
  if (first === undefined) return false
  let node = from.size - 1
  let last = to.size - 1
  while (node % 2 === 1) {
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  let earlier = first
  let later = first
  for (const sibling of others) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      earlier = nodeHash(sibling, earlier)
      later = nodeHash(sibling, later)
      while (node % 2 === 0 && node !== 0) {
        node /= 2
        last = Math.floor(last / 2)
      }
    } else {
      later = nodeHash(later, sibling)
    }
    node = Math.floor(node / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 && sameBytes(earlier, from.root) && sameBytes(later, to.root)
}
