/**
 * The right edge of a tree that grows: the partial tile of each level. From it alone leaves are appended and the root is
 * computed. Full tiles are handed out once and are not needed again.
 */

import { hashBytes } from './hash.ts'
import { treeRoot } from './merkle.ts'
import { hashesOfTiles, rootOfWhole, type TileName, tileWidth } from './tiles.ts'

/** The right edge of a tree. */
export interface Edge {
  /** Leaves. */
  readonly size: number
  /** The hashes of the partial tile of each level, from 0 on; an empty one where the tile before was filled. */
  readonly tails: readonly Uint8Array[]
}

/** A tile that was filled. */
export interface FullTile extends TileName {
  readonly hashes: Uint8Array
}

/** A tree without leaves. */
export const emptyEdge: Edge = { size: 0, tails: [] }

/** Appends leaf hashes. @returns the new edge, and the tiles that were filled, in their order */
export function grow(edge: Edge, leaves: readonly Uint8Array[]): { edge: Edge; filled: readonly FullTile[] } {
  const filled: FullTile[] = []
  const tails: Uint8Array[] = []
  let added = Buffer.concat([edge.tails[0] ?? new Uint8Array(), ...leaves])
  let size = edge.size + leaves.length
  for (let level = 0; added.length > 0 || level < edge.tails.length; level += 1) {
    const above: Uint8Array[] = []
    const whole = Math.floor(added.length / hashBytes / tileWidth)
    const before = Math.floor(size / tileWidth) - whole
    for (let at = 0; at < whole; at += 1) {
      const hashes = new Uint8Array(
        added.subarray(at * tileWidth * hashBytes, (at + 1) * tileWidth * hashBytes),
      )
      filled.push({ level, index: before + at, hashes })
      above.push(rootOfWhole(hashes))
    }
    tails.push(new Uint8Array(added.subarray(whole * tileWidth * hashBytes)))
    added = Buffer.concat([edge.tails[level + 1] ?? new Uint8Array(), ...above])
    size = Math.floor(size / tileWidth)
  }
  return { edge: { size: edge.size + leaves.length, tails }, filled }
}

/**
 * The root of a tree, from its edge.
 * @throws RangeError where the edge lacks hashes that a tree of its size has
 */
export function rootOfEdge({ size, tails }: Edge): Uint8Array {
  return treeRoot(
    size,
    hashesOfTiles(({ level }) => tailAt(tails, level)),
  )
}

function tailAt(tails: readonly Uint8Array[], level: number): Uint8Array {
  const tail = tails[level]
  if (tail === undefined) throw new RangeError('the edge lacks a level')
  return tail
}
