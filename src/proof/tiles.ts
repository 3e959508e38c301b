/**
 * Tiles (C2SP tlog-tiles): how the hashes of a tree are cut into pieces of 256. A tile of level 0 holds leaf hashes, one of
 * level n the roots of full tiles of level n - 1. A partial tile holds what there is so far. Reads and writes nothing.
 */

import { hashBytes, nodeHash } from './hash.ts'
import type { HashAt } from './merkle.ts'

/** Hashes of a full tile. */
export const tileWidth = 256
const tileHeight = 8

/** Which tile. */
export interface TileName {
  readonly level: number
  readonly index: number
}

/** The number of a tile as the segments of its path: `x001/x234/067`. */
function numberPath(index: number): string {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, '0')
  return (digits.match(/\d{3}/g) ?? [])
    .map((part, at, all) => (at < all.length - 1 ? `x${part}` : part))
    .join('/')
}

/** The path of a tile below the log's address. @param width hashes in it; 256 for a full one */
export function tilePath({ level, index }: TileName, width = tileWidth): string {
  return `tile/${level}/${numberPath(index)}${width === tileWidth ? '' : `.p/${width}`}`
}

/** The path of a bundle of entries. @param width entries in it; 256 for a full one */
export function bundlePath(index: number, width = tileWidth): string {
  return `tile/entries/${numberPath(index)}${width === tileWidth ? '' : `.p/${width}`}`
}

/** The entries of a bundle: each with its length before it, as two bytes. @throws RangeError for a longer entry */
export function writeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const parts = entries.map((entry) => {
    if (entry.length > 65_535) throw new RangeError('an entry of more than 65,535 bytes')
    return Buffer.concat([Uint8Array.of(entry.length >> 8, entry.length & 255), entry])
  })
  return new Uint8Array(Buffer.concat(parts))
}

/** Reads a bundle. @returns undefined where it ends within an entry */
export function readBundle(bytes: Uint8Array): readonly Uint8Array[] | undefined {
  const entries: Uint8Array[] = []
  let at = 0
  while (at < bytes.length) {
    const end = at + 2 + (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0)
    if (at + 2 > bytes.length || end > bytes.length) return undefined
    entries.push(bytes.subarray(at + 2, end))
    at = end
  }
  return entries
}

/** The tile that a node is computed from. */
function tileOf(level: number, index: number): TileName {
  const tileLevel = Math.floor(level / tileHeight)
  const first = index * 2 ** (level - tileLevel * tileHeight)
  return { level: tileLevel, index: Math.floor(first / tileWidth) }
}

/** How many hashes a tile has in a tree of `size`; 0 where there is none. */
export function tileWidthIn({ level, index }: TileName, size: number): number {
  const hashes = Math.floor(size / tileWidth ** level)
  return Math.max(0, Math.min(tileWidth, hashes - index * tileWidth))
}

/**
 * Computes nodes from tiles.
 * @param tile the hashes of a tile, one after another
 * @throws RangeError where a tile does not hold what is asked of it
 */
export function hashesOfTiles(tile: (name: TileName) => Uint8Array): HashAt {
  return (level, index) => {
    const name = tileOf(level, index)
    const height = level - name.level * tileHeight
    const count = 2 ** height
    const hashes = tile(name)
    const first = (index * count) % tileWidth
    if (hashes.length < (first + count) * hashBytes) throw new RangeError('a tile is too short')
    return rootOfWhole(hashes.subarray(first * hashBytes, (first + count) * hashBytes))
  }
}

/** The root of hashes that lie one after another. Their count is a power of two. */
export function rootOfWhole(hashes: Uint8Array): Uint8Array {
  let row = Array.from({ length: hashes.length / hashBytes }, (_, at) =>
    hashes.subarray(at * hashBytes, (at + 1) * hashBytes),
  )
  while (row.length > 1)
    row = Array.from({ length: row.length / 2 }, (_, at) =>
      nodeHash(row[2 * at] as Uint8Array, row[2 * at + 1] as Uint8Array),
    )
  const [root] = row
  if (root === undefined) throw new RangeError('there is no hash')
  return root
}

/** The tiles that a computation reads, each once, in the order of their first use. */
export function tilesReadBy(compute: (hashAt: HashAt) => unknown): readonly TileName[] {
  const names = new Map<string, TileName>()
  compute((level, index) => {
    const name = tileOf(level, index)
    names.set(`${name.level} ${name.index}`, name)
    return new Uint8Array(hashBytes)
  })
  return [...names.values()]
}
